/** `window.assent`: what the page's own scripts may ask of the widget. */
import type { Consent } from './consent.ts';

export type Listener = (consent: Consent) => void;

declare global {
  interface Window {
    assent?: {
      /** The choice in force; null before the visitor decided. */
      getConsent(): Consent | null;
      /** Shows the settings. */
      open(): void;
      /** Takes back what was allowed, and records that; without consent it does nothing. */
      withdraw(): void;
      /** Calls `listener` on each change; what it gives back ends that. */
      onChange(listener: Listener): () => void;
    };
  }
}
