/**
 * Visitors as acts, tombstones and erasures identify them: by a scope and a hash; and the administrative acts about
 * them.
 */

import { createHmac } from 'node:crypto';
import type { Sql } from '#libs/base/db/database';

/** Who read or erased whose records, and who exported which. The visitor is named by a hash alone. */
export interface VisitorAct extends VisitorScope {
  /** the token's `sub`, or the operator */
  actor: string;
  act: 'visitor.read' | 'visitor.access' | 'visitor.erase' | 'records.export';
  /** null without PRIVACY_KEY, and for an export that is not of one visitor */
  hash: Uint8Array | null;
  erasureId?: string;
  /** an export's format and filters, without the visitor */
  details?: Record<string, string | boolean | undefined>;
}

export async function addVisitorAct(
  sql: Sql,
  { actor, act, hash, erasureId, details, ...scope }: VisitorAct,
): Promise<void> {
  const { organizationNumber, domainNumber } = await numbersOf(sql, scope);
  await sql`
    insert into visitor_acts (organization_number, domain_number, actor, act, hash, erasure_id, details)
    values (
      ${organizationNumber}, ${domainNumber}, ${actor}, ${act}, ${hash && Buffer.from(hash)}, ${erasureId ?? null},
      ${details ? JSON.stringify(details) : null}::text::jsonb
    )`;
}

/** Which records of a visitor: those of one domain, or of all domains of an organization. */
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

/** Without the key nobody can check a guess at an id; the same id has different hashes in two organizations. */
export type VisitorHash = (organizationId: string, visitorId: string) => Buffer;

/** `key`: PRIVACY_KEY, 32 bytes. */
export const createVisitorHash =
  (key: Uint8Array): VisitorHash =>
  (organizationId, visitorId) =>
    createHmac('sha256', key).update(`${organizationId}\0${visitorId}`).digest();
