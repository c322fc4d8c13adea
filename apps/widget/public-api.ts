/** `window.assent`: the widget's API for scripts of the page. */
import type { Consent } from './consent.ts';

type Listener = (consent: Consent) => void;

declare global {
  interface Window {
    assent?: {
      /** The current choice; null before the visitor has decided. */
      getConsent(): Consent | null;
      /** Whether it may run, now and here. */
      isAllowed(category: string): boolean;
      /** Opens the settings. */
      open(): void;
      /** Shows everything in this language; without a tag in the page's, or the visitor's. */
      setLanguage(tag?: string): void;
      /** Withdraws consent and records that. Does nothing where there is no consent. */
      withdraw(): void;
      /** Calls `listener` on each change. Returns a function that removes it. */
      onChange(listener: Listener): () => void;
    };
  }
}
