/** What is left to do, as Postgres knows it: for the metrics. */
import { within } from '#libs/runtime/within';
import { type Act, roundsNeeded } from './records/due-months.ts';
import type { Database, Sql } from './sql.ts';
import { lastSuccesses } from './turns.ts';

export interface Backlog {
  /** counters that wait to be raised in Redis; at most `most` are counted */
  owedRaises: number;
  /** records that Postgres refused, and that wait for `records replay`; at most `most` are counted */
  rejectedRecords: number;
  /** enabled webhooks that have failed since their last delivery */
  webhooksFailing: number;
  /** seconds since the first failure of the one that has failed longest; 0 if none fails */
  webhookFailing: number;
  /** the number of the newest closed epoch */
  epochsClosed: number;
  /** seconds that the open epoch has been open */
  epochOpen: number;
  /** seconds since the oldest epoch was closed that a derivation is not done with, by derivation; 0 where there is none */
  derivationLag: Record<string, number>;
  /** 1 while Postgres cannot archive its write-ahead log; 0 also where it does not archive it */
  archiveFailing: number;
  /** months that retention will soon drop, and those whose personal fields it will soon blank */
  monthsDue: Record<Act, number>;
  /** Unix seconds of the last success of each task of housekeeping, or of when it was first scheduled */
  housekeeping: Record<string, number>;
}

const most = 100_000;
/** milliseconds */
const patience = 1_000;

/**
 * Rejects with TimedOut where no answer comes soon. The deadline is not one of `run`, which takes silence for connections
 * that are lost: who is scraped while Postgres is slow for a second would give up all that is under way.
 */
export const lookAtBacklog = (
  db: Database,
  ...which: [derivations: string[], housekeeping?: string[]]
): Promise<Backlog> =>
  within(
    patience,
    db.run((sql) => readBacklog(sql, ...which)),
  );

export async function readBacklog(sql: Sql, derivations: string[], housekeeping: string[] = []): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select
      (select count(*)::int from (select from owed_raises limit ${most}) as owed) as "owedRaises",
      (select count(*)::int from (select from rejected_records limit ${most}) as rejected) as "rejectedRecords",
      (select count(*)::int from webhooks where enabled and failing_since is not null) as "webhooksFailing",
      coalesce((
        select greatest(0, extract(epoch from clock_timestamp() - min(failing_since)))::float8 from webhooks
        where enabled
      ), 0) as "webhookFailing",
      open - 1 as "epochsClosed",
      coalesce((
        select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 from closed_epochs
        order by epoch desc limit 1
      ), 0) as "epochOpen",
      (
        select coalesce(json_object_agg(name, coalesce((
          select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 from closed_epochs
          where closed_epochs.epoch > coalesce(derivations.epoch, 0) order by closed_epochs.epoch limit 1
        ), 0)), '{}')
        from unnest(${derivations}::text[]) as name left join derivations using (name)
      ) as "derivationLag",
      (
        select (
          current_setting('archive_mode') <> 'off' and last_failed_time is not null
          and last_failed_time > coalesce(last_archived_time, '-infinity')
        )::int from pg_stat_archiver
      ) as "archiveFailing",
      (
        select json_build_object(
          'drop', count(*) filter (where drop_round_at is not null),
          -- one that was blanked is looked at again, for what an import brings
          'blank', count(*) filter (where blank_round_at is not null and blank_rounds < ${roundsNeeded} and blanked_through = 0)
        ) from record_months where dropped_at is null
      ) as "monthsDue",
      (
        ${lastSuccesses(sql, housekeeping)}
      ) as housekeeping
    from epochs`;
  if (!row) throw new Error('the database lacks its epochs');
  return row;
}
