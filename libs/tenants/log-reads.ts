/**
 * Reads of records, proofs, entries and the feed are administrative acts: one a minute for each token and kind of read,
 * with the number of records. They are counted in memory and written apart from requests, so no read waits for them; a
 * process that dies loses those of its last minute.
 */
import type { Database, Sql } from '#libs/base/db/database';
import type { Context } from '#libs/base/http/context';
import type { Log } from '#libs/base/ops/process-log';
import { every, within } from '#libs/base/timers';
import { accessIn, organizationIn } from './bearer.ts';
import type { TenantMetrics } from './metrics.ts';

/** Milliseconds between two writes. */
const writeEvery = 60_000;
const stopPatience = 2_500;
/** Acts that wait, in total and of one organization. At half of either they are written at once. */
const most = { inAll: 20_000, perOrganization: 5_000 };

export interface LogRead {
  what: 'records' | 'record' | 'proof' | 'entries' | 'feed' | 'org-stats';
  /** how many the response shows; for none, no act is added */
  records: number;
  /** undefined for all of the organization */
  domainId?: string;
}

export interface LogReads {
  note(ctx: Context, read: LogRead): void;
  /** Writes what is left, within 2.5 s. */
  close(): Promise<void>;
}

interface Counted extends Omit<LogRead, 'domainId'> {
  organizationId: string;
  domainId: string | null;
  actor: string;
}

interface Parts {
  db: Database;
  log: Pick<Log, 'warn'>;
  metrics: Pick<TenantMetrics, 'logReadsLost'>;
}

export function createLogReads({ db, log, metrics }: Parts): LogReads {
  let tally = createTally();
  /** acts for which there was no room */
  let refused = 0;
  /** Whether an early write was requested. It stays set after a failure, so that the acts wait for the next minute. */
  let isRequested = false;
  let writing = Promise.resolve();
  /** acts that are being written */
  let underWay = 0;
  const write = async () => {
    if (tally.reads.size === 0) return;
    const [taken, overflow] = [tally.reads, refused];
    [tally, refused, underWay] = [createTally(), 0, taken.size];
    try {
      await db.write((sql) => addLogReads(sql, [...taken.values()]));
    } catch (error) {
      lose(error, overflow + [...taken].filter(([key, read]) => !tally.add(key, read)).length);
      throw error;
    } finally {
      underWay = 0;
    }
    isRequested = false;
    lose(undefined, overflow);
  };
  const lose = (error: unknown, acts: number) => {
    if (acts === 0) return;
    metrics.logReadsLost.inc(acts);
    log.warn({ err: error, acts }, 'who read the log is lost, because Postgres did not take it in time');
  };
  const rounds = every({
    name: 'write_log_reads',
    pace: writeEvery,
    task: () => {
      writing = write();
      return writing;
    },
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
      if (!tally.add(key, { organizationId, domainId: domainId ?? null, actor, what, records })) refused += 1;
      if (isRequested || !tally.isHalfFull(organizationId)) return;
      isRequested = true;
      void rounds.now();
    },
    close: async () => {
      void rounds.stop();
      try {
        await within(stopPatience, writing.catch(() => {}).then(write));
      } catch (error) {
        lose(error, underWay + tally.reads.size + refused);
      }
    },
  };
}

function createTally() {
  const reads = new Map<string, Counted>();
  const sizes = new Map<string, number>();
  const sizeOf = (organizationId: string) => sizes.get(organizationId) ?? 0;
  return {
    reads,
    /** Returns false where there is no room. */
    add: (key: string, read: Counted): boolean => {
      const known = reads.get(key);
      const size = sizeOf(read.organizationId);
      if (known) known.records += read.records;
      else if (reads.size >= most.inAll || size >= most.perOrganization) return false;
      else {
        reads.set(key, read);
        sizes.set(read.organizationId, size + 1);
      }
      return true;
    },
    isHalfFull: (organizationId: string) =>
      2 * reads.size >= most.inAll || 2 * sizeOf(organizationId) >= most.perOrganization,
  };
}

/** Reads of a deleted organization are skipped. */
const addLogReads = (sql: Sql, reads: Counted[]) => sql`
  insert into visitor_acts (organization_number, domain_number, actor, act, details)
  select o.number, coalesce(d.number, 0), r.actor, 'log.read', jsonb_build_object('what', r.what, 'records', r.records)
  from json_to_recordset(${JSON.stringify(reads)}::text::json) as r (
    "organizationId" text, "domainId" text, actor text, what text, records bigint
  )
  join organizations o on o.id = r."organizationId"
  left join domains d on d.id = r."domainId"`;
