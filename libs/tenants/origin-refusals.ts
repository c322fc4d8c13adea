/**
 * Notes which origins were refused. Keys are public, and a preflight needs none, so a flood of refusals must stay cheap,
 * and that of one domain must not hide another's: an origin of a domain is written at most once a minute, all together
 * at most ten a second, by turns over organizations and over the domains of each, and no request waits for it.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { isOrigin } from '#libs/base/terms/origin';
import { noteRefusedOrigin } from './refused-origins.ts';
import type { TenantCache } from './tenant-cache.ts';

/** milliseconds */
const second = 1_000;
const minute = 60 * second;
const perSecond = 10;
/** that wait; of a domain more would only replace each other */
const most = { organizations: 10_000, domains: 100, ofDomain: 10 };
/** characters */
const longest = 255;

export interface RefusedOrigins {
  note(domainId: string, origin: string): void;
}

export function createRefusedOrigins({
  db,
  log,
  tenants,
}: {
  db: Database;
  log: Pick<Log, 'debug'>;
  tenants: Pick<TenantCache, 'knownDomain'>;
}): RefusedOrigins {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: minute });
  /** by organization, and by domain, in the order of their turns */
  const waiting = new Map<string, Map<string, string[]>>();
  let since = Number.NEGATIVE_INFINITY;
  let writes = 0;
  let timer: NodeJS.Timeout | undefined;

  const write = (domainId: string, origin: string) => {
    db.run((sql) => noteRefusedOrigin(sql, domainId, origin)).catch((error: unknown) => {
      log.debug({ err: error, domainId }, 'could not note a refused origin');
    });
  };
  /** One of each organization in turn, as many as the second still allows. */
  const writeSome = () => {
    timer = undefined;
    if (performance.now() - since >= second) {
      since = performance.now();
      writes = 0;
    }
    for (const [organizationId, domains] of waiting) {
      if (writes >= perSecond) break;
      waiting.delete(organizationId);
      const [next] = domains;
      if (!next) continue;
      const [domainId, [origin, ...others]] = next;
      domains.delete(domainId);
      if (others.length > 0) domains.set(domainId, others);
      if (domains.size > 0) waiting.set(organizationId, domains);
      if (origin === undefined) continue;
      writes += 1;
      write(domainId, origin);
    }
    if (waiting.size > 0) timer ??= setTimeout(writeSome, since + second - performance.now()).unref();
  };

  return {
    note: (domainId, origin) => {
      if (origin.length > longest) return;
      const name = `${domainId} ${origin}`;
      const organizationId = tenants.knownDomain(domainId)?.organizationId ?? domainId;
      const domains = waiting.get(organizationId) ?? new Map<string, string[]>();
      const others = domains.get(domainId) ?? [];
      const isFull =
        others.length >= most.ofDomain ||
        (others.length === 0 && domains.size >= most.domains) ||
        (domains.size === 0 && waiting.size >= most.organizations);
      if (noted.has(name) || isFull || !couldBeListed(origin)) return;
      noted.set(name, true);
      waiting.set(organizationId, domains.set(domainId, [...others, origin]));
      if (!timer) writeSome();
    },
  };
}

/** No browser sends a `*`; what a program made up must not become a wildcard on the list with one click. */
const couldBeListed = (origin: string): boolean => isOrigin(origin) && !origin.includes('*');
