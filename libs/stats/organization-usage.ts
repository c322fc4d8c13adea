/** What a dashboard needs to draw its menu. */
import type { Reads } from '#libs/base/db/database';
import type { Middleware } from '#libs/base/http/context';
import { guard } from '#libs/base/http/guard';
import { monthOf, spanOf } from '#libs/base/terms/calendar';
import { type Breakdown, totalOf, wholeOrganization } from '#libs/base/terms/terms';
import { accessIn, organizationIn } from '#libs/tenants/bearer';
import type { OwnDomain } from '#libs/tenants/tenants';
import type { Organization } from './contract.ts';
import { createCrawlerCount } from './limit.ts';
import type { Wanted } from './redis/read.ts';
import { statsRoutes } from './routes.ts';

/** Counters, added up. */
interface Counters {
  sum(wanted: Wanted): Promise<{ source: string; counts: Breakdown }>;
}

/** Most are in order already, so this costs little. */
const collator = new Intl.Collator('en');
const byName = (a: OwnDomain, b: OwnDomain): number =>
  collator.compare(a.name, b.name) || collator.compare(a.domainId, b.domainId);

export function getOrganization({ counters, db }: { counters: Counters; db: Reads }): Middleware {
  const countCrawlers = createCrawlerCount(db);
  return guard(statsRoutes.getOrganization, async (ctx) => {
    const { organizationId, name, plan, domains } = organizationIn(ctx);
    const month = monthOf(ctx.state.receivedAt);
    const [{ source, counts }, bots] = await Promise.all([
      counters.sum({ organizationId, domainId: wholeOrganization, spans: [spanOf(month)] }),
      countCrawlers(organizationId, month),
    ]);
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
