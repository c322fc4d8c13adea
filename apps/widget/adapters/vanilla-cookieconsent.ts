/** Records the decisions that visitors make in vanilla-cookieconsent 3 (orestbida/cookieconsent). */
import { pageUrl } from '../page-url.ts';
import type { RecordClient } from '../record-client.ts';
import { categoryName } from './category-name.ts';

/** The part of the package that is used. */
interface CookieConsentApi {
  getUserPreferences(): { acceptType: string; acceptedCategories: string[]; rejectedCategories: string[] };
  getCookie(): { consentId: string; revision: number; languageCode: string };
}

/** Call it before `CookieConsent.run`. Returns a function that stops the recording. */
export function recordCookieConsent(client: RecordClient, cookieConsent: CookieConsentApi): () => void {
  const record = (isChange: boolean) => {
    const { acceptType, acceptedCategories, rejectedCategories } = cookieConsent.getUserPreferences();
    const { consentId, revision, languageCode } = cookieConsent.getCookie();
    const refusal = isChange ? 'withdraw' : 'reject_all';
    const decisions = { all: 'accept_all', necessary: refusal } as const;
    client.record({
      decision: decisions[acceptType as keyof typeof decisions] ?? 'custom',
      preferences: Object.fromEntries([
        ...acceptedCategories.map((name) => [categoryName(name), true]),
        ...rejectedCategories.map((name) => [categoryName(name), false]),
      ]),
      visitorId: consentId || undefined,
      policyVersion: revision ? String(revision) : undefined,
      language: languageCode || undefined,
      pageUrl: pageUrl(),
      gpc: navigator.globalPrivacyControl || undefined,
    });
  };
  const first = () => record(false);
  const change = () => record(true);
  addEventListener('cc:onFirstConsent', first);
  addEventListener('cc:onChange', change);
  return () => {
    removeEventListener('cc:onFirstConsent', first);
    removeEventListener('cc:onChange', change);
  };
}
