/** One domain with its keys, polled while the page is visible. */

import type { Organization } from '#libs/stats/contract';
import type { IgnoredField, Key, ManagedDomain, RefusedOrigin } from '#libs/tenants/contract';
import type { Api } from '../data/api.ts';
import type { Called } from '../data/calls.ts';
import { useLiveValue } from '../data/live-value.ts';
import { now } from '../data/service-clock.ts';

export interface DomainSnapshot {
  domain: ManagedDomain;
  /** ETag of the domain */
  tag: string | null;
  /** newest first, including revoked ones */
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
  const live = useLiveValue(domainId, {
    read,
    merge: (before, newest) => (JSON.stringify(newest) === JSON.stringify(before) ? before : newest),
  });
  return {
    ...live,
    /** Takes the response to a change. */
    putDomain: ({ body, tag }: Called<ManagedDomain>) => live.change({ domain: body, tag }),
    putKey: (key: Key) => {
      const others = live.latest()?.keys ?? [];
      const isKnown = others.some(({ prefix }) => prefix === key.prefix);
      const keys = isKnown ? others.map((each) => (each.prefix === key.prefix ? key : each)) : [key, ...others];
      live.change({ keys });
    },
    /** Reads again, after a change whose response does not cover all its effects. */
    reload: async () => live.change(await read()),
  };
}

/** Updates the domain in the organization, so that the menu shows it before the next read. */
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

/** A published banner has a key of its own, and sets the validity of permissions. */
export const isPublished = (keys: Key[]): boolean => keys.some(({ isOfPage }) => isOfPage);

const anHour = 3_600_000;

/** Whether websites still use the key: they would lose decisions if it were revoked. */
export const isUsedLately = ({ lastUsedAt }: Key): boolean =>
  lastUsedAt !== null && now() - Date.parse(lastUsedAt) < anHour;
