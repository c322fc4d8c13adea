/** The organization or domain that a command names, which has to exist. */
import { text } from '#libs/base/cli/verb';
import type { Database } from '#libs/base/db/database';

/** `advice`: appended to the error. */
export async function requireOrganization(db: Database, organizationId: string, advice = ''): Promise<void> {
  const [found] = await db.read((sql) => sql`select from organizations where id = ${organizationId}`);
  if (!found) throw new Error(`no organization ${organizationId}${advice}`);
}

/** Resolves to the domain's organization. */
export async function requireDomain(db: Database, domainId: string): Promise<string> {
  const [found] = await db.read(
    (sql) => sql<{ organizationId: string }[]>`
      select organization_id as "organizationId" from domains where id = ${domainId}`,
  );
  if (!found) throw new Error(`no domain ${domainId}`);
  return found.organizationId;
}

export const subjectFlags = {
  org: text('of all domains of this organization'),
  domain: text('of this domain'),
};

/** One of `--org` and `--domain`. */
export async function requireSubject(
  db: Database,
  { org, domain }: { org?: string | undefined; domain?: string | undefined },
) {
  if ((org === undefined) === (domain === undefined)) throw new Error('give either --org or --domain');
  if (domain !== undefined) return { organizationId: await requireDomain(db, domain), domainId: domain };
  const organizationId = org ?? '';
  await requireOrganization(db, organizationId);
  return { organizationId, domainId: undefined };
}
