/** Google Consent Mode v2. */
import type { ConsentTypes } from '#libs/widget/config';
import { assigned } from './page.ts';

/** What each of our categories grants. */
export const consentTypes: ConsentTypes = {
  functional: ['functionality_storage', 'personalization_storage'],
  analytics: ['analytics_storage'],
  marketing: ['ad_storage', 'ad_user_data', 'ad_personalization'],
};

declare global {
  interface Window {
    dataLayer?: unknown[];
  }
}

export const dataLayer = (): unknown[] => {
  const layer = assigned('dataLayer') ?? [];
  window.dataLayer = layer;
  return layer;
};

/** Google's tags accept a command only as an `arguments` object. */
export function gtag(..._command: unknown[]): void {
  // biome-ignore lint/complexity/noArguments: see above
  dataLayer().push(arguments);
}

/** The default until the visitor decides. The tags wait up to `wait` milliseconds for an update. */
export function denyByDefault(types: ConsentTypes, wait: number): void {
  const denied = Object.values(types)
    .flat()
    .map((type) => [type, 'denied']);
  gtag('consent', 'default', { ...Object.fromEntries(denied), security_storage: 'granted', wait_for_update: wait });
}

/** Whether there is a default already: the widget's, that of consent-mode.js or the site's own. */
export const hasDefault = (): boolean =>
  dataLayer().some((entry) => {
    const [command, kind] = Array.from(Object(entry) as ArrayLike<unknown>);
    return command === 'consent' && kind === 'default';
  });
