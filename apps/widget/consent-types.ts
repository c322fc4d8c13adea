/** Google Consent Mode v2. */

import { orElse } from '#libs/widget/attempt';
import type { ConsentTypes } from '#libs/widget/config';
import { map, own, some } from '#libs/widget/tamper-proof';
import { assigned } from './page.ts';

/** The consent types that each of our categories grants. */
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

let layerName = 'dataLayer' as const;
/** Sites can rename Tag Manager's data layer. */
export const nameLayer = (name?: string): void => {
  if (name) layerName = name as 'dataLayer';
};

const dataLayer = (): unknown[] => {
  const layer = assigned(layerName) ?? [];
  window[layerName] = layer;
  return layer;
};

/** Tag Manager hears what is pushed. If the page has broken `push`, the entry is still added. */
export function pushToLayer(entry: unknown): void {
  const layer = dataLayer();
  if (orElse(() => layer.push(entry), -1) < 0) layer[layer.length] = entry;
}

/** Google's tags accept a command only as an `arguments` object. */
export function gtag(..._command: unknown[]): void {
  // biome-ignore lint/complexity/noArguments: see above
  pushToLayer(arguments);
}

/** Each consent type with the category that grants it. */
export function eachType(types: ConsentTypes, work: (type: string, category: string) => void): void {
  const all = own(types);
  for (const category in all) {
    const names = all[category] ?? [];
    map(typeof names === 'string' ? [names] : names, (name) => work(name, category));
  }
}

/** The default until the visitor decides. The tags wait up to `wait` milliseconds for an update. */
export function denyByDefault(types: ConsentTypes, wait: number): void {
  const states = own<unknown>();
  eachType(types, (type) => {
    states[type] = 'denied';
  });
  gtag('consent', 'default', { ...states, security_storage: 'granted', wait_for_update: wait });
}

/** Whether there is a default already, from the widget, consent-mode.js or the site itself. */
export const hasDefault = (): boolean =>
  some(dataLayer(), (entry) => {
    const command = own(entry as Record<string, unknown>);
    return command[0] === 'consent' && command[1] === 'default';
  });
