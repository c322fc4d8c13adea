/** Which records are stored already, by their ids. */
import type { Sql } from '#libs/base/db/database';

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

/**
 * A row of an import. `formerId`: the id that an earlier release gave this row. A record stored under it is the same one
 * only if it came from an import, since anybody could send that id.
 */
interface Row {
  id: string;
  formerId?: string | undefined;
}

/** The ids of the rows that are stored, under either id. */
export async function findKnownRows(sql: Sql, domainId: string, wanted: Row[]): Promise<Set<string>> {
  const known = await findKnown(
    sql,
    domainId,
    wanted.map(({ id }) => id),
  );
  const former = new Map(wanted.flatMap(({ id, formerId }) => (formerId && !known.has(id) ? [[formerId, id]] : [])));
  if (former.size === 0) return known;
  const rows = await sql<{ id: string }[]>`
    select wanted.id
    from unnest(${[...former.keys()]}::uuid[]) as wanted (id)
    cross join lateral (
      select from records
      where domain_number = (select number from domains where domains.id = ${domainId})
        and records.id = wanted.id and source = 'import'
      offset 0
    ) as stored`;
  for (const { id } of rows) known.add(former.get(id) ?? id);
  return known;
}
