/** What a dashboard needs to draw its menu. */
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { monthOf, spanOf } from '#libs/base/terms/calendar';
import { type Breakdown, sumOf, totalOf, wholeOrganization } from '#libs/base/terms/terms';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import type { OwnDomain } from '#libs/tenants/tenants';
import type { Organization } from './contract.ts';
import type { Facet, FacetQuestion } from './facets.ts';
import type { Wanted } from './redis/read.ts';
import { statsRoutes } from './routes.ts';

/** Counters, added up. */
interface Counters {
  sum(wanted: Wanted): Promise<{ source: string; counts: Breakdown }>;
}

interface Facets {
  readIfQuick(question: FacetQuestion): Promise<Facet[] | undefined>;
}

/** Most are in order already, so this costs little. */
const collator = new Intl.Collator('en');
const byName = (a: OwnDomain, b: OwnDomain): number =>
  collator.compare(a.name, b.name) || collator.compare(a.domainId, b.domainId);

export function getOrganization({ counters, facets }: { counters: Counters; facets: Facets }): Middleware {
  return guard(statsRoutes.getOrganization, async (ctx) => {
    const { organizationId, name, plan, domains } = organizationIn(ctx);
    const month = monthOf(ctx.state.receivedAt);
    const thisMonth = { organizationId, domainId: wholeOrganization, spans: [spanOf(month)] };
    const [{ source, counts }, crawlers] = await Promise.all([
      counters.sum(thisMonth),
      facets.readIfQuick({ ...thisMonth, dimensions: ['crawlers'] }),
    ]);
    // while Postgres does not answer they count like others
    const bots = totalOf(sumOf(crawlers ?? []));
    const answer: Organization = {
      organizationId,
      name,
      plan,
      usage: { month, used: Math.max(0, totalOf(counts) - bots), bots, limit: plan.monthlyRecordLimit },
      domains: [...domains.values()].toSorted(byName),
      scopes: accessIn(ctx).scopes,
    };
    ctx.set('X-Stats-Source', source);
    ctx.body = answer;
  });
}
