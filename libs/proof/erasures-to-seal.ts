/** Erasures that are not in their domain's log yet. Each follows the entry of the record that was erased. */

import type { Sql } from '#libs/base/db/database';
import type { Mark } from '#libs/record/derivations';

export interface Erasure {
  domainNumber: number;
  /** the erased record's */
  id: string;
  /** its epoch */
  epoch: number;
  /** YYYY-MM-DD */
  erasedOn: string;
}

/** The record has its position: sealing has come so far. */
const isDue = (sql: Sql, { epoch, domainNumber }: Mark) =>
  sql`epoch <= ${epoch}::integer + (domain_number <= ${domainNumber})::integer`;

/** Whether there are any, due or not. */
export async function isAnyErased(sql: Sql): Promise<boolean> {
  const some = await sql`select from erasures_to_seal limit 1`;
  return some.length > 0;
}

/** The next domains that have some, and whose logs may grow. */
export async function listErased(sql: Sql, mark: Mark, limit: number): Promise<number[]> {
  const rows = await sql<{ domainNumber: number }[]>`
    select distinct domain_number as "domainNumber" from erasures_to_seal
    where ${isDue(sql, mark)} and domain_number in (
      select domain_number from logs where ended_at is null and halted is null and waits_from is null
    )
    order by 1 limit ${limit}`;
  return rows.map(({ domainNumber }) => domainNumber);
}

/** Takes those of these domains, by domain and record; at most `limit`. */
export async function takeErasures(sql: Sql, domainNumbers: number[], mark: Mark, limit: number): Promise<Erasure[]> {
  const rows = await sql<Erasure[]>`
    with due as materialized (
      select domain_number, record_id from erasures_to_seal
      where domain_number = any(${domainNumbers}) and ${isDue(sql, mark)}
      order by 1, 2 limit ${limit}
    )
    delete from erasures_to_seal as e using due
    where e.domain_number = due.domain_number and e.record_id = due.record_id
    returning e.domain_number as "domainNumber", e.record_id as id, epoch, erased_on::text as "erasedOn"`;
  return rows.sort((one, other) => one.domainNumber - other.domainNumber || (one.id < other.id ? -1 : 1));
}

/** Puts back what is in no log any more. */
export async function addErasures(sql: Sql, erasures: Erasure[]): Promise<void> {
  if (erasures.length === 0) return;
  await sql`
    insert into erasures_to_seal (domain_number, record_id, epoch, erased_on)
    select "domainNumber", id, epoch, "erasedOn"
    from json_to_recordset(${JSON.stringify(erasures)}::text::json)
      as e ("domainNumber" integer, id uuid, epoch integer, "erasedOn" date)
    on conflict do nothing`;
}
