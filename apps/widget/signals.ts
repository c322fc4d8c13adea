/** Tells the page and its tags what is allowed. */
import type { Consent } from './consent.ts';
import { type ConsentTypes, consentTypes, dataLayer, denyByDefault, gtag, hasDefault } from './consent-types.ts';

/** `ready`: the choice that holds when the page begins, if there is one. */
export type Tell = (event: 'ready' | 'change', consent: Consent | null) => void;

/** `types`: the site's own categories; false: no word to Google's tags. */
export function createSignals(
  types: ConsentTypes | boolean | string | undefined,
  isAllowed: (category: string) => boolean,
): Tell {
  const mode = String(types) !== 'false' && { ...consentTypes, ...(typeof types === 'object' && types) };

  /** Where nothing was decided, only what is allowed all the same is news. */
  const update = (isDecided: boolean) => {
    const states = Object.entries(mode || {}).flatMap(([category, names]) =>
      [names].flat().map((name) => [name, isAllowed(category) ? 'granted' : 'denied']),
    );
    if (states.some(([, state]) => isDecided || state === 'granted')) {
      gtag('consent', 'update', Object.fromEntries(states));
    }
  };

  return (event, consent) => {
    if (mode && !hasDefault()) denyByDefault(mode, 0);
    update(consent !== null);
    dataLayer().push({ event: `assent_${event}`, assent: consent });
    emit(event, consent);
  };
}

export function emit(event: string, detail: unknown): void {
  document.dispatchEvent(new CustomEvent(`assent:${event}`, { bubbles: true, detail }));
}
