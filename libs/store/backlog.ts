/** What is left to do, as Postgres knows it: for the metrics. */
import type { Sql } from './sql.ts';

export interface Backlog {
  /** counters that wait to be raised in Redis; at most `most` are counted */
  owedRaises: number;
  /** records that Postgres refused, and that wait for `records replay`; at most `most` are counted */
  rejectedRecords: number;
  /** enabled webhooks whose every try fails */
  webhooksFailing: number;
  /** the number of the newest closed epoch */
  epochsClosed: number;
  /** seconds that the open epoch has been open */
  epochOpen: number;
  /** 1 while Postgres cannot archive its write-ahead log; 0 also where it does not archive it */
  archiveFailing: number;
  /** Unix seconds of the last success of each task of housekeeping, or of when it was first scheduled */
  housekeeping: Record<string, number>;
}

const most = 100_000;

export async function readBacklog(sql: Sql): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select
      (select count(*)::int from (select from owed_raises limit ${most}) as owed) as "owedRaises",
      (select count(*)::int from (select from rejected_records limit ${most}) as rejected) as "rejectedRecords",
      (select count(*)::int from webhooks where enabled and failing_since is not null) as "webhooksFailing",
      open - 1 as "epochsClosed",
      coalesce((
        select extract(epoch from clock_timestamp() - max(closed_at))::float8 from closed_epochs
      ), 0) as "epochOpen",
      (
        select (
          current_setting('archive_mode') <> 'off' and last_failed_time is not null
          and last_failed_time > coalesce(last_archived_time, '-infinity')
        )::int from pg_stat_archiver
      ) as "archiveFailing",
      (
        select coalesce(json_object_agg(task, extract(epoch from succeeded_at)), '{}') from housekeeping_tasks
      ) as housekeeping
    from epochs`;
  if (!row) throw new Error('the database lacks its epochs');
  return row;
}
