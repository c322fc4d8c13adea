/**
 * Fill: copies all counters of an organization from Postgres to Redis and then marks them as complete. Raises may run at
 * the same time, because a fill, too, only ever increases counters. If Redis is flushed meanwhile, the fill's nonce is gone
 * and the mark is not set.
 */
import { randomUUID } from 'node:crypto';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import { capExpiry } from '#libs/base/redis/key-expiry';
import type { Counter, PackedCounters } from '#libs/base/terms/terms';
import { fillKey, hasWrongType, raisePacked, readyKey, scripted } from '../redis-counters.ts';

/** Milliseconds after which a crashed fill no longer blocks others, counted from its last page. */
const fillLasts = 10_000;
/** counters */
const pageSize = 5_000;
/** keys asked for at once */
const readAtOnce = 500;

type CounterKey = Pick<Counter, 'domainId' | 'period'>;

/** Reads up to `limit` counters after a place, in a fixed order; `next` is the place to go on from, if there are more. */
export type ListCounters = (
  after: CounterKey | undefined,
  limit: number,
) => Promise<{ counters: PackedCounters[]; next: CounterKey | undefined }>;

/**
 * True if the organization is ready now. False if Redis is not connected, if another fill is running, or if this fill's
 * nonce is gone: after a flush, a drop, or a page that took longer than `fillLasts`.
 */
export async function fill(
  redis: RedisConnection,
  organizationId: string,
  listCounters: ListCounters,
): Promise<boolean> {
  const runId = redis.runIdOf(readyKey(organizationId));
  if (runId === undefined) return false;
  const nonce = randomUUID();
  const began = await redis.client.set(fillKey(organizationId), nonce, 'PX', fillLasts, 'NX');
  if (began === null) {
    await capExpiry(redis.client, fillKey(organizationId), fillLasts);
    return false;
  }
  try {
    if (!(await raiseAll(redis, organizationId, nonce, listCounters))) return false;
  } catch (error) {
    // lets the next fill start at once
    await redis.client.del(fillKey(organizationId)).catch(() => {});
    throw error;
  }
  const keys = [fillKey(organizationId), readyKey(organizationId)];
  return (await scripted(redis.client).assentReady(keys.length, ...keys, nonce, runId)) === 1;
}

/** False if the nonce is gone. */
async function raiseAll(
  { client }: RedisConnection,
  organizationId: string,
  nonce: string,
  listCounters: ListCounters,
): Promise<boolean> {
  let after: CounterKey | undefined;
  do {
    const { counters, next } = await listCounters(after, pageSize);
    await raisePacked(client, organizationId, counters);
    if ((await scripted(client).assentLease(1, fillKey(organizationId), nonce, fillLasts)) !== 1) return false;
    after = next;
  } while (after);
  return true;
}

export const isReady = async (redis: RedisConnection, organizationId: string): Promise<boolean> =>
  (await readyAmong(redis, [organizationId])).has(organizationId);

/** Null also if the key has another type, which only `drop` repairs. */
const markOf = (client: RedisClient, organizationId: string): Promise<string | null> =>
  client.get(readyKey(organizationId)).catch((error: unknown) => {
    if (hasWrongType(error)) return null;
    throw error;
  });

/** The organizations among these whose counters are complete in Redis. */
export async function readyAmong(redis: RedisConnection, organizationIds: string[]): Promise<Set<string>> {
  const ready = new Set<string>();
  for (let at = 0; at < organizationIds.length; at += readAtOnce) {
    const some = organizationIds.slice(at, at + readAtOnce);
    const marks = await Promise.all(some.map((id) => markOf(redis.client, id)));
    for (const [index, id] of some.entries()) {
      const mark = marks[index];
      if (mark && mark === redis.runIdOf(readyKey(id))) ready.add(id);
    }
  }
  return ready;
}
