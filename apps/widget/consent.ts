/** The visitor's choice on this site, stored in the browser. */
import type { Decision } from '#libs/base/terms/terms';
import { page } from './page.ts';
import { openStorage } from './storage.ts';

export interface Consent {
  /** of the record */
  id: string;
  decision: Decision;
  /** category → allowed; without required categories, which are not asked for */
  preferences: Record<string, boolean>;
  /** RFC 3339 UTC */
  decidedAt: string;
  visitorId: string;
  policyVersion: string;
  gpc: boolean;
}

/** Whether the visitor allowed any category. */
export const isGiven = (consent: Consent | null): boolean => Object.values(consent?.preferences ?? {}).includes(true);

export interface Kept extends Consent {
  /** Unix milliseconds by the device's clock, from which the age is computed */
  at: number;
}

/** All, nothing, or category by category. */
export type Choice = boolean | Record<string, boolean>;

export interface Terms {
  /** optional categories */
  asked: string[];
  policyVersion: string;
  maxAgeMonths: number;
}

/** Seconds: the longest lifetime that browsers allow a cookie. */
const cookieAge = 400 * 86_400;
/** Milliseconds, on average. */
const month = 365.25 * 7_200_000;
const name = 'consent';
const seen = 'seen';

/** With a cookie domain, all its subdomains share the choice. Where the cookie cannot be set, this origin keeps it. */
export function openConsent(domain: string, cookieDomain: string | undefined) {
  const storage = openStorage(`assent.${domain}.`);
  const cookie = `assent_${domain}`;

  const readCookie = () => new RegExp(`(?:^|; )${cookie}=([^;]*)`).exec(page.cookie)?.[1];
  const writeCookie = (text: string) => {
    const secure = location.protocol === 'https:' ? ';secure' : '';
    // the Cookie Store API is not in all browsers, nor outside TLS
    page.cookie = `${cookie}=${text};domain=${cookieDomain};path=/;max-age=${cookieAge};samesite=lax${secure}`;
  };

  const read = (): Kept | null => {
    try {
      const shared = cookieDomain ? readCookie() : undefined;
      const kept = JSON.parse(shared ? decodeURIComponent(shared) : (storage.get(name) ?? ''));
      // other scripts of the page can write here too
      return Object(kept.preferences) === kept.preferences ? kept : null;
    } catch {
      return null;
    }
  };
  /** Whether the choice is now in the shared cookie. */
  const isShared = (text: string): boolean => {
    try {
      const shared = encodeURIComponent(text);
      if (cookieDomain) writeCookie(shared);
      return Boolean(cookieDomain) && readCookie() === shared;
    } catch {
      // cookies are blocked
      return false;
    }
  };

  const write = (kept: Kept): void => {
    const text = JSON.stringify(kept);
    if (isShared(text)) storage.remove(name);
    else storage.set(name, text);
  };

  return {
    read,
    write,
    /** Keeps what the visitor saw when making the choice: it is too long for a cookie. */
    keepSeen: ({ at }: Kept, text: string): void => storage.set(seen, `${at}\n${text}`),
    /** Empty for a choice that was made elsewhere, such as on another subdomain. */
    seen: (kept: Kept | null): string => storage.get(seen)?.split(`${kept?.at}\n`)[1] ?? '',
    /** Null where there is no choice, or it is too old, or made under another policy or for other categories. */
    current: ({ asked, policyVersion, maxAgeMonths }: Terms): Kept | null => {
      const kept = read();
      const isCurrent =
        kept?.policyVersion === policyVersion &&
        kept.at > Date.now() - maxAgeMonths * month &&
        Object.keys(kept.preferences).sort().join() === [...asked].sort().join();
      if (!isCurrent) return null;
      // stored before the site set a cookie domain
      if (cookieDomain && storage.get(name)) write(kept);
      return kept;
    },
  };
}
