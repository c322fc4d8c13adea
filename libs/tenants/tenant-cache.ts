/**
 * Tenants in memory: no query per request, and known keys go on working while Postgres is away.
 * Twice a second the process asks which administrative acts are new and forgets what they changed, so a revoked key
 * stops within a second in every process.
 */
import { LRUCache } from 'lru-cache';
import { Batcher } from '#libs/base/batcher';
import type { Database, Sql } from '#libs/base/db/database';
import { every, type Rounds } from '#libs/base/every';
import type { Log } from '#libs/base/ops/log';
import { domainIdPattern } from '#libs/base/terms/terms';
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
/** Bytes of domains by their keys, and as many by their ids: their lists of origins may be long. */
const mostBytes = 64 * 1024 * 1024;
/** Milliseconds: short enough that a request that needs a lookup is still answered in time. */
const lookupTimeout = 1_500;

interface Act {
  id: number;
  act: string;
  subject: string;
  organizationId: string | null;
  /** of a revoked token */
  jti: string | null;
}

export interface TenantCache {
  /** The domain that `apiKey` may record for; null for an unknown or revoked key. Rejects while Postgres is away. */
  domainOfKey(apiKey: string): Promise<Domain | null>;
  /** The same without looking anything up: undefined where this process does not know the key. */
  knownDomainOfKey(apiKey: string): Domain | undefined;
  domain(domainId: string): Promise<Domain | null>;
  knownDomain(domainId: string): Domain | undefined;
  organization(organizationId: string): Promise<Organization | null>;
  /** Starts following changes; call once, and `close` at the end. */
  follow(): Promise<void>;
  /** Forgets at once what was changed until now: for who changes and then reads. Never rejects. */
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

  /** One query runs at a time; lookups that arrive meanwhile share the next one. */
  function lookup<Found extends Domain>(
    max: number,
    find: (sql: Sql, ids: string[]) => Promise<Map<string, Found>>,
    groupOf: (found: Found) => string = () => '',
  ) {
    /** ids by group, since to look through all that is known would hold up a process for tens of milliseconds */
    const groups = new Map<string, Set<string>>();
    const known = new LRUCache<string, Found>({
      max,
      maxSize: mostBytes,
      sizeCalculation: sizeOf,
      dispose: (found, id) => {
        const group = groups.get(groupOf(found));
        group?.delete(id);
        if (group?.size === 0) groups.delete(groupOf(found));
      },
    });
    const keep = (id: string, found: Found) => {
      known.set(id, found);
      groups.set(groupOf(found), (groups.get(groupOf(found)) ?? new Set()).add(id));
    };
    const unknown = new LRUCache<string, true>({ max: 10_000, ttl: unknownFor });
    const batcher = new Batcher<string, Map<string, Found>>({
      run: (ids) => db.read((sql) => find(sql, [...new Set(ids)]), { deadline: lookupTimeout }),
      maxBatch: 500,
      maxPending: 5_000,
      patience: lookupTimeout,
    });
    const get = async (id: string): Promise<Found | null> => {
      const cached = known.get(id);
      if (cached) return cached;
      if (unknown.has(id)) return null;
      const asked = generation;
      const found = (await batcher.add(id)).get(id);
      if (!found) {
        unknown.set(id, true);
        return null;
      }
      // an act seen while the query ran may have changed what it read
      if (lastAct !== undefined && asked === generation) keep(id, found);
      return found;
    };
    return {
      get,
      known: (id: string) => known.get(id),
      forget: (id: string) => {
        known.delete(id);
        unknown.delete(id);
      },
      forgetWhere: (isConcerned: (found: Found) => boolean) => {
        for (const [id, found] of [...known]) if (isConcerned(found)) known.delete(id);
      },
      forgetGroup: (group: string) => {
        for (const id of [...(groups.get(group) ?? [])]) known.delete(id);
      },
      clear: () => {
        known.clear();
        unknown.clear();
      },
    };
  }

