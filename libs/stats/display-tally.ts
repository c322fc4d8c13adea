/**
 * Counts displays in memory, by domain, day and values. A page's key is public and anyone may make up values: past a bound
 * these are left out, and the display still counts.
 */
import { dayOf } from '#libs/base/terms/calendar';
import type { Domain } from '#libs/tenants/tenants';
import type { DisplayBody, Displays } from './display-body.ts';

/** Different ones between two flushes: of a domain, of an organization, which has an eighth, and of all. */
export const bounds = { perDomain: 500, perOrganization: 2_500, inAll: 20_000 };

export type DisplayedOn = Pick<Domain, 'domainId' | 'organizationId'>;

export interface DisplayTally {
  /** `time`: Unix milliseconds */
  add(of: DisplayedOn, time: number, body: DisplayBody): void;
  /** What was counted since the last time. */
  take(): Displays[];
}

/** No value has a NUL. */
const separator = '\0';
const withoutValues = separator.repeat(2);

export function createDisplayTally({ perDomain, perOrganization, inAll } = bounds): DisplayTally {
  let domains = new Map<string, Map<string, number>>();
  let sizes = new Map<string, number>();
  let size = 0;
  const today = createDays();

  return {
    add: ({ domainId, organizationId }, time, { bannerVersion = '', variant = '', language = '' }) => {
      const domain = domainId + separator + today(time);
      const counts = domains.get(domain) ?? new Map<string, number>();
      if (counts.size === 0) domains.set(domain, counts);
      const wanted = bannerVersion + separator + variant + separator + language;
      const ofOrganization = sizes.get(organizationId) ?? 0;
      const isFull = counts.size >= perDomain || ofOrganization >= perOrganization || size >= inAll;
      const key = isFull && !counts.has(wanted) ? withoutValues : wanted;
      const count = counts.get(key);
      if (count === undefined) {
        size += 1;
        sizes.set(organizationId, ofOrganization + 1);
      }
      counts.set(key, (count ?? 0) + 1);
    },
    take: () => {
      const taken = domains;
      domains = new Map();
      sizes = new Map();
      size = 0;
      return [...taken].flatMap(([domain, counts]) => {
        const [domainId = '', day = ''] = domain.split(separator);
        return Array.from(counts, ([values, displays]) => {
          const [bannerVersion = '', variant = '', language = ''] = values.split(separator);
          return { domainId, day, bannerVersion, variant, language, displays };
        });
      });
    },
  };
}

/** `dayOf`, which takes longer than all else here, once for each second. */
function createDays(): (time: number) => string {
  let last = { second: Number.NaN, day: '' };
  return (time) => {
    const second = Math.floor(time / 1_000);
    if (second !== last.second) last = { second, day: dayOf(time) };
    return last.day;
  };
}
