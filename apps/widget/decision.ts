/** What a visitor's choice becomes: the consent that the browser keeps, and the report that is sent. */
import type { Decision } from '#libs/base/terms/terms';
import { orElse } from '#libs/widget/attempt';
import type { Notice } from '#libs/widget/notice';
import { map, min, now, own, some } from '#libs/widget/tamper-proof';
import { type Choice, isGiven, type StoredConsent } from './consent.ts';
import { gpc } from './gpc.ts';
import { pageUrl } from './page-url.ts';
import type { Report } from './record-client.ts';
import type { Settings } from './settings.ts';
import { makeId, randomHex, timeOf } from './uuid.ts';
import type { PlaceholderNotice } from './view/placeholder.ts';

/** Where the visitor decided; `api` is the page's own code. */
export type Source = 'banner' | 'preferences' | 'api' | 'gpc';

export function preferencesOf(choice: Choice, asked: string[]): Record<string, boolean> {
  const preferences = own<boolean>();
  map(asked, (id) => {
    preferences[id] = typeof choice === 'boolean' ? choice : choice[id] === true;
  });
  return preferences;
}

/**
 * `last`: the choice before this one, even one that has expired. A choice in a placeholder is never `accept_all`, because a
 * placeholder asks for some categories only.
 */
export function consentOf(
  settings: Settings,
  choice: Choice,
  preferences: Record<string, boolean>,
  source: Source,
  last: StoredConsent | null,
  notice?: Notice | PlaceholderNotice,
): StoredConsent {
  const at = now();
  const refusal = isGiven(last) && source !== 'gpc' ? 'withdraw' : 'reject_all';
  const isAll = notice && 'settings' in notice && !some(settings.asked, (id) => !preferences[id]);
  const decision: Decision = choice !== true && !isGiven({ preferences }) ? refusal : isAll ? 'accept_all' : 'custom';
  // other scripts can write to the storage, and the service drops an id that is not printable ASCII
  const known = last?.visitorId;
  const isValid = typeof known === 'string' && orElse(() => /^[!-~]{1,128}$/.test(known));
  return {
    // the clock may have been set back since the last decision, and a later decision needs a later id
    id: makeId(-min(-1 - timeOf(last?.id ?? ''), -at)),
    decision,
    preferences,
    decidedAt: orElse(() => new Date(at).toISOString(), ''),
    visitorId: isValid ? known : randomHex(16),
    policyVersion: settings.policyVersion,
    gpc,
    model: settings.model,
    at,
  };
}

/**
 * `notice`: the notice in which the visitor decided; absent for decisions by the page's own code or by Global Privacy
 * Control.
 */
export const reportOf = (
  settings: Settings,
  made: StoredConsent,
  source: Source,
  notice?: Notice | PlaceholderNotice,
): Report => ({
  decision: made.decision,
  preferences: made.preferences,
  source,
  visitorId: made.visitorId,
  bannerVersion: settings.bannerVersion,
  policyVersion: made.policyVersion || undefined,
  language: notice?.language ?? settings.wording.language,
  variant: notice && settings.variant,
  model: made.model,
  pageUrl: pageUrl(),
  gpc: gpc || undefined,
  metadata: settings.metadata,
});
