/** The month's usage, kept up to date by the daily counters instead of a request of its own. */
import type { OrgStats } from '#libs/log/contract';
import type { Organization } from '#libs/stats/contract';

type Usage = Organization['usage'];

/**
 * `usage`: as the organization was last read. Daily counters also count crawlers, of which only those of that reading are
 * known. Counters only grow, so the larger of the two figures is the newer one; on the 31st the daily counters lack the
 * first of the month.
 */
export function currentUsage(usage: Usage, { daily, period }: Pick<OrgStats, 'daily' | 'period'>): Usage {
  const month = period.to.slice(0, 7);
  const counted = daily.filter(({ date }) => date.startsWith(month)).reduce((sum, { total }) => sum + total, 0);
  // of another month nothing is known of crawlers yet
  if (usage.month !== month) return { ...usage, month, used: counted, bots: 0 };
  return { ...usage, used: Math.max(usage.used, counted - usage.bots) };
}
