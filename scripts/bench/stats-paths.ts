/** What is asked of the data sets' statistics. */
import { addMonths, dayOf, monthOf } from '#libs/contract/calendar';
import { domainIdOf, domains } from './data-sets.ts';

/** Of every domain the last 20 months, from the same day of a month on: whole months and days at both edges. */
export function statsPaths(): string[] {
  const now = Date.now();
  const from = `${addMonths(monthOf(now), -19)}-12`;
  const to = dayOf(now);
  return Array.from({ length: domains }, (_, index) => `/v1/consent/${domainIdOf(index)}/stats?from=${from}&to=${to}`);
}

/** The counters, with as few records as the endpoint gives. */
export const orgStatsPath = '/v1/consent/org-stats?limit=1';
