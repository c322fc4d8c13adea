/** What requests require of their organization and domain. */

import type { Database } from '#libs/base/db/database';
import { Problem } from '#libs/base/terms/problem';
import { domainArchived } from './change-errors.ts';
import { findDomain, type ManagedDomain } from './domains.ts';
import type { Organization, OwnDomain } from './tenants.ts';

/** Throws the same 404 for an unknown domain and for one of another organization. */
export function requireOwnDomain(organization: Organization, domainId: string): OwnDomain {
  const own = organization.domains.get(domainId);
  if (own) return own;
  throw domainNotFound();
}

export const domainNotFound = () => new Problem('domain_not_found', 'your organization has no such domain');

/** Throws a 409 for an archived domain. */
export function requireInUse({ archivedAt }: OwnDomain): void {
  if (archivedAt !== undefined) throw domainArchived();
}

/** Throws a 403 where the plan does not include the log. */
export function requireConsentLog({ plan }: Organization): void {
  if (plan.consentLog) return;
  throw new Problem('plan_feature_required', `the plan ${plan.name} does not include the consent log`);
}

/** The domain that a request manages: from Postgres, since what is cached may be half a second old. */
export async function findOwnDomain(
  db: Database,
  { organizationId }: Organization,
  domainId: string,
): Promise<ManagedDomain> {
  const domain = await db.read((sql) => findDomain(sql, organizationId, domainId));
  if (!domain) throw domainNotFound();
  return domain;
}
