/** Domains as they are managed: with when they were made, whether they are archived, and the version that is changed. */
import type { Sql } from '../sql.ts';
import type { Domain } from './tenants.ts';

export interface ManagedDomain extends Domain {
  number: number;
  createdAt: Date;
  /** since then nothing is recorded */
  archivedAt: Date | null;
  /** grows with each change */
  version: number;
}

export const domainColumns = (sql: Sql) => sql`
  number, id as "domainId", organization_id as "organizationId", name, to_json(origins) as origins,
  created_at as "createdAt", archived_at as "archivedAt", version`;

/** Newest first. */
export const listDomains = (
  sql: Sql,
  { organizationId, limit, after }: { organizationId: string; limit: number; after?: number | undefined },
) => sql<ManagedDomain[]>`
  select ${domainColumns(sql)} from domains
  where organization_id = ${organizationId} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;

export async function findDomain(
  sql: Sql,
  organizationId: string,
  domainId: string,
): Promise<ManagedDomain | undefined> {
  const [domain] = await sql<ManagedDomain[]>`
    select ${domainColumns(sql)} from domains where id = ${domainId} and organization_id = ${organizationId}`;
  return domain;
}

/** Until the transaction ends nobody else changes it. */
export async function lockDomain(
  sql: Sql,
  organizationId: string,
  domainId: string,
): Promise<ManagedDomain | undefined> {
  await sql`select from domains where id = ${domainId} for no key update`;
  return findDomain(sql, organizationId, domainId);
}
