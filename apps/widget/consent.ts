/** The visitor's choice on this site, stored in the browser. */
import type { Decision } from '#libs/base/terms/terms';
import { either } from '#libs/widget/attempt';
import type { Model } from '#libs/widget/config';
import { bare, includes, map, now, own, slice, some, words } from '#libs/widget/tamper-proof';
import { json, parsed } from './json.ts';
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
  /** under which it was made, where `regions` are set */
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

/** All, nothing, or category by category. */
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
/** Milliseconds by which the clock may have been set back since. */
const ahead = 300_000;
/** Milliseconds, on average. */
const month = 365.25 * 7_200_000;
const name = 'consent';
const seen = 'seen';

/**
 * With a cookie domain, all its subdomains share the choice, and where that cookie cannot be set, this origin keeps it.
 * Without one, a cookie of this host keeps what does not fit into its storage.
 */
export function openConsent(domain: string, cookieDomain: string | undefined) {
  const storage = openStorage(`assent.${domain}.`);
  const secure = location.protocol === 'https:' ? ';secure' : '';
  // no subdomain can set a cookie with that prefix
  const begin = `${secure && !cookieDomain ? '__Host-' : ''}assent_${domain}=`;

  /** Several, where a site's server that sends the cookie again has made a second one. */
  const readCookies = () =>
    page.cookie
      .split(/; ?/)
      .flatMap((entry) => (entry.startsWith(begin) ? [decodeURIComponent(entry.slice(begin.length))] : []));
  /** Other scripts of the page can write here too. */
  const parse = (text: string): StoredConsent | null =>
    either(() => {
      const kept = bare(parsed(text) as StoredConsent);
      if (typeof kept.preferences !== 'object' || !kept.preferences) return null;
      const preferences = own(kept.preferences);
      // whatever else stands there is no consent
      for (const category in preferences) preferences[category] = preferences[category] === true;
      kept.preferences = preferences;
      return kept;
    }, null);

  /** The newest. */
  const read = (): StoredConsent | null => {
    let newest = parse(storage.get(name) || '{}');
    map(either(readCookies, []), (text) => {
      const kept = parse(text);
      // a subdomain could name a time that no later choice outlasts
      if (kept && kept.at < now() + ahead && !(newest && newest.at >= kept.at)) newest = kept;
    });
    return newest;
  };
  /** Whether the choice is now in the cookie, which may be blocked. Without a text the cookie is deleted. */
  const bake = (text: string, shared = ''): boolean =>
    either(() => {
      // the Cookie Store API is not in all browsers, nor outside TLS
      page.cookie = `${begin}${encodeURIComponent(text)}${shared};path=/;max-age=${text ? cookieAge : 0};samesite=lax${secure}`;
      return includes(readCookies(), text);
    }, false);

  const write = (kept: StoredConsent): void => {
    const text = json(kept);
    if (cookieDomain && bake(text, `;domain=${cookieDomain}`)) storage.remove(name);
    // a former choice would be in force again once the page empties its storage
    else bake(storage.set(name, text) ? '' : text);
  };

  return {
    read,
    write,
    /** Keeps what the visitor saw when making the choice: it is too long for a cookie. */
    keepSeen: ({ at }: StoredConsent, text: string): boolean => storage.set(seen, `${at}\n${text}`),
    /** Empty for a choice that was made elsewhere, such as on another subdomain. */
    seen: (kept: StoredConsent | null): string => {
      const first = `${kept?.at}\n`;
      const text = storage.get(seen) ?? '';
      return slice(text, 0, first.length) === first ? slice(text, first.length) : '';
    },
    /** Null where there is no choice, or it is too old, or made under another policy or for other categories. */
    current: ({ asked, policyVersion, maxAgeMonths, lasting }: Terms): StoredConsent | null => {
      const kept = read();
      // made here since, and lost: a server has sent the former one again
      if (!kept || kept.at < +(words(storage.get(seen) ?? '')[0] ?? 0)) return null;
      const preferences = own(kept.preferences);
      let isOld = kept.policyVersion !== policyVersion || !(kept.at > now() - maxAgeMonths * month);
      for (const category in preferences) isOld ||= !includes(asked, category);
      if (isOld || some(asked, (category) => preferences[category] === undefined)) return lasting?.(kept) ?? null;
      // stored before the site set a cookie domain
      if (cookieDomain && storage.get(name)) write(kept);
      return kept;
    },
  };
}
