/** GET /v1/consent/:domainId/stats: the counters of one domain over any range of days. */
import { cover, daysBetween, monthOfDay, monthsBetween } from '#libs/contract/calendar';
import { domainPath, statsQuery } from '#libs/contract/queries';
import type { DomainStats } from '#libs/contract/responses';
import { addBreakdown, type Breakdown, emptyBreakdown, totalOf } from '#libs/contract/terms';
import type { Deps, Middleware } from '../context.ts';
import { organizationIn } from '../middleware/bearer.ts';
import { guard } from '../middleware/guard.ts';
import { requireOwnDomain } from '../tenant-rules.ts';

export function domainStats({ counters }: Pick<Deps, 'counters'>): Middleware {
  return guard({ params: domainPath, query: statsQuery }, async (ctx, { params, query }) => {
    const { organizationId } = organizationIn(ctx);
    const { domainId } = params;
    const { from, to, interval } = query;
    requireOwnDomain(organizationIn(ctx), domainId);
    const periods = interval === 'day' ? daysBetween(from, to) : cover(from, to);
    const { source, counts } = await counters.read({ organizationId, domainId, periods });
    const breakdown = sum(counts.values());
    const stats: DomainStats = { domainId, from, to, total: totalOf(breakdown), breakdown };
    if (interval === 'day') stats.series = periods.map((date) => ({ date, ...bucket(counts.get(date)) }));
    if (interval === 'month') stats.series = byMonth(from, to, counts);
    ctx.set('X-Stats-Source', source);
    ctx.body = stats;
  });
}

export const sum = (counts: Iterable<Breakdown>): Breakdown => {
  const result = emptyBreakdown();
  for (const each of counts) addBreakdown(result, each);
  return result;
};

/** One bucket of a series; without decisions all its counts are 0. */
export const bucket = (counts: Breakdown = emptyBreakdown()): Breakdown & { total: number } => ({
  total: totalOf(counts),
  ...counts,
});

function byMonth(from: string, to: string, counts: Map<string, Breakdown>) {
  const months = new Map(monthsBetween(from, to).map((month) => [month, emptyBreakdown()]));
  for (const [period, each] of counts) addBreakdown(months.get(monthOfDay(period)) ?? emptyBreakdown(), each);
  return Array.from(months, ([month, each]) => ({ month, ...bucket(each) }));
}
