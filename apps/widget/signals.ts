/** Signals the choice to the page, to tags through Google Consent Mode and the data layer, and to Microsoft's tags. */

import { orElse } from '#libs/widget/attempt';
import { map, own } from '#libs/widget/tamper-proof';
import type { Consent } from './consent.ts';
import { consentTypes, denyByDefault, eachType, gtag, hasDefault, nameLayer, pushToLayer } from './consent-types.ts';
import { assigned, page } from './page.ts';
import type { Settings } from './settings.ts';

declare global {
  interface Window {
    /** Microsoft's queues of commands */
    uetq?: { push(...command: unknown[]): unknown };
    clarity?(...command: unknown[]): unknown;
  }
}

/** Milliseconds that Google's tags wait until the visitor's place is known. */
const longestSearch = 2_000;

interface Signals {
  /** `ready` is sent once when the page loads, with the stored choice or null. */
  signal(event: 'ready' | 'change', consent: Consent | null): void;
  /** Sends the choice to Microsoft's tags once they are on the page, which may be late. */
  greet(): void;
}

/** `consentMode` adds the site's own categories; `false` turns Google Consent Mode off. */
export function createSignals(
  settings: Pick<Settings, 'consentMode' | 'layer' | 'signals' | 'categories' | 'model'>,
  isAllowed: (category: string) => boolean,
): Signals {
  const { consentMode, layer, signals = {} } = settings;
  nameLayer(layer);
  const isOn = `${consentMode}` !== 'false';
  const types = { ...consentTypes, ...(typeof consentMode === 'object' && consentMode) };
  /** The `uetq` and `clarity` that the current states were sent to. */
  let greeted: [uetq?: Window['uetq'], clarity?: Window['clarity']] = [];

  const states = () => {
    const all = own<string>();
    eachType(types, (type, category) => {
      all[type] = isAllowed(category) ? 'granted' : 'denied';
    });
    return all;
  };

  // deny by default at once, before the visitor's place is known
  if (isOn && !hasDefault()) denyByDefault(types, settings.model ? longestSearch : 0);

  function greet(isChange = false): void {
    const { ad_storage, analytics_storage } = states();
    const uetq = signals.uet === false ? undefined : assigned('uetq');
    const clarity = signals.clarity === false ? undefined : assigned('clarity');
    if (!isChange && uetq === greeted[0] && clarity === greeted[1]) return;
    if (!greeted[0]) orElse(() => uetq?.push('consent', 'default', { ad_storage: 'denied' }));
    orElse(() => uetq?.push('consent', 'update', { ad_storage }));
    orElse(() => clarity?.('consentv2', { ad_Storage: ad_storage, analytics_Storage: analytics_storage }));
    greeted = [uetq, clarity];
  }

  return {
    greet,
    signal: (event, consent) => {
      const all = states();
      // before a decision, an update is only needed if something is granted without one
      let isNeeded = consent !== null;
      for (const type in all) isNeeded ||= all[type] === 'granted';
      if (isOn && isNeeded) gtag('consent', 'update', { ...all });
      pushToLayer({
        event: `assent_${event}`,
        assent: consent,
        model: settings.model ?? 'opt_in',
        allowed: map(settings.categories, ({ id }) => (isAllowed(id) ? id : undefined)),
      });
      emit(event, consent);
      greet(true);
    },
  };
}

export function emit(event: string, detail: unknown): void {
  page.dispatchEvent(new CustomEvent(`assent:${event}`, { bubbles: true, detail }));
}
