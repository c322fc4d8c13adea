/** GET /v1/consent/:domainId/stats: the counters of one domain over any range of days. */
import { cover, daysBetween, monthOfDay, monthsBetween } from '#libs/contract/calendar';
import { domainPath, statsQuery } from '#libs/contract/queries';
import type { DomainStats } from '#libs/contract/responses';
import { addBreakdown, type Breakdown, emptyBreakdown, sumOf, totalOf, withTotal } from '#libs/contract/terms';
import { organizationIn } from '../access/bearer.ts';
import { requireOwnDomain } from '../access/tenant-rules.ts';
import type { Middleware } from '../http/context.ts';
import { guard } from '../http/guard.ts';
import type { CounterReader, StatsSource } from './counter-reader.ts';

export function domainStats({ counters }: { counters: CounterReader }): Middleware {
  return guard({ params: domainPath, query: statsQuery }, async (ctx, { params, query }) => {
    const { organizationId } = organizationIn(ctx);
    const { domainId } = params;
    const { from, to, interval } = query;
    requireOwnDomain(organizationIn(ctx), domainId);
    const wanted = { organizationId, domainId, spans: interval === 'day' ? [{ from, to }] : cover(from, to) };
    const answer = (source: StatsSource, breakdown: Breakdown, series?: DomainStats['series']) => {
      const stats: DomainStats = { domainId, from, to, total: totalOf(breakdown), breakdown };
      if (series) stats.series = series;
      ctx.set('X-Stats-Source', source);
      ctx.body = stats;
    };
    if (interval === undefined) {
      const { source, counts } = await counters.sum(wanted);
      answer(source, counts);
    } else {
      const { source, counts } = await counters.read(wanted);
      answer(source, sumOf(counts.values()), seriesOf[interval](from, to, counts));
    }
  });
}

const seriesOf = { day: byDay, month: byMonth };

function byDay(from: string, to: string, counts: Map<string, Breakdown>) {
  return daysBetween(from, to).map((date) => ({ date, ...withTotal(counts.get(date)) }));
}

function byMonth(from: string, to: string, counts: Map<string, Breakdown>) {
  const months = new Map(monthsBetween(from, to).map((month) => [month, emptyBreakdown()]));
  for (const [period, each] of counts) addBreakdown(months.get(monthOfDay(period)) ?? emptyBreakdown(), each);
  return Array.from(months, ([month, each]) => ({ month, ...withTotal(each) }));
}
