/** API keys as managers see them: without the key itself. */
import type { Sql } from '#libs/base/db/database';
import type { AddAct, Perform } from './audited-change.ts';
import { Archived, Refused, requireRoom } from './change-errors.ts';
import { hashApiKey, makeApiKey } from './tenants.ts';

export interface ListedKey {
  number: number;
  prefix: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** the published banner contains it */
  isOfPage: boolean;
}

/** characters of a key that stay readable: `ak_` and eight more */
const prefixLength = 11;

const keyColumns = (sql: Sql) => sql`
  number::float8 as number, prefix, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
  page_key is not null as "isOfPage"`;

/** Newest first. */
export const listKeys = (
  sql: Sql,
  { domainId, limit, after }: { domainId: string; limit: number; after?: number | undefined },
) => sql<ListedKey[]>`
  select ${keyColumns(sql)} from api_keys
  where domain_id = ${domainId} ${after === undefined ? sql`` : sql`and number < ${after}`}
  order by number desc limit ${limit}`;

/** By domain, oldest first: of all domains or of one. */
export const listAllKeys = (sql: Sql, domainId?: string) => sql<(Omit<ListedKey, 'number'> & { domainId: string })[]>`
  select domain_id as "domainId", prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
    revoked_at as "revokedAt", page_key is not null as "isOfPage"
  from api_keys where ${domainId ?? null}::text is null or domain_id = ${domainId ?? null}
  order by domain_id, created_at`;

/** The domain must be active and locked. `isOfPage`: the key stays readable. */
async function addKey(sql: Sql, note: AddAct, domainId: string, isOfPage = false) {
  const apiKey = makeApiKey();
  const hash = hashApiKey(apiKey);
  const prefix = apiKey.slice(0, prefixLength);
  const [key] = await sql<ListedKey[]>`
    insert into api_keys (hash, domain_id, prefix, page_key)
    values (decode(${hash}, 'hex'), ${domainId}, ${prefix}, ${isOfPage ? apiKey : null})
    returning ${keyColumns(sql)}`;
  if (!key) throw new Error('a key was not made');
  await note({
    act: 'key.create',
    subject: hash,
    domainId,
    details: { domainId, prefix, ...(isOfPage && { isOfPage }) },
  });
  return { domainId, apiKey, key };
}

/**
 * Creates the key of the domain's published banner unless it has an active one. The domain must be active and locked.
 */
export async function ensurePageKey(sql: Sql, note: AddAct, domainId: string): Promise<void> {
  const [inUse] = await sql`
    select from api_keys where domain_id = ${domainId} and page_key is not null and revoked_at is null`;
  if (!inUse) await addKey(sql, note, domainId, true);
}

export async function hadPageKey(sql: Sql, domainId: string): Promise<boolean> {
  const had = await sql`select from api_keys where domain_id = ${domainId} and page_key is not null limit 1`;
  return had.length > 0;
}

/** Locked before keys are revoked, so that archiving the domain at the same time also revokes their successors. */
const lockDomain = (sql: Sql, domainId: string) => sql`select from domains where id = ${domainId} for no key update`;

export const keyChanges = (perform: Perform) => ({
  /** The key is in the result and nowhere else: only its hash is stored. */
  createKey: (domainId: string, quota?: number) =>
    perform(async (sql, note) => {
      // the lock waits for a change that archives the domain, and makes concurrent requests count each other's new key
      const [domain] = await sql<{ archivedAt: Date | null }[]>`
        select archived_at as "archivedAt" from domains where id = ${domainId} for no key update`;
      if (!domain) throw new Refused(`no domain ${domainId}`);
      if (domain.archivedAt) throw new Archived(`domain ${domainId} is archived; restore it first`);
      const active = sql<{ there: number }[]>`
        select count(*)::int as there from api_keys where domain_id = ${domainId} and revoked_at is null`;
      await requireRoom(quota, 'active keys', active);
      return addKey(sql, note, domainId);
    }),

  revokeKey: (domainId: string, keyPrefix: string) =>
    perform(async (sql, note) => {
      await lockDomain(sql, domainId);
      const matches = await sql<{ hash: string; prefix: string; isOfPage: boolean }[]>`
        select encode(hash, 'hex') as hash, prefix, page_key is not null as "isOfPage" from api_keys
        where domain_id = ${domainId} and revoked_at is null
          and (starts_with(prefix, ${keyPrefix}) or hash = decode(${hashApiKey(keyPrefix)}, 'hex'))`;
      const [key] = matches;
      if (!key)
        throw new Refused(
          `domain ${domainId} has no active key that begins with ${keyPrefix}: give its prefix, of ${prefixLength} characters, or the whole key`,
        );
      if (matches.length > 1)
        throw new Refused(`${matches.length} active keys begin with ${keyPrefix}; give more of it`);
      // such as when a script's variable is empty
      if ('ak_'.startsWith(keyPrefix)) throw new Refused(`every key begins with "${keyPrefix}"; give more of it`);
      await sql`update api_keys set revoked_at = now() where hash = decode(${key.hash}, 'hex')`;
      await note({ act: 'key.revoke', subject: key.hash, domainId, details: { domainId, prefix: key.prefix } });
      if (key.isOfPage) await ensurePageKey(sql, note, domainId);
      return { domainId, prefix: key.prefix, revoked: true };
    }),

  /** `prefix`: the whole one. A revoked key is returned unchanged; undefined if there is none. */
  revokeListedKey: (domainId: string, prefix: string): Promise<ListedKey | undefined> =>
    perform(async (sql, note) => {
      await lockDomain(sql, domainId);
      const revoked = await sql<{ hash: string; isOfPage: boolean }[]>`
        update api_keys set revoked_at = clock_timestamp()
        where domain_id = ${domainId} and prefix = ${prefix} and revoked_at is null
        returning encode(hash, 'hex') as hash, page_key is not null as "isOfPage"`;
      for (const { hash, isOfPage } of revoked) {
        await note({ act: 'key.revoke', subject: hash, domainId, details: { domainId, prefix } });
        if (isOfPage) await ensurePageKey(sql, note, domainId);
      }
      const [key] = await sql<ListedKey[]>`
        select ${keyColumns(sql)} from api_keys where domain_id = ${domainId} and prefix = ${prefix}
        order by number desc limit 1`;
      return key;
    }),
});
