/** `window.assent`: the widget's API for scripts of the page. */
import { attempt } from '#libs/widget/attempt';
import { map } from '#libs/widget/tamper-proof';
import type { Consent } from './consent.ts';

type Listener = (consent: Consent) => void;

interface PublicApi {
  /** The current choice; null before the visitor has decided. */
  getConsent(): Consent | null;
  /**
   * Whether the category may run now: by the choice or, before one, by the rule for the visitor's place. Required
   * categories always may.
   */
  isAllowed(category: string): boolean;
  /** Opens the settings. */
  open(): void;
  /** Shows everything in this language; without a tag, in the page's or the visitor's. */
  setLanguage(tag?: string): void;
  /** Withdraws consent and records that. Does nothing where there is no consent. */
  withdraw(): void;
  /** Calls `listener` on each change. Returns a function that removes it. */
  onChange(listener: Listener): () => void;
}

declare global {
  interface Window {
    assent?: PublicApi;
  }
}

/** Returns a function that calls the listeners. */
export function offerApi(api: Omit<PublicApi, 'onChange'>): (consent: Consent) => unknown {
  let listeners: Listener[] = [];
  window.assent = {
    ...api,
    onChange: (listener) => {
      // a listener added twice counts as two; each returned function removes only its own
      const added: Listener = (consent) => listener(consent);
      listeners[listeners.length] = added;
      return () => {
        listeners = map(listeners, (each) => (each === added ? undefined : each));
      };
    },
  };
  return (consent) => map(listeners, (listener) => attempt(() => listener(consent)));
}
