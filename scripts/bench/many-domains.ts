import type { Stack } from './stack.ts';

/** measurements of one run share the database */
let calls = 0;

/** Adds domains to these organizations in turns, without the command line, which takes a process for each. */
export async function addDomains({ db }: Stack, organizationIds: string[], count: number): Promise<string[]> {
  calls += 1;
  const ids = Array.from({ length: count }, (_, n) => `dom_${calls}_${n}`);
  const organizations = ids.map((_, n) => organizationIds[n % organizationIds.length] ?? '');
  await db.run(
    (sql) => sql`
      insert into domains (id, organization_id, name)
      select id, organization, id from unnest(${ids}::text[], ${organizations}::text[]) as made (id, organization)`,
  );
  // otherwise autovacuum does it, at a moment of its own for each build
  await db.run((sql) => sql`analyze domains`);
  return ids;
}
