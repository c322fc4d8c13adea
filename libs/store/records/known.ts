/** Which records are stored already, by their ids. */
import type { Sql } from '../sql.ts';

/** Each by its key: a join could read all of the domain's records. */
export async function findKnown(sql: Sql, domainId: string, ids: string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select wanted.id
    from unnest(${ids}::uuid[]) as wanted (id)
    cross join lateral (
      select from records
      where domain_number = (select number from domains where domains.id = ${domainId}) and records.id = wanted.id
      offset 0
    ) as stored`;
  return new Set(rows.map(({ id }) => id));
}
