/** Runs: consecutive entries of a log, as sealing stores them. No run crosses the 248th entry of a tile, or its end. */
import type { Sql } from '#libs/base/db/database';

/** A log of a domain. */
export interface LogName {
  domainNumber: number;
  log: number;
}

export interface Run extends LogName {
  /** the position of its first entry */
  first: number;
  entries: number;
  /** of its last record */
  lastEpoch: number;
  lastId: string;
  /** 16, 16 and 32 bytes an entry */
  ids: Buffer;
  secrets: Buffer;
  leaves: Buffer;
  /**
   * a position and Unix milliseconds for each earlier piece: where it ends, and when it was sealed; `addRuns` appends the
   * newest
   */
  sealed: string;
}

/** The root of a complete subtree of 256^level entries, the `n`-th of its level. */
export interface Node extends LogName {
  level: number;
  n: number;
  hash: Uint8Array;
}

/** Removes the runs from `first` from the store. Returns them in order. */
export async function takeRuns(sql: Sql, from: (LogName & { first: number })[]): Promise<Run[]> {
  const runs = await sql<Run[]>`
    delete from log_runs as r
    using json_to_recordset(${JSON.stringify(from)}::text::json) as f ("domainNumber" integer, log integer, first bigint)
    where r.domain_number = f."domainNumber" and r.log = f.log and r.first >= f.first
    returning r.domain_number as "domainNumber", r.log, r.first, entries, last_epoch as "lastEpoch",
      last_id as "lastId", ${orZeros(sql, 'ids')}, ${orZeros(sql, 'secrets')}, leaves, coalesce(sealed, '') as sealed`;
  return runs.sort((one, other) => one.domainNumber - other.domainNumber || one.first - other.first);
}

/** The column, or zeros if it is null because all records of the run have expired. */
const orZeros = (sql: Sql, column: 'ids' | 'secrets') =>
  sql`coalesce(${sql(column)}, decode(repeat('00', entries * 16), 'hex')) as ${sql(column)}`;

export async function addRuns(sql: Sql, runs: Run[]): Promise<void> {
  const rows = runs.map((run) => ({
    ...run,
    ids: run.ids.toString('base64'),
    secrets: run.secrets.toString('base64'),
    leaves: run.leaves.toString('base64'),
  }));
  await sql`
    insert into log_runs (domain_number, log, first, entries, last_epoch, last_id, ids, secrets, leaves, sealed)
    select
      "domainNumber", log, first, entries, "lastEpoch", "lastId", decode(ids, 'base64'), decode(secrets, 'base64'),
      decode(leaves, 'base64'),
      concat(sealed, first + entries, ' ', floor(extract(epoch from clock_timestamp()) * 1000)::bigint, ' ')
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
      "domainNumber" integer, log integer, first bigint, entries integer, "lastEpoch" integer, "lastId" uuid, ids text,
      secrets text, leaves text, sealed text
    )`;
}

/** When the entry at this position was sealed. Old entries without that time: when the log was last signed. */
export async function findSealedAt(sql: Sql, { domainNumber, log }: LogName, position: number): Promise<Date> {
  const [found] = await sql<{ sealed: string | null; signedAt: Date | null }[]>`
    select (
      select sealed from log_runs
      where domain_number = ${domainNumber} and log = ${log} and first <= ${position} order by first desc limit 1
    ) as sealed, sealed_at as "signedAt"
    from logs where domain_number = ${domainNumber} and log = ${log}`;
  const numbers = (found?.sealed ?? '').split(' ').map(Number);
  const piece = numbers.findIndex((end, at) => at % 2 === 0 && end > position);
  const time = numbers[piece + 1];
  if (piece >= 0 && time !== undefined) return new Date(time);
  if (!found?.signedAt) throw new Error(`log ${log} of domain ${domainNumber} was never signed`);
  return found.signedAt;
}

export async function addNodes(sql: Sql, nodes: Node[]): Promise<void> {
  if (nodes.length === 0) return;
  const rows = nodes.map((node) => ({ ...node, hash: Buffer.from(node.hash).toString('base64') }));
  await sql`
    insert into log_nodes (domain_number, log, level, n, hash)
    select "domainNumber", log, level, n, decode(hash, 'base64')
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
      "domainNumber" integer, log integer, level integer, n bigint, hash text
    )`;
}
