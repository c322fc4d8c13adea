/**
 * Organizations in memory, bounded by their size. After a change only what changed is read again: the organization's
 * own row, and the rows of the domains that acts named. So an organization with ten thousand domains may change them
 * all day.
 */
import { LRUCache } from 'lru-cache';
import { Batcher } from '#libs/base/batcher';
import type { Database } from '#libs/base/db/database';
import { findOrganizations, mostRevoked, type Organization, type OwnDomain } from './tenants.ts';

/** Bytes. An organization at its limits of domains and revoked tokens takes about ten million. */
const usualMostBytes = 128 * 1024 * 1024;

/** Organizations in one query: each waits for the others, and a large one takes a tenth of a second. */
const atOnce = 8;

interface KnownOrganizations {
  /** Rejects while Postgres is down, unless the organization is in memory and unchanged. */
  get(organizationId: string): Promise<Organization | null>;
  /** `domainId`: also re-reads this domain. */
  changed(organizationId: string, domainId?: string): void;
  revoked(organizationId: string, jti: string): void;
  allChanged(): void;
  clear(): void;
}

interface Known {
  organization: Organization;
  bytes: number;
  /** domains to read again */
  changedDomains: Set<string>;
  /** nothing is to be read again */
  isCurrent: boolean;
  /** changes reported so far */
  changes: number;
}

interface KnownOrganizationsOptions {
  /** Milliseconds: how long an organization that was not found is taken not to exist. */
  unknownFor: number;
  /** milliseconds */
  lookupTimeout: number;
  /** Whether changes are followed: until then nothing is cached. */
  isFollowing: () => boolean;
  mostBytes?: number | undefined;
}

export function createKnownOrganizations(
  db: Database,
  { unknownFor, lookupTimeout, isFollowing, mostBytes = usualMostBytes }: KnownOrganizationsOptions,
): KnownOrganizations {
  const known = new LRUCache<string, Known>({
    max: 10_000,
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownFor });
  /** those that are being read as a whole, without those that changed meanwhile */
  let loading = new Set<string>();

  const load = async (ids: string[]): Promise<Map<string, Organization>> => {
    if (ids.length === 0) return new Map();
    loading = new Set(isFollowing() ? ids : []);
    const found = await db.read((sql) => findOrganizations(sql, ids), { deadline: lookupTimeout });
    for (const [id, organization] of found) {
      if (!loading.has(id)) continue;
      const bytes = sizeOf(organization);
      known.set(id, { organization, bytes, changedDomains: new Set(), isCurrent: true, changes: 0 });
    }
    return found;
  };

  const refresh = async (all: Map<string, Known>): Promise<Map<string, Organization>> => {
    if (all.size === 0) return new Map();
    const asked = [...all].map(([id, entry]) => ({ id, entry, before: entry.changes, ids: [...entry.changedDomains] }));
    const ids = asked.flatMap((each) => each.ids);
    const found = await db.read((sql) => findOrganizations(sql, [...all.keys()], ids), { deadline: lookupTimeout });
    for (const { id, entry, before, ids } of asked) {
      const fresh = found.get(id);
      if (!fresh) {
        known.delete(id);
        continue;
      }
      const { domains, revokedTokens } = entry.organization;
      const grown = sizeOfPeople(fresh) - sizeOfPeople(entry.organization);
      const bytes = entry.bytes + grown + putDomains(domains, ids, fresh.domains);
      const organization = { ...fresh, domains, revokedTokens };
      found.set(id, organization);
      // it may have been forgotten meanwhile, or changed once more
      if (known.peek(id) !== entry) continue;
      const isCurrent = entry.changes === before;
      const changedDomains = isCurrent ? new Set<string>() : entry.changedDomains;
      known.set(id, { ...entry, organization, bytes, changedDomains, isCurrent });
    }
    return found;
  };

  /** One query runs at a time; lookups that arrive meanwhile share the next one. */
  const batcher = new Batcher<string, Map<string, Organization>>({
    run: async (ids) => {
      const current = new Map<string, Organization>();
      const entries = new Map<string, Known>();
      const rest = new Set<string>();
      for (const id of ids) {
        const one = known.peek(id);
        if (one?.isCurrent) current.set(id, one.organization);
        else if (one) entries.set(id, one);
        else rest.add(id);
      }
      const [loaded, refreshed] = [await load([...rest]), await refresh(entries)];
      return new Map([...current, ...loaded, ...refreshed]);
    },
    maxBatch: atOnce,
    maxPending: 5_000,
    patience: lookupTimeout,
  });

  return {
    get: async (organizationId) => {
      const entry = known.get(organizationId);
      if (entry?.isCurrent) return entry.organization;
      if (unknown.has(organizationId)) return null;
      const found = (await batcher.add(organizationId)).get(organizationId);
      if (!found) unknown.set(organizationId, true);
      return found ?? null;
    },
    changed: (organizationId, domainId) => {
      unknown.delete(organizationId);
      loading.delete(organizationId);
      const entry = known.peek(organizationId);
      if (!entry) return;
      if (domainId !== undefined) entry.changedDomains.add(domainId);
      entry.isCurrent = false;
      entry.changes += 1;
    },
    revoked: (organizationId, jti) => {
      loading.delete(organizationId);
      const entry = known.peek(organizationId);
      if (!entry) return;
      entry.organization.revokedTokens.add(jti);
      // those that have expired stay until all are read again
      if (entry.organization.revokedTokens.size > 2 * mostRevoked) known.delete(organizationId);
      else known.set(organizationId, { ...entry, bytes: entry.bytes + sizeOfToken(jti) });
    },
    allChanged: () => {
      loading.clear();
      for (const entry of known.values()) {
        entry.isCurrent = false;
        entry.changes += 1;
      }
    },
    clear: () => {
      loading.clear();
      known.clear();
      unknown.clear();
    },
  };
}

/** Replaces the domains that were read again. Returns by how many bytes the organization grew. */
function putDomains(domains: Map<string, OwnDomain>, ids: string[], fresh: Map<string, OwnDomain>): number {
  let grown = 0;
  for (const id of ids) {
    const [before, after] = [domains.get(id), fresh.get(id)];
    grown += (after ? sizeOfDomain(after) : 0) - (before ? sizeOfDomain(before) : 0);
    if (after) domains.set(id, after);
    else domains.delete(id);
  }
  return grown;
}

/** Bytes, with what an object and a place in a table cost. */
const sizeOfDomain = ({ domainId, name }: OwnDomain): number => 200 + 2 * (domainId.length + name.length);
const sizeOfToken = (jti: string): number => 100 + 2 * jti.length;
const sizeOfPeople = ({ people }: Organization): number => 300 * people.size;

function sizeOf(organization: Organization): number {
  const { domains, revokedTokens } = organization;
  let bytes = 1_000 + sizeOfPeople(organization);
  for (const domain of domains.values()) bytes += sizeOfDomain(domain);
  for (const jti of revokedTokens) bytes += sizeOfToken(jti);
  return bytes;
}
