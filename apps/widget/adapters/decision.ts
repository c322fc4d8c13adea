/** Builds a record from another banner's state. */
import type { Decision } from '#libs/base/terms/terms';
import { pageUrl } from '../page-url.ts';
import type { Report } from '../record-client.ts';
import { categoryName } from './category-name.ts';

/** `allowed`: of each optional category. `hadAny`: whether one was allowed before. */
export function decisionOf(allowed: boolean[], hadAny: boolean): Decision {
  if (!allowed.includes(true)) return hadAny ? 'withdraw' : 'reject_all';
  return allowed.includes(false) ? 'custom' : 'accept_all';
}

/** The fields that every record of another banner has. */
export const reportOf = (decision: Decision, preferences: Record<string, boolean>): Report => ({
  decision,
  preferences: Object.fromEntries(Object.entries(preferences).map(([name, value]) => [categoryName(name), value])),
  pageUrl: pageUrl(),
  gpc: navigator.globalPrivacyControl || undefined,
});
