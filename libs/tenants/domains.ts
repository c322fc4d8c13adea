/** Domains as their managers see and change them. */

import type { Sql } from '#libs/base/db/database';
import type { Perform, Unchanged } from './audited-change.ts';
import { Published, Refused, requireName, requireRoom } from './change-errors.ts';
import type { DomainBody, DomainChange } from './contract.ts';
import { ensurePageKey, hadPageKey } from './keys.ts';
import { type Domain, makeId } from './tenants.ts';

/** How long a visitor's permission is valid. */
interface Validity {
  /** null: they do not expire */
  validMonths: number | null;
  /** null: under any */
  policyVersion: string | null;
}

export interface ManagedDomain extends Domain, Validity {
  number: number;
  createdAt: Date;
  /** since then nothing is recorded */
  archivedAt: Date | null;
  /** grows with each change */
  version: number;
}

const domainColumns = (sql: Sql) => sql`
  number, id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins,
  valid_months as "validMonths", policy_version as "policyVersion", created_at as "createdAt", archived_at as "archivedAt", version`;

interface ListedDomain extends ManagedDomain {
  activeKeys: number;
}

/** Newest first. */
export const listDomains = (
  sql: Sql,
  { organizationId, limit, after }: { organizationId: string; limit: number; after?: number | undefined },
) => sql<ListedDomain[]>`
  select ${domainColumns(sql)},
    (select count(*)::int from api_keys where domain_id = domains.id and revoked_at is null) as "activeKeys"
  from domains
  where organization_id = ${organizationId} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;

/** Oldest first: all domains, or only those with this organization or this id. */
export const listAllDomains = (sql: Sql, organizationId?: string, domainId?: string) => sql<
  (Domain & Validity & { archivedAt: Date | null })[]
>`
  select id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins,
    valid_months as "validMonths", policy_version as "policyVersion", archived_at as "archivedAt"
  from domains
  where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
    and (${domainId ?? null}::text is null or id = ${domainId ?? null})
  order by created_at, id`;

export async function findDomain(
  sql: Sql,
  organizationId: string,
  domainId: string,
): Promise<ManagedDomain | undefined> {
  const [domain] = await sql<ManagedDomain[]>`
    select ${domainColumns(sql)} from domains where id = ${domainId} and organization_id = ${organizationId}`;
  return domain;
}

/** Locks the domain until the transaction ends. */
async function lockDomain(sql: Sql, organizationId: string, domainId: string): Promise<ManagedDomain | undefined> {
  await sql`select from domains where id = ${domainId} for no key update`;
  return findDomain(sql, organizationId, domainId);
}

/** Called when a banner is published. */
export async function setValidity(sql: Sql, number: number, { validMonths, policyVersion }: Validity): Promise<void> {
  await sql`
    update domains set valid_months = ${validMonths}, policy_version = ${policyVersion}, version = version + 1
    where number = ${number}
      and (valid_months, policy_version) is distinct from (${validMonths}::integer, ${policyVersion}::text)`;
}

interface NewDomain extends Omit<DomainBody, 'origins'> {
  domainId?: string | undefined;
  origins: string[];
}

export const domainChanges = (perform: Perform) => ({
  createDomain: (
    organizationId: string,
    { domainId = makeId('dom'), name, origins, validMonths = null, policyVersion = null }: NewDomain,
    quota?: number,
  ): Promise<ManagedDomain> =>
    perform(async (sql, note) => {
      requireName(name);
      // the lock makes concurrent requests count each other's new domain
      const [organization] = await sql`
        select from organizations where id = ${organizationId} for no key update`;
      if (!organization) throw new Refused(`no organization ${organizationId}`);
      await requireRoom(
        quota,
        'domains',
        sql<{ there: number }[]>`
        select count(*)::int as there from domains where organization_id = ${organizationId}`,
      );
      const [deleted] = await sql`select from deleted_ids where id = ${domainId}`;
      if (deleted) throw new Refused(`there was a domain ${domainId}, and ids are not given again`);
      const [made] = await sql<ManagedDomain[]>`
        insert into domains (id, organization_id, name, origins, valid_months, policy_version)
        values (${domainId}, ${organizationId}, ${name}, ${origins}, ${validMonths}, ${policyVersion})
        on conflict do nothing returning ${domainColumns(sql)}`;
      if (!made) throw new Refused(`there is a domain ${domainId} already`);
      const details = {
        ...{ name, origins },
        ...(validMonths !== null && { validMonths }),
        ...(policyVersion !== null && { policyVersion }),
      };
      await note({ act: 'domain.create', subject: domainId, domainId, details });
      return made;
    }),

  /** `version`: the expected one, if the caller named one. */
  changeDomain: (
    organizationId: string,
    domainId: string,
    change: DomainChange,
    version?: number,
  ): Promise<ManagedDomain | Unchanged> =>
    perform(async (sql, note) => {
      const before = await lockDomain(sql, organizationId, domainId);
      if (!before) return 'not found';
      if (version !== undefined && before.version !== version) return 'changed meanwhile';
      const { archivedAt, ...given } = change;
      const isOfBanner = given.validMonths !== undefined || given.policyVersion !== undefined;
      if (isOfBanner && (await hadPageKey(sql, domainId))) throw new Published();
      const { name = before.name, origins = before.origins } = given;
      const { validMonths = before.validMonths, policyVersion = before.policyVersion } = given;
      requireName(name);
      const changed = {
        ...(name !== before.name && { name }),
        ...(JSON.stringify(origins) !== JSON.stringify(before.origins) && { origins }),
        ...(validMonths !== before.validMonths && { validMonths }),
        ...(policyVersion !== before.policyVersion && { policyVersion }),
      };
      const isRestored = archivedAt === null && before.archivedAt !== null;
      if (isRestored) await note({ act: 'domain.restore', subject: domainId, domainId });
      if (isRestored && (await hadPageKey(sql, domainId))) await ensurePageKey(sql, note, domainId);
      if (Object.keys(changed).length > 0) {
        await note({ act: 'domain.update', subject: domainId, domainId, details: changed });
      } else if (!isRestored) return before;
      const [after] = await sql<ManagedDomain[]>`
        update domains set
          name = ${name}, origins = ${origins}, valid_months = ${validMonths}, policy_version = ${policyVersion},
          version = version + 1,
          archived_at = case when ${isRestored} then null else archived_at end
        where id = ${domainId}
        returning ${domainColumns(sql)}`;
      return after ?? 'not found';
    }),

  /** Revokes its keys. The domain can still be read, and `changeDomain` restores it without its keys. */
  archiveDomain: (organizationId: string, domainId: string, version?: number): Promise<ManagedDomain | Unchanged> =>
    perform(async (sql, note) => {
      const before = await lockDomain(sql, organizationId, domainId);
      if (!before) return 'not found';
      if (version !== undefined && before.version !== version) return 'changed meanwhile';
      if (before.archivedAt) return before;
      const { count: keys } = await sql`
        update api_keys set revoked_at = clock_timestamp() where domain_id = ${domainId} and revoked_at is null`;
      const [after] = await sql<ManagedDomain[]>`
        update domains set archived_at = clock_timestamp(), version = version + 1 where id = ${domainId}
        returning ${domainColumns(sql)}`;
      await note({ act: 'domain.archive', subject: domainId, domainId, details: { keysRevoked: keys } });
      return after ?? 'not found';
    }),
});
