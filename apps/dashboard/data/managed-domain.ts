/** One domain with its keys, kept up to date while the page is visible. */
import { useRef } from 'preact/hooks';
import type { Key, ManagedDomain, RefusedOrigin } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from './api.ts';
import { type LiveState, useLive } from './live.ts';
import { type Reading, useReading } from './reading.ts';
import type { Called } from './webhook-api.ts';

export interface DomainSnapshot {
  domain: ManagedDomain;
  /** of this version */
  tag: string | null;
  /** newest first, with those that are revoked */
  keys: Key[];
  /** origins, newest first */
  refused: RefusedOrigin[];
}

export interface DomainReading extends Reading<DomainSnapshot> {
  live: LiveState | null;
  /** What a change answered. */
  putDomain(changed: Called<ManagedDomain>): void;
  putKey(key: Key): void;
  /** Asks anew, after what changes more than its answer says. */
  reload(): Promise<void>;
}

export function useManagedDomain(api: Api, domainId: string): DomainReading {
  const read = async (signal?: AbortSignal): Promise<DomainSnapshot> => {
    const [{ body, tag }, keys] = await Promise.all([
      api.manage.domain(domainId, signal),
      api.manage.keys(domainId, signal),
    ]);
    const { refusedOrigins: refused, ...domain } = body;
    return { domain, tag, keys, refused };
  };
  const reading = useReading(domainId, read);
  const latest = useRef(reading.value);
  latest.current = reading.value;
  // an answer that was asked for before a change would show the state before it
  const changes = useRef(0);
  const put = (value: DomainSnapshot) => {
    latest.current = value;
    reading.put(value);
  };
  const change = (changed: Partial<DomainSnapshot>) => {
    changes.current += 1;
    if (latest.current) put({ ...latest.current, ...changed });
  };

  const live = useLive(reading.value ? domainId : null, {
    ask: async (signal) => ({ asOf: changes.current, newest: await read(signal) }),
    onAnswer: ({ asOf, newest }) => {
      if (asOf === changes.current && JSON.stringify(newest) !== JSON.stringify(latest.current)) put(newest);
    },
  });

  return {
    ...reading,
    live,
    putDomain: ({ body, tag }) => change({ domain: body, tag }),
    putKey: (key) => {
      const others = latest.current?.keys ?? [];
      const isKnown = others.some(({ prefix }) => prefix === key.prefix);
      const keys = isKnown ? others.map((each) => (each.prefix === key.prefix ? key : each)) : [key, ...others];
      change({ keys });
    },
    reload: async () => change(await read()),
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
