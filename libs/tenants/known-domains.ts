/** Domains in memory, by their ids or by the hashes of their keys, bounded by their size. */
import { LRUCache } from 'lru-cache';
import { Batcher } from '#libs/base/batcher';
import type { Database, Sql } from '#libs/base/db/database';
import type { Domain } from './tenants.ts';

/** Bytes: lists of origins may be long. */
const mostBytes = 64 * 1024 * 1024;
const most = 50_000;

interface KnownDomains {
  /** Rejects while Postgres is down, unless the domain is in memory. */
  get(id: string): Promise<Domain | null>;
  /** The domains in memory; nothing is looked up. */
  known: LRUCache<string, Domain>;
  forget(id: string): void;
  /** Under all ids that the domain has. */
  forgetDomain(domainId: string): void;
  forgetWhere(isConcerned: (domain: Domain) => boolean): void;
  clear(): void;
}

interface KnownDomainsOptions {
  find: (sql: Sql, ids: string[]) => Promise<Map<string, Domain>>;
  /** A domain may have several of these ids, as it may have several keys. */
  haveSeveral?: boolean;
  /** Milliseconds: how long an id that was not found is taken not to exist. */
  unknownFor: number;
  /** milliseconds */
  lookupTimeout: number;
  /** The last change that is known; undefined until changes are followed, and nothing is cached until then. */
  asOf: () => number | undefined;
}

/** One query runs at a time; lookups that arrive meanwhile share the next one. */
export function createKnownDomains(
  db: Database,
  { find, haveSeveral = false, unknownFor, lookupTimeout, asOf }: KnownDomainsOptions,
): KnownDomains {
  /** ids by domain, because a scan of the cache would block the process for tens of milliseconds */
  const idsOf = new Map<string, Set<string>>();
  const known = new LRUCache<string, Domain>({
    max: most,
    maxSize: mostBytes,
    sizeCalculation: sizeOf,
    dispose: ({ domainId }, id) => {
      const ids = idsOf.get(domainId);
      ids?.delete(id);
      if (ids?.size === 0) idsOf.delete(domainId);
    },
  });
  const keep = (id: string, found: Domain) => {
    known.set(id, found);
    if (haveSeveral) idsOf.set(found.domainId, (idsOf.get(found.domainId) ?? new Set()).add(id));
  };
  const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownFor });
  const batcher = new Batcher<string, Map<string, Domain>>({
    run: (ids) => db.read((sql) => find(sql, [...new Set(ids)]), { deadline: lookupTimeout }),
    maxBatch: 500,
    maxPending: 5_000,
    patience: lookupTimeout,
  });
  return {
    get: async (id) => {
      const cached = known.get(id);
      if (cached) return cached;
      if (unknown.has(id)) return null;
      const asked = asOf();
      const found = (await batcher.add(id)).get(id);
      if (!found) {
        unknown.set(id, true);
        return null;
      }
      // an act seen while the query ran may have changed what it read
      if (asked !== undefined && asked === asOf()) keep(id, found);
      return found;
    },
    known,
    forget: (id) => {
      known.delete(id);
      unknown.delete(id);
    },
    forgetDomain: (domainId) => {
      for (const id of [...(idsOf.get(domainId) ?? [])]) known.delete(id);
    },
    forgetWhere: (isConcerned) => {
      for (const [id, found] of [...known]) if (isConcerned(found)) known.delete(id);
    },
    clear: () => {
      known.clear();
      unknown.clear();
    },
  };
}

/** Bytes, with the overhead of the object and of its Map entries. */
const sizeOf = ({ domainId, organizationId, name, origins }: Domain): number =>
  origins.reduce(
    (sum, { length }) => sum + 40 + 2 * length,
    400 + 2 * (domainId.length + organizationId.length + name.length),
  );
