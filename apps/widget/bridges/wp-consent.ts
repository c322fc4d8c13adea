/** Hands each choice to the plugins of a WordPress site, through the WP Consent API. Its tag stands before the widget's. */
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

/** The API's categories, each with the one of ours that allows it, if the banner has none of the same name. */
const categories = {
  functional: 'necessary',
  preferences: 'functional',
  statistics: 'analytics',
  'statistics-anonymous': 'analytics',
  marketing: 'marketing',
};

/** Undefined while there is nothing to hand over. */
let due: Consent | null | undefined;

function handOver(): void {
  const { assent, wp_has_consent: has, wp_set_consent: set } = window;
  // an optimizer may load the API's script late
  if (due === undefined || !assent || !has || !set) return;
  for (const [category, ours] of Object.entries(categories)) {
    // theirs named `functional` is what a site needs, and ours is not
    const isOwn = ours !== 'necessary' && Object.hasOwn(due?.preferences ?? {}, category);
    const isAllowed = assent.isAllowed(isOwn ? category : ours);
    // without a choice, only what differs: it writes a cookie
    if (due || has(category) !== isAllowed) set(category, isAllowed ? 'allow' : 'deny');
  }
  due = undefined;
}

const hear = (consent: Consent | null): void => {
  due = consent;
  handOver();
};

window.wp_consent_type = 'optin';
document.dispatchEvent(new CustomEvent('wp_consent_type_defined'));
for (const event of ['assent:ready', 'assent:change'])
  document.addEventListener(event, (given) => hear((given as CustomEvent<Consent | null>).detail));
// where the order of the tags was changed
const made = window.assent?.getConsent();
if (made) hear(made);
// of any script
document.addEventListener('load', handOver, true);
