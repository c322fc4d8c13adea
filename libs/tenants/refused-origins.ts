/**
 * Origins that a domain refused, so that whoever manages it learns which one is missing from its list. Keys are public, and
 * a preflight needs none, so a flood of refusals must stay cheap, and that of one domain must not hide another's: an origin
 * of a domain is written at most once a minute, all together at most ten a second, by turns over organizations and over the
 * domains of each, and no request waits for it.
 */

import { LRUCache } from 'lru-cache';
import type { Database, Sql } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { isOrigin } from '#libs/base/terms/origin';
import type { TenantCache } from './tenant-cache.ts';

/** of a domain: the newest */
const stored = 10;

export interface RefusedOrigin {
  origin: string;
  refusedAt: Date;
}

/** Makes room by deleting the domain's oldest, and those of more than 30 days ago. */
const noteRefusedOrigin = (sql: Sql, domainId: string, origin: string) => sql`
  with noted as (
    insert into refused_origins (domain_number, origin)
    select number, ${origin} from domains where id = ${domainId}
    on conflict (domain_number, origin) do update set refused_at = excluded.refused_at
    returning domain_number
  ),
  others as (
    select domain_number, origin, refused_at, row_number() over (order by refused_at desc) as place
    from refused_origins join noted using (domain_number)
    where origin <> ${origin}
  )
  delete from refused_origins r using others o
  where r.domain_number = o.domain_number and r.origin = o.origin
    and (o.place >= ${stored} or o.refused_at < now() - interval '30 days')`;

/** Newest first. */
export const listRefusedOrigins = (sql: Sql, domainNumber: number) => sql<RefusedOrigin[]>`
  select origin, refused_at as "refusedAt" from refused_origins
  where domain_number = ${domainNumber} and refused_at > now() - interval '30 days'
  order by refused_at desc, origin limit ${stored}`;

/** milliseconds */
const second = 1_000;
const minute = 60 * second;
const perSecond = 10;
/** that wait; of a domain more would only replace each other */
const most = { organizations: 10_000, domains: 100, ofDomain: 10 };
/** characters */
const longest = 255;

export interface RefusedOriginLog {
  note(domainId: string, origin: string): void;
}

export function createRefusedOriginLog({
  db,
  log,
  tenants,
}: {
  db: Database;
  log: Pick<Log, 'debug'>;
  tenants: Pick<TenantCache, 'knownDomain'>;
}): RefusedOriginLog {
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
