import type { Database } from '#libs/base/db/database';
import type { DeletedOrganization, Table } from '#libs/base/db/tables';

/** Deletes people who belong to no other organization; sessions, links and passkeys go with them by foreign keys. */
async function* deletePeople(db: Database, { organizationId }: DeletedOrganization): AsyncIterable<number> {
  const { count } = await db.write(
    (sql) => sql`
      delete from people p
      where exists (
          select from organization_people where person_number = p.number and organization_id = ${organizationId}
        )
        and not exists (
          select from organization_people where person_number = p.number and organization_id <> ${organizationId}
        )`,
  );
  yield count;
}

export const tables: Table[] = [
  { name: 'person_links' },
  { name: 'person_sessions' },
  { name: 'person_passkeys' },
  { name: 'used_challenges' },
  { name: 'people', deleteOf: deletePeople },
];
