/** Rules of a tenant that several reads share. */
import { addMonths, firstDay, monthOf, spanOf } from '#libs/contract/calendar';
import { Problem } from '#libs/contract/problem';
import { totalOf, wholeOrganization } from '#libs/contract/terms';
import { readCounts } from '#libs/store/counters';
import type { Database, Sql } from '#libs/store/sql';
import type { Organization, OwnDomain } from '#libs/store/tenants/tenants';

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

/** The rules for single records and what is made of them: the plan includes the log, and the limit does not cap it. */
export async function requireWholeLog(db: Database, organization: Organization, now: number): Promise<void> {
  requireConsentLog(organization);
  const cap = await db.run((sql) => findCap(sql, organization, now));
  if (!cap) return;
  const { limit, used, resetsAt } = cap;
  throw new Problem(
    'record_limit_reached',
    `your organization has ${used} of ${limit} records; wait until ${resetsAt}`,
  );
}

export interface Cap {
  limit: number;
  used: number;
  resetsAt: string;
}

/** Once the organization's records of this UTC month reach the plan's limit: how many there are, and until when. */
export async function findCap(sql: Sql, { organizationId, plan }: Organization, now: number): Promise<Cap | null> {
  const limit = plan.monthlyRecordLimit;
  if (limit === null) return null;
  const month = monthOf(now);
  const counts = await readCounts(sql, { organizationId, domainId: wholeOrganization, spans: [spanOf(month)] });
  const counted = counts.get(month);
  const used = counted ? totalOf(counted) : 0;
  return used >= limit ? { limit, used, resetsAt: `${firstDay(addMonths(month, 1))}T00:00:00.000Z` } : null;
}
