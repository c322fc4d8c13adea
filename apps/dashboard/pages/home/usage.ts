import type { OrgStats } from '#libs/contract/log';
import type { Organization } from '#libs/contract/statistics';

/**
 * The month's usage, kept up to date by the daily counters instead of a request of its own. Counters only grow, so the
 * larger of the two figures is the newer one. On the 31st the daily counters lack the first of the month.
 */
export function currentUsage({ usage }: Organization, { daily, period }: OrgStats): Organization['usage'] {
  const month = period.to.slice(0, 7);
  const counted = daily.filter(({ date }) => date.startsWith(month)).reduce((sum, { total }) => sum + total, 0);
  return { ...usage, month, used: usage.month === month ? Math.max(usage.used, counted) : counted };
}
