/** Builds a record from what another banner knows. */
import type { Decision } from '#libs/base/terms/terms';
import { pageUrl } from '../page-url.ts';
import type { Report } from '../record-client.ts';
import { categoryName } from './category-name.ts';

/** Of the optional categories: `hadAny` says whether one of them was allowed before. */
export function decisionOf(allowed: boolean[], hadAny: boolean): Decision {
  if (!allowed.includes(true)) return hadAny ? 'withdraw' : 'reject_all';
  return allowed.includes(false) ? 'custom' : 'accept_all';
}

/** What every record of another banner contains. */
export const reportOf = (decision: Decision, preferences: Record<string, boolean>): Report => ({
  decision,
  preferences: Object.fromEntries(Object.entries(preferences).map(([name, value]) => [categoryName(name), value])),
  pageUrl: pageUrl(),
  gpc: navigator.globalPrivacyControl || undefined,
});
