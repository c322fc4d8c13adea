/** Rules of a tenant that several reads share. */
import { addMonths, firstDay, monthOf, spanOf } from '#libs/contract/calendar';
import { Problem } from '#libs/contract/problem';
import { totalOf, wholeOrganization } from '#libs/contract/terms';
import { readCounts } from '#libs/store/counters';
import type { Sql } from '#libs/store/sql';
import type { Organization } from '#libs/store/tenants/tenants';

/** Throws the same 404 for an unknown domain and for one of another organization. */
export function requireOwnDomain(organization: Organization, domainId: string): void {
  if (!organization.domains.some((domain) => domain.domainId === domainId)) {
    throw new Problem('domain_not_found', 'your organization has no such domain');
  }
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
