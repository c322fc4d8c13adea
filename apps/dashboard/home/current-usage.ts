/** The month's usage, updated from the daily counters instead of by a request of its own. */
import type { OrgStats } from '#libs/log/contract';
import type { Organization } from '#libs/stats/contract';

type Usage = Organization['usage'];

/**
 * `usage`: from the last read of the organization. The daily counters include crawlers, whose number is known only as of
 * that read. Counters only grow, so the larger figure is the newer one. On the 31st, the 30 daily counters lack the first
 * of the month.
 */
export function currentUsage(usage: Usage, { daily, period }: Pick<OrgStats, 'daily' | 'period'>): Usage {
  const month = period.to.slice(0, 7);
  const counted = daily.filter(({ date }) => date.startsWith(month)).reduce((sum, { total }) => sum + total, 0);
  // nothing is known about crawlers of a new month yet
  if (usage.month !== month) return { ...usage, month, used: counted, bots: 0 };
  return { ...usage, used: Math.max(usage.used, counted - usage.bots) };
}
