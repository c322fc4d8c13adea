/** The organization with its usage, from which the dashboard draws its menu. */
import { monthOf, spanOf } from '#libs/base/terms/calendar';
import { type Breakdown, totalOf, wholeOrganization } from '#libs/base/terms/terms';
import { endpoint } from '#libs/tenants/endpoint';
import type { OwnDomain } from '#libs/tenants/tenants';
import type { CountCrawlers } from './monthly-limit.ts';
import type { CounterQuestion } from './redis/read.ts';
import { statsRoutes } from './routes.ts';

/** Counters, added up. */
interface Counters {
  sum(wanted: CounterQuestion): Promise<{ source: string; counts: Breakdown }>;
}

/** Sorting at each request is cheap, because most domains are in order already. */
const collator = new Intl.Collator('en');
const byName = (a: OwnDomain, b: OwnDomain): number =>
  collator.compare(a.name, b.name) || collator.compare(a.domainId, b.domainId);

export const getOrganization = endpoint(
  statsRoutes.getOrganization,
  async (
    { counters, countCrawlers }: { counters: Counters; countCrawlers: CountCrawlers },
    { organization, access, now },
  ) => {
    const { organizationId, name, plan, domains } = organization;
    const month = monthOf(now);
    const [{ source, counts }, bots] = await Promise.all([
      counters.sum({ organizationId, domainId: wholeOrganization, spans: [spanOf(month)] }),
      countCrawlers(organizationId, month),
    ]);
    return {
      headers: { 'X-Stats-Source': source },
      body: {
        organizationId,
        name,
        plan,
        usage: { month, used: Math.max(0, totalOf(counts) - bots), bots, limit: plan.monthlyRecordLimit },
        domains: [...domains.values()].toSorted(byName),
        scopes: access.scopes,
      },
    };
  },
);
