/** The heads of domains' logs: how far each has grown. Only the newest log of a domain grows. */

import type { Sql } from '#libs/base/db/database';
import { currentServerIn, type RunningServer, type Server } from '#libs/base/db/server';

/** name of the derivation that assigns positions */
export const sealing = 'seal';

export type Halted = 'behind' | 'unconfirmed';

export interface Head {
  domainNumber: number;
  domainId: string;
  log: number;
  origin: string;
  /** entries that have a position */
  size: number;
  /** the roots of their complete subtrees, 32 bytes each, largest first */
  frontier: Uint8Array;
  /** its newest record */
  lastEpoch: number;
  lastId: string;
  /** the epoch that it has to catch up from, after a halt or a restart; null if none */
  waitsFrom: number | null;
  halted: Halted | null;
}

const columns = (sql: Sql) => sql`
  domain_number as "domainNumber", domains.id as "domainId", log, origin, size, frontier, last_epoch as "lastEpoch",
  last_id as "lastId", waits_from as "waitsFrom", halted`;

/** Locks the heads of these domains until the transaction ends, in the order of their numbers. Creates missing ones. */
export async function lockHeads(
  sql: Sql,
  domainNumbers: number[],
  originOf: (domainId: string) => string,
): Promise<Map<number, Head>> {
  const heads = await lock(sql, domainNumbers);
  const lacking = domainNumbers.filter((number) => !heads.has(number));
  if (lacking.length === 0) return heads;
  const domains = await sql<{ number: number; id: string }[]>`
    select number, id from domains where number = any(${lacking})`;
  const origins = domains.map(({ number, id }) => ({ number, origin: originOf(id) }));
  await sql`
    insert into logs (domain_number, log, origin)
    select number, 1, origin from json_to_recordset(${JSON.stringify(origins)}::text::json) as o (number integer, origin text)
    where not exists (select from logs where domain_number = number)
    order by number
    on conflict do nothing`;
  // in a new statement, which also sees a log that was restarted in the meantime
  return lock(sql, domainNumbers);
}

async function lock(sql: Sql, domainNumbers: number[]): Promise<Map<number, Head>> {
  const rows = await sql<Head[]>`
    select ${columns(sql)} from logs join domains on domains.number = domain_number
    where domain_number = any(${domainNumbers}) and ended_at is null
    order by domain_number
    for update of logs`;
  return new Map(rows.map((head) => [head.domainNumber, head]));
}

/** The last record of this epoch that the domain's log has. */
export async function lastSealed(sql: Sql, epoch: number, domainNumber: number): Promise<string | undefined> {
  const [row] = await sql<{ lastId: string }[]>`
    select last_id as "lastId" from logs
    where domain_number = ${domainNumber} and ended_at is null and last_epoch = ${epoch}`;
  return row?.lastId;
}

export async function saveHeads(sql: Sql, heads: Head[]): Promise<void> {
  if (heads.length === 0) return;
  const rows = heads.map((head) => ({ ...head, frontier: Buffer.from(head.frontier).toString('base64') }));
  await sql`
    update logs set
      size = h.size, frontier = decode(h.frontier, 'base64'), last_epoch = h."lastEpoch", last_id = h."lastId",
      waits_from = h."waitsFrom", halted = h.halted
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as h (
      "domainNumber" integer, log integer, size bigint, frontier text, "lastEpoch" integer, "lastId" uuid,
      "waitsFrom" integer, halted text
    )
    where logs.domain_number = h."domainNumber" and logs.log = h.log`;
}

/** A log that may grow, but first has to catch up with skipped epochs. */
export interface Waiting {
  domainNumber: number;
  waitsFrom: number;
}

export interface SealingState {
  server: RunningServer;
  /** the server that last sealed the logs; undefined before the first time */
  sealedOn: Server | undefined;
  halted: number;
  /** furthest behind first */
  waiting: Waiting[];
  /** whether there are erasures that are not sealed yet */
  isAnyErased: boolean;
}

/** Reads the state for a round of sealing in one statement. */
export async function readSealing(sql: Sql): Promise<SealingState> {
  const [state] = await sql<(Omit<SealingState, 'sealedOn'> & { sealedOn: Server | null })[]>`
    select (select row_to_json(running) from (${currentServerIn(sql)}) as running) as server,
      (
        select row_to_json(noted)
        from (
          select system_identifier as "systemIdentifier", timeline, database, table_oid as "table" from log_server
        ) as noted
      ) as "sealedOn",
      count(*) filter (where halted is not null)::integer as halted,
      coalesce(
        json_agg(json_build_object('domainNumber', domain_number, 'waitsFrom', waits_from) order by waits_from, domain_number)
          filter (where halted is null and waits_from is not null),
        '[]'
      ) as waiting,
      exists (select from erasures_to_seal) as "isAnyErased"
    from logs where ended_at is null`;
  if (!state) throw new Error('Postgres did not say how the logs are');
  return { ...state, sealedOn: state.sealedOn ?? undefined };
}

export async function noteServer(sql: Sql, { systemIdentifier, timeline, database, table }: Server): Promise<void> {
  await sql`
    insert into log_server (system_identifier, timeline, database, table_oid)
    values (${systemIdentifier}, ${timeline}, ${database}, ${table})
    on conflict (single) do update set
      system_identifier = excluded.system_identifier, timeline = excluded.timeline, database = excluded.database,
      table_oid = excluded.table_oid`;
}
