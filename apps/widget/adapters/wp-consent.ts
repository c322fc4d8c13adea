/** Records the decisions that visitors make in any banner of a WordPress site that supports the WP Consent API. */
import { pageUrl } from '../page-url.ts';
import type { RecordClient } from '../record-client.ts';
import { categoryName } from './category-name.ts';

declare global {
  interface Window {
    /** what the API's plugin puts into the page */
    consent_api?: { cookie_prefix?: string };
  }
}

type Choice = Record<string, boolean>;

/** Milliseconds: banners set one category after the other, each of which is an event of its own. */
const settling = 300;

const choiceOf = (pairs: [string, string][]): Choice =>
  Object.fromEntries(pairs.map(([name, value]) => [categoryName(name), value === 'allow']));

/** What the API keeps, in a cookie for each category. */
function stored(): Choice {
  const prefix = `${window.consent_api?.cookie_prefix ?? 'wp_consent'}_`;
  const cookies = document.cookie.split(/; */).map((cookie) => cookie.split('='));
  return choiceOf(
    cookies.flatMap(([name = '', value = '']) =>
      name.startsWith(prefix) && /^(allow|deny)$/.test(value) ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}

/** Those that visitors choose. */
const chosen = ({ functional: _, ...optional }: Choice): boolean[] => Object.values(optional);

/** Returns a function that stops the recording. */
export function recordWpConsent(client: RecordClient): () => void {
  let before = stored();
  let changes: Choice = {};
  let timer: ReturnType<typeof setTimeout> | undefined;

  const record = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    // where the browser refuses cookies, nothing is stored
    const preferences = { ...stored(), ...changes };
    const allowed = chosen(preferences);
    const refusal = chosen(before).includes(true) ? 'withdraw' : 'reject_all';
    before = preferences;
    changes = {};
    client.record({
      decision: !allowed.includes(true) ? refusal : allowed.includes(false) ? 'custom' : 'accept_all',
      preferences,
      language: document.documentElement.lang || undefined,
      pageUrl: pageUrl(),
      gpc: navigator.globalPrivacyControl || undefined,
    });
  };
  const onChange = (event: Event) => {
    // an array whose keys are names
    const changed = choiceOf(Object.entries((event as CustomEvent<Record<string, string>>).detail));
    // what a banner sets as the page loads is no decision of the visitor
    const isByVisitor = navigator.userActivation?.hasBeenActive !== false;
    Object.assign(isByVisitor ? changes : before, changed);
    clearTimeout(timer);
    if (isByVisitor) timer = setTimeout(record, settling);
  };
  document.addEventListener('wp_listen_for_consent_change', onChange);
  // a banner may load the page again
  addEventListener('pagehide', record);
  return () => {
    document.removeEventListener('wp_listen_for_consent_change', onChange);
    removeEventListener('pagehide', record);
  };
}
