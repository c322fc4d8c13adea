/**
 * Reads of the log that show personal fields are administrative acts: what one token reads of one kind is one a minute, with
 * the sum. They are counted in memory and written apart from requests, so no read waits for them; a process that dies loses
 * those of its last minute.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { every } from '#libs/base/every';
import type { Context } from '#libs/base/http/context';
import type { Log } from '#libs/base/ops/process-log';
import { within } from '#libs/base/within';
import { accessIn, organizationIn } from './bearer.ts';
import type { TenantMetrics } from './metrics.ts';

/** Milliseconds between two writes. */
const writeEvery = 60_000;
const stopPatience = 2_500;
/** Different ones that wait: with more they are written at once. While Postgres refuses them no more are kept. */
const most = 10_000;

type LogReadKind = 'records' | 'record' | 'proof' | 'entries' | 'feed' | 'org-stats';

export interface LogReads {
  /** `records`: how many the answer shows; none is no act. `domainId`: undefined for all of the organization. */
  note(ctx: Context, read: { what: LogReadKind; records: number; domainId?: string }): void;
  /** Writes what is left, within 2.5 s. */
  close(): Promise<void>;
}

interface LogRead {
  organizationId: string;
  domainId: string | null;
  actor: string;
  what: LogReadKind;
  records: number;
}

interface Parts {
  db: Database;
  log: Pick<Log, 'warn'>;
  metrics: Pick<TenantMetrics, 'logReadsLost'>;
}

export function createLogReads({ db, log, metrics }: Parts): LogReads {
  let tally = new Map<string, LogRead>();
  let isFull = false;
  /** for which there was no room while others were being written */
  let unkept = 0;
  const write = async () => {
    if (tally.size === 0) return;
    const taken = tally;
    tally = new Map();
    isFull = false;
    const overflow = unkept;
    unkept = 0;
    try {
      await db.write((sql) => addLogReads(sql, [...taken.values()]));
    } catch (error) {
      lose(error, overflow + [...taken].filter(([key, read]) => !add(key, read, most)).length);
      throw error;
    }
    lose(undefined, overflow);
  };
  const lose = (error: unknown, acts: number) => {
    if (acts === 0) return;
    metrics.logReadsLost.inc(acts);
    log.warn({ err: error, acts }, 'who read the log is lost, because Postgres did not take it in time');
  };
  /** Returns false where there is no room. */
  const add = (key: string, read: LogRead, room: number): boolean => {
    const known = tally.get(key);
    if (known) known.records += read.records;
    else if (tally.size < room) tally.set(key, read);
    return known !== undefined || tally.get(key) === read;
  };
  const rounds = every({
    name: 'write_log_reads',
    pace: writeEvery,
    task: write,
    failed: (error, isNews) => {
      if (isNews) log.warn({ err: error }, 'could not write who read the log; it is tried again');
    },
  });
  return {
    note: (ctx, { what, records, domainId }) => {
      if (records === 0) return;
      const { organizationId } = organizationIn(ctx);
      const { subject: actor, countedAs } = accessIn(ctx);
      const key = `${what} ${domainId ?? ''} ${countedAs}`;
      const read = { organizationId, domainId: domainId ?? null, actor, what, records };
      if (!add(key, read, 2 * most)) unkept += 1;
      if (tally.size < most || isFull) return;
      isFull = true;
      void rounds.now();
    },
    close: async () => {
      await rounds.stop();
      try {
        await within(stopPatience, write());
      } catch (error) {
        lose(error, tally.size + unkept);
      }
    },
  };
}

/** Those of an organization that is gone go with it. */
const addLogReads = (sql: Sql, reads: LogRead[]) => sql`
  insert into visitor_acts (organization_number, domain_number, actor, act, details)
  select o.number, coalesce(d.number, 0), r.actor, 'log.read', jsonb_build_object('what', r.what, 'records', r.records)
  from json_to_recordset(${JSON.stringify(reads)}::text::json) as r (
    "organizationId" text, "domainId" text, actor text, what text, records bigint
  )
  join organizations o on o.id = r."organizationId"
  left join domains d on d.id = r."domainId"`;
