/** The visitor's choice on this site, stored in the browser. */
import type { Decision } from '#libs/base/terms/terms';
import { orElse } from '#libs/widget/attempt';
import type { Model } from '#libs/widget/config';
import { bare, includes, map, now, own, slice, some, words } from '#libs/widget/tamper-proof';
import { json, parsed } from './json.ts';
import { page } from './page.ts';
import { openStorage } from './storage.ts';

export interface Consent {
  /** the record's id */
  id: string;
  decision: Decision;
  /** category → allowed; without required categories, which need no consent */
  preferences: Record<string, boolean>;
  /** RFC 3339 UTC */
  decidedAt: string;
  visitorId: string;
  policyVersion: string;
  gpc: boolean;
  /** the one under which it was made, if the site has `regions` */
  model?: Model | undefined;
}

/** Whether the visitor allowed any category. */
export function isGiven(consent?: Partial<Consent> | null): boolean {
  const preferences = own(consent?.preferences);
  for (const category in preferences) if (preferences[category] === true) return true;
  return false;
}

export interface StoredConsent extends Consent {
  /** Unix milliseconds by the device's clock, from which the age is computed */
  at: number;
}

/** Everything, nothing, or category by category. */
export type Choice = boolean | Record<string, boolean>;

interface Terms {
  /** optional categories */
  asked: string[];
  policyVersion: string;
  maxAgeMonths: number;
  /** the part of a choice that still holds although it has expired, or was made for other terms */
  lasting?(expired: StoredConsent): StoredConsent | null;
}

/** Seconds: the longest lifetime that browsers allow a cookie. */
const cookieAge = 400 * 86_400;
/** Milliseconds: a choice may be this far in the future, since the clock may have been set back. */
const ahead = 300_000;
/** Milliseconds, on average. */
const month = 365.25 * 7_200_000;
const name = 'consent';
const seen = 'seen';

/**
 * With a cookie domain, all its subdomains share the choice; if the cookie is blocked, this origin's storage has it.
 * Without one, the storage has it, or if that is full or blocked, a cookie of this host.
 */
export function openConsent(domain: string, cookieDomain: string | undefined) {
  const storage = openStorage(`assent.${domain}.`);
  const secure = location.protocol === 'https:' ? ';secure' : '';
  // no subdomain can set a cookie with that prefix
  const begin = `${secure && !cookieDomain ? '__Host-' : ''}assent_${domain}=`;

  /** There may be several cookies of this name: a server that sets the cookie again may use another domain. */
  const readCookies = () =>
    page.cookie
      .split(/; ?/)
      .flatMap((entry) => (entry.startsWith(begin) ? [decodeURIComponent(entry.slice(begin.length))] : []));
  /** Null for a text that is not a stored choice: other scripts of the page can write here. */
  const parse = (text: string): StoredConsent | null =>
    orElse(() => {
      const stored = bare(parsed(text) as StoredConsent);
      if (typeof stored.preferences !== 'object' || !stored.preferences) return null;
      const preferences = own(stored.preferences);
      // anything but true is no consent
      for (const category in preferences) preferences[category] = preferences[category] === true;
      stored.preferences = preferences;
      return stored;
    }, null);

  /** The newest choice. */
  const read = (): StoredConsent | null => {
    let newest = parse(storage.get(name) || '{}');
    map(orElse(readCookies, []), (text) => {
      const stored = parse(text);
      // otherwise a subdomain could set a cookie dated far ahead, which no later choice would replace
      if (stored && stored.at < now() + ahead && !(newest && newest.at >= stored.at)) newest = stored;
    });
    return newest;
  };
  /** Returns whether the cookie has the text now: it may be blocked. An empty text deletes the cookie. */
  const setCookie = (text: string, shared = ''): boolean =>
    orElse(() => {
      // the Cookie Store API is not in all browsers, nor outside TLS
      page.cookie = `${begin}${encodeURIComponent(text)}${shared};path=/;max-age=${text ? cookieAge : 0};samesite=lax${secure}`;
      return includes(readCookies(), text);
    }, false);

  const write = (stored: StoredConsent): void => {
    const text = json(stored);
    if (cookieDomain && setCookie(text, `;domain=${cookieDomain}`)) storage.remove(name);
    // if the storage has the choice, the cookie is deleted: an old choice in it would hold again once the page empties its
    // storage
    else setCookie(storage.set(name, text) ? '' : text);
  };

  return {
    read,
    write,
    /** Stores what the visitor saw when making the choice, which is too long for the cookie. */
    keepSeen: ({ at }: StoredConsent, text: string): boolean => storage.set(seen, `${at}\n${text}`),
    /** Empty for a choice that was made on another subdomain. */
    seen: (stored: StoredConsent | null): string => {
      const first = `${stored?.at}\n`;
      const text = storage.get(seen) ?? '';
      return slice(text, 0, first.length) === first ? slice(text, first.length) : '';
    },
    /** Null without a choice, or for one that has expired or was made under another policy or for other categories. */
    current: ({ asked, policyVersion, maxAgeMonths, lasting }: Terms): StoredConsent | null => {
      const stored = read();
      // `seen` begins with the time of the last choice made here. If the stored choice is older than that, a server has set
      // an old cookie again, and it must not count.
      if (!stored || stored.at < +(words(storage.get(seen) ?? '')[0] ?? 0)) return null;
      const preferences = own(stored.preferences);
      let isOld = stored.policyVersion !== policyVersion || !(stored.at > now() - maxAgeMonths * month);
      for (const category in preferences) isOld ||= !includes(asked, category);
      if (isOld || some(asked, (category) => preferences[category] === undefined)) return lasting?.(stored) ?? null;
      // it was stored before the site set a cookie domain
      if (cookieDomain && storage.get(name)) write(stored);
      return stored;
    },
  };
}
