/** Checkpoints and the keys that signed them. */
import type { Sql } from '#libs/base/db/database';
import type { Halted, Head } from '../heads.ts';

export type Unpublished = Pick<Head, 'domainNumber' | 'domainId' | 'log' | 'origin' | 'size' | 'frontier'>;

/** Logs that have grown since their checkpoint, or whose checkpoint was signed with other keys than `signedBy`. */
export const listUnpublished = (sql: Sql, signedBy: string): Promise<Unpublished[]> => sql<Unpublished[]>`
  select domain_number as "domainNumber", domains.id as "domainId", log, origin, size, frontier
  from logs join domains on domains.number = domain_number
  where ended_at is null and halted is null and size > 0
    and (checkpoint_size < size or signed_by is distinct from ${signedBy})
  order by domain_number`;

interface Signed {
  domainNumber: number;
  log: number;
  size: number;
  checkpoint: string;
  /** newest first */
  verifierKeys: string[];
}

/** Publishes checkpoints, unless newer ones exist, or the log was halted or restarted in the meantime. */
export async function publishCheckpoints(sql: Sql, signed: Signed[], signedBy: string): Promise<void> {
  await sql`
    with signed as materialized (
      select * from json_to_recordset(${JSON.stringify(signed)}::text::json) as s (
        "domainNumber" integer, log integer, size bigint, checkpoint text, "verifierKeys" json
      )
    ),
    keys as (
      insert into log_keys (domain_number, log, verifier_key)
      select "domainNumber", log, key.value
      from signed cross join json_array_elements_text("verifierKeys") with ordinality as key (value, place)
      order by 1, 2, place desc
      on conflict do nothing
    )
    update logs set
      checkpoint_size = s.size, checkpoint = s.checkpoint, signed_by = ${signedBy}, sealed_at = clock_timestamp()
    from signed as s
    where domain_number = s."domainNumber" and logs.log = s.log and logs.checkpoint_size <= s.size
      and ended_at is null and halted is null`;
}

/** How far a log has grown, and how far it is published. */
export interface LogProgress {
  domainNumber: number;
  domainId: string;
  log: number;
  size: number;
  checkpointSize: number;
  /** base64; null before the first checkpoint */
  root: string | null;
  halted: Halted | null;
}

/** The newest logs of the next domains after number `after`. */
export const nextProgress = (sql: Sql, after: number, limit: number): Promise<LogProgress[]> => sql<LogProgress[]>`
  ${newestLogs(sql)} and domain_number > ${after}
  order by domain_number limit ${limit}`;

/** The same of these domains. */
export const listProgress = (sql: Sql, domainNumbers: number[]): Promise<LogProgress[]> => sql<LogProgress[]>`
  ${newestLogs(sql)} and domain_number = any(${domainNumbers})
  order by domain_number`;

/** Locks the next unconfirmed logs, of all domains or of `only`, until the transaction ends. */
export const lockUnconfirmed = (
  sql: Sql,
  { after, limit, only }: { after: number; limit: number; only: string[] },
): Promise<LogProgress[]> => sql<LogProgress[]>`
  ${newestLogs(sql)} and halted = 'unconfirmed' and domain_number > ${after}
    and (${only.length === 0} or domains.id = any(${only}))
  order by domain_number limit ${limit}
  for update of logs`;

const newestLogs = (sql: Sql) => sql`
  select domain_number as "domainNumber", domains.id as "domainId", log, size, checkpoint_size as "checkpointSize",
    split_part(checkpoint, E'\n', 3) as root, halted
  from logs join domains on domains.number = domain_number
  where ended_at is null`;

/** Halts logs, or resumes them (null). */
export async function setHalted(
  sql: Sql,
  logs: { domainNumber: number; log: number; halted: Halted | null }[],
): Promise<void> {
  if (logs.length === 0) return;
  await sql`
    update logs set halted = h.halted
    from json_to_recordset(${JSON.stringify(logs)}::text::json) as h ("domainNumber" integer, log integer, halted text)
    where domain_number = h."domainNumber" and logs.log = h.log`;
}
