/**
 * Tenants in memory: no query per request, and known keys work while Postgres is down. Twice a second the process asks
 * for new administrative acts and forgets what they changed, so a revoked key stops within a second in every process.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { domainIdPattern } from '#libs/base/terms/terms';
import { every, type Rounds } from '#libs/base/timers';
import { type NewAct, readActsSince } from './acts.ts';
import { createKnownDomains } from './known-domains.ts';
import { createKnownOrganizations } from './known-organizations.ts';
import {
  apiKeyPattern,
  type Domain,
  domainsOfKeys,
  findDomains,
  hashApiKey,
  noteKeyUse,
  type Organization,
} from './tenants.ts';

/** Milliseconds after which an unknown key or id is looked up again, so that a new one works almost at once. */
const unknownFor = 500;
const pollEvery = 500;
/** Milliseconds: `last_used_at` of a key is accurate to within this. */
const usualNoteUseEvery = 30_000;
/** Milliseconds: short enough that a request that needs a lookup gets its response in time. */
const lookupTimeout = 1_500;

export interface TenantCache {
  /** The domain that `apiKey` may record for; null for an unknown or revoked key. Rejects while Postgres is away. */
  domainOfKey(apiKey: string): Promise<Domain | null>;
  /** The same without looking anything up: undefined where this process does not know the key. */
  knownDomainOfKey(apiKey: string): Domain | undefined;
  domain(domainId: string): Promise<Domain | null>;
  knownDomain(domainId: string): Domain | undefined;
  organization(organizationId: string): Promise<Organization | null>;
  /**
   * Calls `listener` with the new acts once this cache has forgotten what they changed; undefined: anything may have
   * changed.
   */
  onActs(listener: (acts: NewAct[] | undefined) => void): void;
  /** Starts following changes; call once, and `close` at the end. */
  follow(): Promise<void>;
  /** Forgets at once what was changed until now, for a read that follows a change. Never rejects. */
  catchUp(): Promise<void>;
  close(): void;
}

export function createTenantCache(
  db: Database,
  log: Pick<Log, 'warn'>,
  { noteUseEvery = usualNoteUseEvery, organizationBytes }: { noteUseEvery?: number; organizationBytes?: number } = {},
): TenantCache {
  let lastAct: number | undefined;
  let lastActAt: string | null = null;
  let generation = 0;
  const listeners: ((acts: NewAct[] | undefined) => void)[] = [];

  const isFollowing = () => lastAct !== undefined;
  const ofDomains = { unknownFor, lookupTimeout, asOf: () => (isFollowing() ? generation : undefined) };
  const keys = createKnownDomains(db, { ...ofDomains, find: domainsOfKeys, haveSeveral: true });
  /** only of valid keys, so that guesses take no memory */
  const hashes = new LRUCache<string, string>({ max: 50_000 });
  const domains = createKnownDomains(db, { ...ofDomains, find: findDomains });
  const organizations = createKnownOrganizations(db, {
    unknownFor,
    lookupTimeout,
    isFollowing,
    mostBytes: organizationBytes,
  });

  const forgetAll = () => {
    for (const cache of [keys, domains, organizations]) cache.clear();
  };

  /** An act's name is `noun.verb`; its subject is the changed thing's id (for a key: its hash). */
  const forget = ({ act, subject, organizationId, jti }: NewAct) => {
    const noun = act.split('.')[0];
    if (noun === 'key') keys.forget(subject);
    else if (act === 'org.revoke-token' && jti !== null) organizations.revoked(subject, jti);
    else if (noun === 'org') {
      organizations.changed(subject);
      if (act === 'org.close') forgetDomainsOf(subject);
    } else if (noun === 'plan') organizations.allChanged();
    else if (noun === 'person' && organizationId !== null) organizations.changed(organizationId);
    else if (noun === 'domain') {
      domains.forget(subject);
      // only this domain's keys, not all: a valid key that is not in memory is refused while its client's address is over
      // the limit on failures
      keys.forgetDomain(subject);
      if (organizationId === null) organizations.clear();
      else organizations.changed(organizationId, subject);
    }
  };

  const forgetDomainsOf = (owner: string) => {
    for (const cache of [domains, keys]) cache.forgetWhere(({ organizationId }) => organizationId === owner);
  };

  const ask = async () => {
    const { acts, newest, newestAt, lastAt } = await db.read((sql) => readActsSince(sql, lastAct), { deadline: 2_000 });
    // a restored or promoted database may lack acts seen here, and reuse their ids; if it has the last one, it has all
    // before it
    const hasLast = lastAct !== undefined && lastAt === lastActAt;
    if (hasLast && newest === lastAct) return;
    generation += 1;
    if (!hasLast) forgetAll();
    else for (const act of acts) forget(act);
    for (const listener of listeners) listener(hasLast ? acts : undefined);
    lastAct = newest;
    lastActAt = newestAt;
  };

  /** Last use of each key that was used since the last write. One statement writes them all. */
  let used = new Map<string, number>();
  const noteUse = async () => {
    if (used.size === 0) return;
    const noted = used;
    used = new Map();
    await db.write((sql) => noteKeyUse(sql, noted));
  };

  let polls: Rounds | undefined;
  let notes: Rounds | undefined;
  const follow = () => {
    const followed = every({
      name: 'poll_tenants',
      pace: pollEvery,
      task: ask,
      failed: (error, isNews) => {
        if (isNews) log.warn({ err: error }, 'cannot poll Postgres for changed tenants');
      },
    });
    polls = followed;
    // in a loop separate from the polls: a revoked key must stop working however long this write takes, and even if it
    // fails
    notes = every({
      name: 'note_key_use',
      pace: noteUseEvery,
      // the polls report an outage
      task: async () => (followed.isWell() ? noteUse() : undefined),
      failed: (error, isNews) => {
        if (isNews) log.warn({ err: error }, 'could not note which API keys were used');
      },
    });
    return followed.now();
  };

  return {
    domainOfKey: async (apiKey) => {
      let hash = hashes.get(apiKey);
      if (hash === undefined) {
        if (!apiKeyPattern.test(apiKey)) return null;
        hash = hashApiKey(apiKey);
      }
      const domain = await keys.get(hash);
      if (domain) {
        hashes.set(apiKey, hash);
        used.set(hash, Date.now());
      }
      return domain;
    },
    knownDomainOfKey: (apiKey) => {
      const hash = hashes.get(apiKey);
      const domain = hash === undefined ? undefined : keys.known.get(hash);
      if (domain && hash) used.set(hash, Date.now());
      return domain;
    },
    // the id comes unchecked from the path: a NUL, which Postgres refuses, would fail every lookup in the query
    domain: async (domainId) => (domainIdPattern.test(domainId) ? domains.get(domainId) : null),
    knownDomain: (domainId) => domains.known.get(domainId),
    organization: organizations.get,
    onActs: (listener) => void listeners.push(listener),
    follow,
    catchUp: async () => polls?.now(),
    close: () => {
      void polls?.stop();
      void notes?.stop();
    },
  };
}
