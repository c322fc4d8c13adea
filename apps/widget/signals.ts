/** Signals the choice to the page, and to tags through Google Consent Mode and the data layer. */
import type { ConsentTypes } from '#libs/widget/config';
import type { Consent } from './consent.ts';
import { consentTypes, denyByDefault, eachType, gtag, hasDefault, tell } from './consent-types.ts';
import { page } from './page.ts';
import { own } from './plain.ts';

/** `ready` is sent once when the page loads, with the stored choice or null. */
type Signal = (event: 'ready' | 'change', consent: Consent | null) => void;

/** `types` adds the site's own categories; `false` turns Google Consent Mode off. */
export function createSignals(
  types: ConsentTypes | boolean | string | undefined,
  isAllowed: (category: string) => boolean,
): Signal {
  const mode = `${types}` !== 'false' && { ...consentTypes, ...(typeof types === 'object' && types) };

  /** Before a decision, an update is only needed where something is granted without one. */
  const update = (isDecided: boolean) => {
    const states = own<string>({});
    let isNeeded = isDecided;
    eachType(mode || {}, (type, category) => {
      states[type] = isAllowed(category) ? 'granted' : 'denied';
      isNeeded ||= states[type] === 'granted';
    });
    if (mode && isNeeded) gtag('consent', 'update', { ...states });
  };

  return (event, consent) => {
    if (mode && !hasDefault()) denyByDefault(mode, 0);
    update(consent !== null);
    tell({ event: `assent_${event}`, assent: consent });
    emit(event, consent);
  };
}

export function emit(event: string, detail: unknown): void {
  page.dispatchEvent(new CustomEvent(`assent:${event}`, { bubbles: true, detail }));
}
