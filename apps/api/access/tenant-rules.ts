/** Rules of a tenant that several reads share. */
import { addMonths, firstDay, monthOf } from '#libs/contract/calendar';
import { Problem } from '#libs/contract/problem';
import type { Sql } from '#libs/store/sql';
import type { Organization, OwnDomain } from '#libs/store/tenants/tenants';
import { readUsage } from '#libs/store/usage';

/** Throws the same 404 for an unknown domain and for one of another organization. */
export function requireOwnDomain(organization: Organization, domainId: string): OwnDomain {
  const own = organization.domains.find((domain) => domain.domainId === domainId);
  if (own) return own;
  throw domainNotFound();
}

export const domainNotFound = () => new Problem('domain_not_found', 'your organization has no such domain');

/** Throws a 409 for an archived domain. */
export function requireInUse({ archivedAt }: OwnDomain): void {
  if (archivedAt !== undefined) throw domainArchived();
}

export const domainArchived = () => new Problem('domain_archived', 'the domain is archived; restore it first');

/** Throws a 403 where the plan does not include the log. */
export function requireConsentLog({ plan }: Organization): void {
  if (plan.consentLog) return;
  throw new Problem('plan_feature_required', `the plan ${plan.name} does not include the consent log`);
}

export interface Cap {
  limit: number;
  used: number;
  resetsAt: string;
}

/**
 * Once the organization's records of this UTC month reach the plan's limit: how many there are, and until when pages of
 * the log are short. Nothing else is withheld: whoever has a page's public key can bring it about.
 */
export async function findCap(sql: Sql, { organizationId, plan }: Organization, now: number): Promise<Cap | null> {
  const limit = plan.monthlyRecordLimit;
  if (limit === null) return null;
  const month = monthOf(now);
  const { used } = await readUsage(sql, organizationId, month);
  return used >= limit ? { limit, used, resetsAt: `${firstDay(addMonths(month, 1))}T00:00:00.000Z` } : null;
}