  const keys = lookup(50_000, domainsOfKeys, ({ domainId }) => domainId);
  /** only of valid keys, so that guesses take no memory */
  const hashes = new LRUCache<string, string>({ max: 50_000 });
  const domains = lookup(50_000, findDomains);
  const organizations = createKnownOrganizations(db, {
    unknownFor,
    lookupTimeout,
    isFollowing: () => lastAct !== undefined,
    mostBytes: organizationBytes,
  });

  const forgetAll = () => {
    for (const cache of [keys, domains, organizations]) cache.clear();
  };

  /** An act's name is `noun.verb`; its subject is the changed thing's id (for a key: its hash). */
  const forget = ({ act, subject, organizationId, jti }: Act) => {
    const noun = act.split('.')[0];
    if (noun === 'key') keys.forget(subject);
    else if (act === 'org.revoke-token' && jti !== null) organizations.revoked(subject, jti);
    else if (noun === 'org') {
      organizations.changed(subject);
      if (act === 'org.close') forgetDomainsOf(subject);
    } else if (noun === 'plan') organizations.allChanged();
    else if (noun === 'domain') {
      domains.forget(subject);
      // all others stay known: theirs would be refused where guesses of others have used up the limit
      keys.forgetGroup(subject);
      if (organizationId === null) organizations.clear();
      else organizations.changed(organizationId, subject);
    }
  };

  const forgetDomainsOf = (owner: string) => {
    for (const cache of [domains, keys]) cache.forgetWhere(({ organizationId }) => organizationId === owner);
  };

  const ask = async () => {
    const acts = await db.read(
      (sql) => sql<(Act & { newest: number; newestAt: string | null; lastAt: string | null })[]>`
        with newest as (select coalesce(max(id), 0) as newest from administrative_acts)
        select newest, (select at::text from administrative_acts where id = newest) as "newestAt",
          (select at::text from administrative_acts where id = ${lastAct ?? -1}) as "lastAt",
          a.id, a.act, a.subject, a.organization_id as "organizationId", a.details ->> 'jti' as jti
        from newest left join administrative_acts a on a.id > ${lastAct ?? -1} and ${lastAct !== undefined}
        order by a.id`,
      { deadline: 2_000 },
    );
    const { newest = 0, newestAt = null, lastAt = null } = acts[0] ?? {};
    // a restored or promoted database may lack acts that were seen here, and hide that with new ones; where it has the
    // last, it has all before
    const hasLast = lastAct !== undefined && lastAt === lastActAt;
    if (hasLast && newest === lastAct) return;
    generation += 1;
    if (!hasLast) forgetAll();
    else for (const act of acts) if (act.act) forget(act);
    lastAct = newest;
    lastActAt = newestAt;
  };

  /** When keys were last used, of those used since the last note; all are noted together. */
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
    // apart from the polls: a revoked key must stop however long a note takes, and whether or not it succeeds
    notes = every({
      name: 'note_key_use',
      pace: noteUseEvery,
      // an outage is the polls' to report
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
      const domain = hash === undefined ? undefined : keys.known(hash);
      if (domain && hash) used.set(hash, Date.now());
      return domain;
    },
    // the id comes unchecked from the path: a NUL, which Postgres refuses, would fail every lookup in the query
    domain: async (domainId) => (domainIdPattern.test(domainId) ? domains.get(domainId) : null),
    knownDomain: domains.known,
    organization: organizations.get,
    follow,
    catchUp: async () => polls?.now(),
    close: () => {
      void polls?.stop();
      void notes?.stop();
    },
  };
}

/** Bytes, with what an object and its places in tables cost. */
const sizeOf = ({ domainId, organizationId, name, origins }: Domain): number =>
  origins.reduce(
    (sum, { length }) => sum + 40 + 2 * length,
    400 + 2 * (domainId.length + organizationId.length + name.length),
  );
