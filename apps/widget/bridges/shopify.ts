/** Entry of bridge-shopify.js: passes the visitor's choice on to Shopify's Customer Privacy API. */
import { follow, isAllowed, onLoad } from './follow.ts';

type StoredConsent = 'yes' | 'no' | '';

interface TrackingConsent {
  analytics: boolean;
  marketing: boolean;
  preferences: boolean;
  sale_of_data: boolean;
}

interface Shopify {
  loadFeatures(features: { name: string; version: string }[], callback: (error?: unknown) => void): void;
  customerPrivacy?: {
    currentVisitorConsent?(): Record<keyof TrackingConsent, StoredConsent>;
    setTrackingConsent(consent: TrackingConsent, callback: () => void): void;
  };
}

declare global {
  interface Window {
    Shopify?: Partial<Shopify>;
  }
}

function apply(): void {
  const marketing = isAllowed('marketing');
  const consent = {
    analytics: isAllowed('analytics'),
    marketing,
    preferences: isAllowed('preferences'),
    // no category of its own: in the US, marketing includes what the law calls a sale
    sale_of_data: marketing,
  };
  const privacy = window.Shopify?.customerPrivacy;
  const known = privacy?.currentVisitorConsent?.();
  // Shopify sends each call to its servers
  const names = Object.keys(consent) as (keyof TrackingConsent)[];
  if (names.some((name) => known?.[name] !== (consent[name] ? 'yes' : 'no')))
    privacy?.setTrackingConsent(consent, () => {});
}

onLoad(() =>
  // on another platform's page there is nothing to do
  window.Shopify?.loadFeatures?.([{ name: 'consent-tracking-api', version: '0.1' }], (error) => {
    if (error) console.warn('assent: Shopify could not load its Customer Privacy API', error);
    else follow(apply);
  }),
);
