/**
 * The tombstones in Redis, because a Postgres that was restored from a backup lacks later erasures. They stay for as
 * long as backups, sorted by time, so that old ones are found without reading all.
 */

import type { Database } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import {
  listTombstones,
  listUnremembered,
  noteRemembered,
  type StoredTombstone,
  type Tombstone,
} from './tombstones.ts';

/** a sorted set, by milliseconds */
const key = 'assent:erased';
/**
 * The Redis hash that 0.1.0 writes to. Its tombstones are read, and moved to `key`. Remove it once nobody upgrades from
 * 0.1.0 any more.
 */
const former = 'assent:tombstones';

/** tombstones in one command */
const chunk = 1_000;

const memberOf = ({ organizationId, domainId, hash }: Omit<Tombstone, 'erasedAt'>): string =>
  `${organizationId}/${domainId ?? ''}/${hash}`;

/** The run_id of the server that has them; undefined while not connected. */
const serverOfTombstones = (redis: RedisConnection): string | undefined => redis.runIdOf(key);

/** Adds tombstones. Of two for one visitor the later erasure counts. */
export async function rememberTombstones(client: RedisClient, tombstones: Tombstone[]): Promise<void> {
  for (const some of chunksOf(tombstones, chunk)) {
    await client.zadd(key, 'GT', ...some.flatMap((each) => [Date.parse(each.erasedAt), memberOf(each)]));
  }
}

export async function recallTombstones(client: RedisClient): Promise<Tombstone[]> {
  const found = new Map<string, number>();
  const add = (member: string, time: number) => found.set(member, Math.max(time, found.get(member) ?? 0));
  // the old hash first: a tombstone that is moved meanwhile is then still found in the sorted set
  for await (const page of formerPages(client))
    for (const [member, erasedAt] of page) add(member, Date.parse(erasedAt));
  for await (const page of pages((cursor) => client.zscan(key, cursor, 'COUNT', chunk))) {
    for (const [member, time] of page) add(member, Number(time));
  }
  return [...found].flatMap(([member, time]) => {
    const [organizationId = '', domainId = '', hash = ''] = member.split('/');
    const erasedAt = new Date(time).toISOString();
    return hash === '' ? [] : [{ organizationId, domainId: domainId || null, hash, erasedAt }];
  });
}

/** Deletes tombstones older than `before`, which is older than any backup. */
export async function forgetTombstones(client: RedisClient, before: Date): Promise<void> {
  await moveFormer(client);
  await client.zremrangebyscore(key, '-inf', `(${before.getTime()}`);
}

/** Deletes the tombstones of a deleted organization. */
export async function forgetTombstonesOf(client: RedisClient, organizationId: string): Promise<void> {
  const theirs = (await recallTombstones(client))
    .filter((each) => each.organizationId === organizationId)
    .map(memberOf);
  for (const some of chunksOf(theirs, chunk)) {
    await client.hdel(former, ...some);
    await client.zrem(key, ...some);
  }
}

const formerPages = (client: RedisClient) => pages((cursor) => client.hscan(former, cursor, 'COUNT', chunk));

/** Deletes fields whose value has not changed: the arguments are a field and its value in turn. */
const deleteUnchanged = `
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end`;

async function moveFormer(client: RedisClient): Promise<void> {
  if ((await client.exists(former)) === 0) return;
  for await (const page of formerPages(client)) {
    for (const some of chunksOf(page, chunk)) {
      await client.zadd(key, 'GT', ...some.flatMap(([member, erasedAt]) => [Date.parse(erasedAt), member]));
      await client.eval(deleteUnchanged, 1, former, ...some.flat());
    }
  }
}

/** The pages of a scan. An entry that is changed meanwhile may come twice. */
async function* pages(scan: (cursor: string) => Promise<[string, string[]]>): AsyncGenerator<[string, string][]> {
  let cursor = '0';
  do {
    const [next, found] = await scan(cursor);
    const page: [string, string][] = [];
    for (let at = 0; at < found.length; at += 2) page.push([found[at] ?? '', found[at + 1] ?? '']);
    if (page.length > 0) yield page;
    cursor = next;
  } while (cursor !== '0');
}

/**
 * Returns a round that copies to Redis every tombstone not yet noted as copied, whether or not the API added it. If Redis
 * is another server than before, it copies all of them, because that server may lack the newest.
 */
export function createTombstoneCopy({ redis, db }: { redis: RedisConnection; db: Database }): () => Promise<void> {
  /** the run_id of the server that has all of them */
  let known: string | undefined;
  const add = async (some: StoredTombstone[]) => {
    await rememberTombstones(redis.client, some);
    await db.write((sql) => noteRemembered(sql, some));
  };
  return async () => {
    const server = serverOfTombstones(redis);
    if (server === undefined) return;
    if (server !== known) for await (const page of listTombstones(db, chunk)) await add(page);
    known = server;
    for (let missing = chunk; missing === chunk; ) {
      const some = await db.read((sql) => listUnremembered(sql, chunk));
      if (some.length > 0) await add(some);
      missing = some.length;
    }
  };
}
