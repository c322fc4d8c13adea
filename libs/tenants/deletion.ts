/**
 * Deletes an organization in small batches: first it stops accepting requests, then its rows are deleted table by
 * table, and its names last. After an interruption, the same command continues.
 */
import type { Database, Sql } from '#libs/base/db/database';
import type { DeletedOrganization, Table } from '#libs/base/db/tables';
import { createPerform } from './audited-change.ts';

/** `tokens_since` of an organization that is being deleted */
export const afterAllTokens = '9999-12-31';

/** rows in one transaction */
const batch = 1_000;

/** Ends recording and reading. Undefined if there is no such organization. */
export function closeOrganization(
  db: Database,
  actor: string,
  organizationId: string,
): Promise<DeletedOrganization | undefined> {
  return createPerform(
    db,
    actor,
  )(async (sql, note) => {
    const [organization] = await sql<{ number: number }[]>`
      update organizations set tokens_since = ${afterAllTokens} where id = ${organizationId} returning number`;
    if (!organization) return undefined;
    await sql`
      update domains set archived_at = coalesce(archived_at, clock_timestamp()) where organization_id = ${organizationId}`;
    // after an interrupted run, a domain may be deleted while rows of it remain
    const domains = await sql<DeletedOrganization['domains']>`
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

/** Deletes all rows except the names, in the order of `tables`. `onProgress`: rows deleted so far, by table. */
export async function deleteRows(
  db: Database,
  leaving: DeletedOrganization,
  tables: Table[],
  onProgress: (deleted: Map<string, number>) => void,
): Promise<void> {
  const deleted = new Map<string, number>();
  // a second pass finds rows that were being written during the first
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true;
    for (const table of tables) {
      for await (const some of table.deleteOf?.(db, leaving) ?? deleteByColumn(db, leaving, table)) {
        if (some === 0) continue;
        isEmpty = false;
        deleted.set(table.name, (deleted.get(table.name) ?? 0) + some);
        onProgress(deleted);
      }
    }
  }
}

async function* deleteByColumn(db: Database, leaving: DeletedOrganization, { name, by }: Table): AsyncIterable<number> {
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

/**
 * Deletes the acts before `org.close`. That act and later ones stay for now, since a process that misses the last act it
 * saw clears its cache; `deleteClosing` deletes them.
 */
export async function* deleteActs(db: Database, { organizationId }: DeletedOrganization): AsyncIterable<number> {
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

function valuesOf(sql: Sql, by: Required<Table>['by'], { organizationId, number, domains }: DeletedOrganization) {
  if (typeof by === 'object')
    return sql`array(select number from ${sql(by.of)} where organization_id = ${organizationId})`;
  if (by === 'organization_id') return sql`${[organizationId]}::text[]`;
  if (by === 'organization_number') return sql`${[number]}::int[]`;
  if (by === 'domain_id') return sql`${domains.map(({ domainId }) => domainId)}::text[]`;
  return sql`${domains.map((domain) => domain.number)}::int[]`;
}

/** Once the domain's row is gone, only statements that began before can still store rows for it. */
export const deleteDomains = async (db: Database, { organizationId }: DeletedOrganization): Promise<void> => {
  await db.write((sql) => sql`delete from domains where organization_id = ${organizationId}`);
};

/** Only the act below and the ids remain; ids are never reused. */
export const deleteNames = (
  db: Database,
  actor: string,
  { organizationId, domains }: DeletedOrganization,
): Promise<void> =>
  createPerform(
    db,
    actor,
  )(async (sql, note) => {
    await sql`delete from organizations where id = ${organizationId}`;
    await note({ act: 'org.delete', subject: organizationId, details: { domains: domains.length } });
  });

/**
 * Call this once every process has seen the newer act: a process that no longer finds its last act clears its cache.
 */
export const deleteClosing = async (db: Database, organizationId: string): Promise<void> => {
  await db.write(
    (sql) => sql`
      delete from administrative_acts
      where (organization_id = ${organizationId} or act = 'org.close' and subject = ${organizationId})
        and not exists (select from organizations where id = ${organizationId})`,
  );
};
