/**
 * Passes each choice on to the plugins of a WordPress site through the WP Consent API. Its tag should precede the widget's.
 */
import type { Consent } from '../consent.ts';
import type {} from '../public-api.ts';

declare global {
  interface Window {
    /** before a choice, `optin` denies everything */
    wp_consent_type?: string;
    wp_has_consent?(category: string): boolean;
    wp_set_consent?(category: string, value: 'allow' | 'deny'): void;
  }
}

/**
 * For each category of the API, our category that decides about it. If the banner has a category with the same name as the
 * API's, that one decides instead, except for `functional`.
 */
const categories = {
  functional: 'necessary',
  preferences: 'functional',
  statistics: 'analytics',
  'statistics-anonymous': 'analytics',
  marketing: 'marketing',
};

/**
 * the choice still to be handed to the API: null if the visitor has not chosen, undefined if nothing is left to hand over
 */
let pending: Consent | null | undefined;

function handOver(): void {
  const { assent, wp_has_consent: has, wp_set_consent: set } = window;
  // an optimizer may load the API's script late
  if (pending === undefined || !assent || !has || !set) return;
  for (const [category, ours] of Object.entries(categories)) {
    // the API's `functional` is what a site needs to work, unlike ours
    const isOwn = ours !== 'necessary' && Object.hasOwn(pending?.preferences ?? {}, category);
    const isAllowed = assent.isAllowed(isOwn ? category : ours);
    // each call writes a cookie, so without a choice only what differs is set
    if (pending || has(category) !== isAllowed) set(category, isAllowed ? 'allow' : 'deny');
  }
  pending = undefined;
}

const onChoice = (consent: Consent | null): void => {
  pending = consent;
  handOver();
};

window.wp_consent_type = 'optin';
document.dispatchEvent(new CustomEvent('wp_consent_type_defined'));
for (const event of ['assent:ready', 'assent:change'])
  document.addEventListener(event, (given) => onChoice((given as CustomEvent<Consent | null>).detail));
// the widget's tag may come first all the same: then a choice that was already made is handed over here
const made = window.assent?.getConsent();
if (made) onChoice(made);
// the API's script may load late; any script's load event is heard here
document.addEventListener('load', handOver, true);
