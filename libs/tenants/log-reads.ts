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

/** Milliseconds between two writes. */
const writeEvery = 60_000;
const stopPatience = 2_500;
/** Different ones that wait at most: with more they are written at once. */
const most = 10_000;

export type LogReadKind = 'records' | 'record' | 'proof' | 'entries' | 'feed' | 'org-stats';

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

export function createLogReads({ db, log }: { db: Database; log: Pick<Log, 'warn'> }): LogReads {
  let tally = new Map<string, LogRead>();
  const write = async () => {
    if (tally.size === 0) return;
    const taken = tally;
    tally = new Map();
    try {
      await db.write((sql) => addLogReads(sql, [...taken.values()]));
    } catch (error) {
      for (const [key, read] of taken) if (tally.size < most) add(key, read);
      throw error;
    }
  };
  const add = (key: string, read: LogRead) => {
    const known = tally.get(key);
    if (known) known.records += read.records;
    else tally.set(key, read);
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
      add(key, { organizationId, domainId: domainId ?? null, actor, what, records });
      if (tally.size >= most) void rounds.now();
    },
    close: async () => {
      await rounds.stop();
      try {
        await within(stopPatience, write());
      } catch (error) {
        log.warn(
          { err: error, acts: tally.size },
          'who read the log is lost, because Postgres did not take it in time',
        );
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
