/** What a value plainly means that breaks its field's rule. What comes back may still break it. */
import { onSite } from './page-url.ts';

type Mend = (value: unknown, origin?: string) => unknown;

const numberAsText: Mend = (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : value);

/** `en_US` as Java, PHP and POSIX write it; of a list, such as a header `Accept-Language`, the first. */
const firstTag: Mend = (value) =>
  typeof value === 'string' ? (/^[^,;]*/.exec(value)?.[0] ?? '').trim().replaceAll('_', '-') : value;

const mends: Partial<Record<string, Mend>> = {
  visitorId: (value) => (Number.isSafeInteger(value) ? String(value) : value),
  bannerVersion: numberAsText,
  policyVersion: numberAsText,
  variant: numberAsText,
  language: firstTag,
  pageUrl: (value, origin) => (typeof value === 'string' ? onSite(value, origin) : value),
};

/** `origin`: of the page, by the request's header. */
export const mend = (field: string, value: unknown, origin: string | undefined): unknown =>
  mends[field]?.(value, origin) ?? value;

const words = new Map<unknown, boolean>([
  ...['true', 'granted', 'yes', 1].map((word) => [word, true] as const),
  ...['false', 'denied', 'no', 0].map((word) => [word, false] as const),
]);

/** The booleans of `preferences`, also in Google Consent Mode's words and those of languages without booleans. */
export function withWords(preferences: unknown): unknown {
  if (typeof preferences !== 'object' || preferences === null || Array.isArray(preferences)) return preferences;
  return Object.fromEntries(Object.entries(preferences).map(([name, value]) => [name, readWord(value)]));
}

const readWord = (value: unknown): unknown =>
  words.get(typeof value === 'string' ? value.toLowerCase() : value) ?? value;
