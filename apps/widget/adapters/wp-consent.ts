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

/** Milliseconds: banners set one category after the other, each of which is an event of its own. */
const settling = 300;

/** What is stored, by category. */
function stored(): Record<string, boolean> {
  const prefix = `${window.consent_api?.cookie_prefix ?? 'wp_consent'}_`;
  const cookies = document.cookie.split(/; */).filter((cookie) => cookie.startsWith(prefix));
  const pairs = cookies.map((cookie) => cookie.slice(prefix.length).split('='));
  return Object.fromEntries(
    pairs.filter(([, value]) => /^(allow|deny)$/.test(value ?? '')).map(([name, value]) => [name, value === 'allow']),
  );
}

/** `functional` is always allowed. */
const optional = (choice: Record<string, boolean>): boolean[] =>
  Object.entries(choice).flatMap(([name, isAllowed]) => (name === 'functional' ? [] : [isAllowed]));

/** Returns a function that stops the recording. */
export function recordWpConsent(client: RecordClient): () => void {
  let before = stored();
  let changes: Record<string, boolean> = {};
  let timer: ReturnType<typeof setTimeout> | undefined;

  const record = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    // where the browser refuses cookies, nothing is stored
    const choice = { ...stored(), ...changes };
    const allowed = optional(choice);
    const refusal = optional(before).includes(true) ? 'withdraw' : 'reject_all';
    before = choice;
    changes = {};
    client.record({
      decision: !allowed.includes(true) ? refusal : allowed.includes(false) ? 'custom' : 'accept_all',
      preferences: Object.fromEntries(Object.entries(choice).map(([name, value]) => [categoryName(name), value])),
      language: document.documentElement.lang || undefined,
      pageUrl: pageUrl(),
      gpc: navigator.globalPrivacyControl || undefined,
    });
  };
  const onChange = (event: Event) => {
    // an array whose keys are names
    const { detail } = event as CustomEvent<Record<string, string>>;
    const given = Object.entries(detail).map(([name, value]) => [name, value === 'allow']);
    // what a banner sets as the page loads is no decision of the visitor
    if (navigator.userActivation?.hasBeenActive === false) Object.assign(before, Object.fromEntries(given));
    else {
      Object.assign(changes, Object.fromEntries(given));
      clearTimeout(timer);
      timer = setTimeout(record, settling);
    }
  };
  document.addEventListener('wp_listen_for_consent_change', onChange);
  // a banner may load the page again
  addEventListener('pagehide', record);
  return () => {
    document.removeEventListener('wp_listen_for_consent_change', onChange);
    removeEventListener('pagehide', record);
  };
}
