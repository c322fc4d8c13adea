/** Records the decisions that visitors make in any banner of a WordPress site that supports the WP Consent API. */
import { pageUrl } from '../page-url.ts';
import type { RecordClient } from '../record-client.ts';
import { categoryName } from './category-name.ts';

declare global {
  interface Window {
    /** set by the API's plugin */
    consent_api?: { cookie_prefix?: string };
  }
}

type Choice = Record<string, boolean>;

/** Milliseconds: banners set the categories one by one, with an event for each. */
const settling = 300;

const choiceOf = (pairs: [string, string][]): Choice =>
  Object.fromEntries(pairs.map(([name, value]) => [categoryName(name), value === 'allow']));

/** The choice that the API has stored, in a cookie for each category. */
function stored(): Choice {
  const prefix = `${window.consent_api?.cookie_prefix ?? 'wp_consent'}_`;
  const cookies = document.cookie.split(/; */).map((cookie) => cookie.split('='));
  return choiceOf(
    cookies.flatMap(([name = '', value = '']) =>
      name.startsWith(prefix) && /^(allow|deny)$/.test(value) ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}

/** The optional categories' values. */
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
    // nothing is stored if the browser refuses cookies
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
    // the detail is an array with named keys
    const changed = choiceOf(Object.entries((event as CustomEvent<Record<string, string>>).detail));
    // a banner may set categories on load, without the visitor
    const isByVisitor = navigator.userActivation?.hasBeenActive !== false;
    Object.assign(isByVisitor ? changes : before, changed);
    clearTimeout(timer);
    if (isByVisitor) timer = setTimeout(record, settling);
  };
  document.addEventListener('wp_listen_for_consent_change', onChange);
  // a banner may reload the page
  addEventListener('pagehide', record);
  return () => {
    document.removeEventListener('wp_listen_for_consent_change', onChange);
    removeEventListener('pagehide', record);
  };
}
