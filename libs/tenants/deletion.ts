/**
 * The deletion of an organization: all rows that are its own, in small batches. First nothing may come any more, then its
 * rows go, table by table, last its names. Whoever begins again after an interruption ends it.
 */
import type { Database, Sql } from '#libs/base/db/database';
import type { Leaving, Table } from '#libs/base/db/tables';
import { createPerform } from './audited-change.ts';

/** `tokens_since` of an organization that is being deleted */
export const afterAllTokens = '9999-12-31';

/** rows in one transaction */
const batch = 1_000;

/** Ends recording and reading. Undefined where there is no such organization. */
export function closeOrganization(db: Database, actor: string, organizationId: string): Promise<Leaving | undefined> {
  return createPerform(
    db,
    actor,
  )(async (sql, note) => {
    const [organization] = await sql<{ number: number }[]>`
      update organizations set tokens_since = ${afterAllTokens} where id = ${organizationId} returning number`;
    if (!organization) return undefined;
    await sql`
      update domains set archived_at = coalesce(archived_at, clock_timestamp()) where organization_id = ${organizationId}`;
    // those of a run that was cut off may be gone already, and what is stored of them may not
    const domains = await sql<Leaving['domains']>`
      select id as "domainId", number from domains where organization_id = ${organizationId}
      union
      select noted."domainId", noted.number
      from administrative_acts cross join jsonb_to_recordset(details -> 'domains') as noted ("domainId" text, number integer)
      where act = 'org.close' and subject = ${organizationId} and details ? 'domains'`;
    const ids = domains.map(({ domainId }) => domainId);
    await sql`
      update api_keys set revoked_at = clock_timestamp() where domain_id = any(${ids}) and revoked_at is null`;
    await sql`insert into deleted_ids (id) select unnest(${[organizationId, ...ids]}::text[]) on conflict do nothing`;
    await note({ act: 'org.close', subject: organizationId, details: { domains: [...domains] } });
    return { organizationId, number: organization.number, domains };
  });
}

/** All that is stored, but for the names, in the order of `tables`. `tell`: how many rows of each are deleted so far. */
export async function deleteRows(
  db: Database,
  leaving: Leaving,
  tables: Table[],
  tell: (deleted: Map<string, number>) => void,
): Promise<void> {
  const deleted = new Map<string, number>();
  // what was under way when a table was looked at is found the second time
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true;
    for (const table of tables) {
      for await (const some of table.deleteOf?.(db, leaving) ?? deleteByColumn(db, leaving, table)) {
        if (some === 0) continue;
        isEmpty = false;
        deleted.set(table.name, (deleted.get(table.name) ?? 0) + some);
        tell(deleted);
      }
    }
  }
}

async function* deleteByColumn(db: Database, leaving: Leaving, { name, by }: Table): AsyncIterable<number> {
  if (by === undefined) return;
  const column = typeof by === 'string' ? by : by.column;
  for (let count = batch; count === batch; ) {
    ({ count } = await db.write(
      (sql) => sql`
        delete from ${sql(name)} where ctid = any(array(
          select ctid from ${sql(name)} where ${sql(column)} = any(${valuesOf(sql, by, leaving)}) limit ${batch}
        ))`,
    ));
    yield count;
  }
}

/** Those before its closing: one that came after it may be the newest that processes have seen, and goes last of all. */
export async function* deleteActs(db: Database, { organizationId }: Leaving): AsyncIterable<number> {
  for (let count = batch; count === batch; ) {
    ({ count } = await db.write(
      (sql) => sql`
        delete from administrative_acts where id = any(array(
          select id from administrative_acts
          where organization_id = ${organizationId}
            and id < (select max(id) from administrative_acts where act = 'org.close' and subject = ${organizationId})
          limit ${batch}
        ))`,
    ));
    yield count;
  }
}

function valuesOf(sql: Sql, by: Required<Table>['by'], { organizationId, number, domains }: Leaving) {
  if (typeof by === 'object')
    return sql`array(select number from ${sql(by.of)} where organization_id = ${organizationId})`;
  if (by === 'organization_id') return sql`${[organizationId]}::text[]`;
  if (by === 'organization_number') return sql`${[number]}::int[]`;
  if (by === 'domain_id') return sql`${domains.map(({ domainId }) => domainId)}::text[]`;
  return sql`${domains.map((domain) => domain.number)}::int[]`;
}

/** Nothing is stored of a domain without a row, except by a statement that began before. */
export const deleteDomains = async (db: Database, { organizationId }: Leaving): Promise<void> => {
  await db.write((sql) => sql`delete from domains where organization_id = ${organizationId}`);
};

/** What is left is one act, the one below, and the ids, which are never given again. */
export const deleteNames = (db: Database, actor: string, { organizationId, domains }: Leaving): Promise<void> =>
  createPerform(
    db,
    actor,
  )(async (sql, note) => {
    await sql`delete from organizations where id = ${organizationId}`;
    await note({ act: 'org.delete', subject: organizationId, details: { domains: domains.length } });
  });

/** Once every process has seen the newer act: one that misses the act that it saw last forgets all that it knows. */
export const deleteClosing = async (db: Database, organizationId: string): Promise<void> => {
  await db.write(
    (sql) => sql`
      delete from administrative_acts
      where (organization_id = ${organizationId} or act = 'org.close' and subject = ${organizationId})
        and not exists (select from organizations where id = ${organizationId})`,
  );
};
