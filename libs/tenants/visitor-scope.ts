/** Whose records a question about a visitor is about: of one domain, or of all domains of an organization. */
import type { Sql } from '#libs/base/db/database';

export interface VisitorScope {
  organizationId: string;
  /** undefined: all of the organization */
  domainId?: string | undefined;
}

export interface ScopeNumbers {
  organizationNumber: number;
  /** 0: all of the organization */
  domainNumber: number;
}

/** The `domain_number` of acts, tombstones and erasures that are about all domains of an organization. */
export const allDomains = 0;

export async function numbersOf(sql: Sql, { organizationId, domainId }: VisitorScope): Promise<ScopeNumbers> {
  const [found] = await sql<ScopeNumbers[]>`
    select number as "organizationNumber",
      ${domainId === undefined ? sql`0` : sql`(select number from domains where id = ${domainId} and organization_id = organizations.id)`} as "domainNumber"
    from organizations where id = ${organizationId}`;
  if (!found || found.domainNumber === null) throw new Error(`no organization ${organizationId} with such a domain`);
  return found;
}

/** The domains of `domains` that are in the scope. */
export const isInScope = (sql: Sql, { organizationNumber, domainNumber }: ScopeNumbers) =>
  domainNumber === allDomains
    ? sql`domains.organization_id = (select id from organizations where number = ${organizationNumber})`
    : sql`domains.number = ${domainNumber}`;
