/** One domain with its keys, kept up to date while the page is visible. */

import type { Organization } from '#libs/stats/contract';
import type { IgnoredField, Key, ManagedDomain, RefusedOrigin } from '#libs/tenants/contract';
import type { Api } from '../data/api.ts';
import type { Called } from '../data/calls.ts';
import { useLiveValue } from '../data/live-value.ts';
import { now } from '../data/service-clock.ts';

export interface DomainSnapshot {
  domain: ManagedDomain;
  /** of this version */
  tag: string | null;
  /** newest first, with those that are revoked */
  keys: Key[];
  /** origins, newest first */
  refused: RefusedOrigin[];
  /** fields, newest first */
  ignored: IgnoredField[];
}

export function useManagedDomain(api: Api, domainId: string) {
  const read = async (signal?: AbortSignal): Promise<DomainSnapshot> => {
    const [{ body, tag }, keys] = await Promise.all([
      api.manage.domain(domainId, signal),
      api.manage.keys(domainId, signal),
    ]);
    const { refusedOrigins: refused, ignoredFields: ignored, ...domain } = body;
    return { domain, tag, keys, refused, ignored };
  };
  const kept = useLiveValue(domainId, {
    read,
    merge: (before, newest) => (JSON.stringify(newest) === JSON.stringify(before) ? before : newest),
  });
  return {
    ...kept,
    /** What a change answered. */
    putDomain: ({ body, tag }: Called<ManagedDomain>) => kept.change({ domain: body, tag }),
    putKey: (key: Key) => {
      const others = kept.latest()?.keys ?? [];
      const isKnown = others.some(({ prefix }) => prefix === key.prefix);
      const keys = isKnown ? others.map((each) => (each.prefix === key.prefix ? key : each)) : [key, ...others];
      kept.change({ keys });
    },
    /** Asks anew, after what changes more than its answer says. */
    reload: async () => kept.change(await read()),
  };
}

/** With the domain as it is now, so that the menu knows it before the service is asked again. */
export function withDomain(
  organization: Organization,
  { domainId, name, archivedAt }: Pick<ManagedDomain, 'domainId' | 'name' | 'archivedAt'>,
): Organization {
  const { domains } = organization;
  const domain = { domainId, name, ...(archivedAt !== null && { archivedAt }) };
  const isKnown = domains.some((each) => each.domainId === domainId);
  return {
    ...organization,
    domains: isKnown ? domains.map((each) => (each.domainId === domainId ? domain : each)) : [...domains, domain],
  };
}

/** The published banner has a key of its own, and sets how long permissions are valid. */
export const isPublished = (keys: Key[]): boolean => keys.some(({ isOfPage }) => isOfPage);

const anHour = 3_600_000;

/** Websites that use it lose decisions when it is revoked. */
export const isUsedLately = ({ lastUsedAt }: Key): boolean =>
  lastUsedAt !== null && now() - Date.parse(lastUsedAt) < anHour;
