/** Erasures that are not in their domain's log yet. Each is sealed after the entry of the erased record. */

import type { Sql } from '#libs/base/db/database';
import type { Mark } from '#libs/epochs/slices';
import type { LogName } from '../runs.ts';

interface Erasure {
  domainNumber: number;
  /** the erased record's */
  id: string;
  /** its epoch */
  epoch: number;
  /** YYYY-MM-DD */
  erasedOn: string;
  /** the erasure that it is part of; null if that is complete, or from a release that did not store it */
  erasureId: string | null;
}

/** The condition that the record is sealed. */
const isDue = (sql: Sql, { epoch, domainNumber }: Mark) =>
  sql`epoch <= ${epoch}::integer + (domain_number <= ${domainNumber})::integer`;

/** The next domains with erasures to seal, and with logs that may grow. */
export async function listErased(sql: Sql, mark: Mark, limit: number): Promise<number[]> {
  const rows = await sql<{ domainNumber: number }[]>`
    select distinct domain_number as "domainNumber" from erasures_to_seal
    where ${isDue(sql, mark)} and domain_number in (
      select domain_number from logs where ended_at is null and halted is null and waits_from is null
    )
    order by 1 limit ${limit}`;
  return rows.map(({ domainNumber }) => domainNumber);
}

/** Takes the erasures of these domains, ordered by domain and record; at most `limit`. */
export async function takeErasures(sql: Sql, domainNumbers: number[], mark: Mark, limit: number): Promise<Erasure[]> {
  const rows = await sql<Erasure[]>`
    with due as materialized (
      select domain_number, record_id from erasures_to_seal
      where domain_number = any(${domainNumbers}) and ${isDue(sql, mark)}
      order by 1, 2 limit ${limit}
    )
    delete from erasures_to_seal as e using due
    where e.domain_number = due.domain_number and e.record_id = due.record_id
    returning e.domain_number as "domainNumber", e.record_id as id, epoch, erased_on::text as "erasedOn",
      erasure as "erasureId"`;
  return rows.sort((one, other) => one.domainNumber - other.domainNumber || (one.id < other.id ? -1 : 1));
}

/** Puts back erasures whose entries were taken out of a log. */
export async function addErasures(sql: Sql, erasures: Erasure[]): Promise<void> {
  if (erasures.length === 0) return;
  await sql`
    insert into erasures_to_seal (domain_number, record_id, epoch, erased_on, erasure)
    select "domainNumber", id, epoch, "erasedOn", "erasureId"
    from json_to_recordset(${JSON.stringify(erasures)}::text::json)
      as e ("domainNumber" integer, id uuid, epoch integer, "erasedOn" date, "erasureId" text)
    on conflict do nothing`;
}

/** The entry of an erasure. `id`: the erased record's. */
interface ErasureEntry extends LogName, Pick<Erasure, 'id' | 'erasureId'> {
  position: number;
}

/** Stores which erasure the entries belong to. */
export async function addErasureEntries(sql: Sql, entries: ErasureEntry[]): Promise<void> {
  const named = entries.filter(({ erasureId }) => erasureId !== null);
  if (named.length === 0) return;
  await sql`
    insert into erasure_entries (domain_number, log, position, erasure, record_id)
    select "domainNumber", log, position, "erasureId", id
    from json_to_recordset(${JSON.stringify(named)}::text::json)
      as e ("domainNumber" integer, log integer, position bigint, "erasureId" text, id uuid)`;
}

/** Removes these from position `from`. Returns the erasure of each record. */
export async function takeErasureEntries(
  sql: Sql,
  { domainNumber, log }: LogName,
  from: number,
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; erasureId: string }[]>`
    delete from erasure_entries where domain_number = ${domainNumber} and log = ${log} and position >= ${from}
    returning record_id as id, erasure as "erasureId"`;
  return new Map(rows.map(({ id, erasureId }) => [id, erasureId]));
}
