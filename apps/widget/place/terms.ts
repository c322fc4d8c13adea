/** What a place adds to the settings. */
import type { Model } from '#libs/widget/config';
import type { Notice } from '#libs/widget/notice';
import type { Consent, StoredConsent } from '../consent.ts';

export interface Place {
  /** under which visitors decide; absent without `regions` */
  model?: Model | undefined;
  /** categories that are allowed before a choice */
  before?: Record<string, boolean>;
  /** Makes a notice say what is so there. */
  adapt?(notice: Notice): void;
  /** in place of a choice, where nobody is asked first */
  unasked?: Partial<Consent>;
  lasting?(kept: StoredConsent): StoredConsent | null;
  /** Shows what is told instead of asked, or takes it away. */
  tell?(kept: Consent | null): void;
  /** Whether this choice is held back until the visitor confirms it; `make` is called then. */
  holds?(choice: Record<string, boolean>, make: () => void): boolean;
}
