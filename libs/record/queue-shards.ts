/**
 * The queues of records, one per shard: their names, which exist, and how they are closed. While QUEUE_SHARDS is being
 * changed, processes disagree: producers announce the shards that they use and consumers serve those too, so that no queue
 * is left without a consumer. A shard stays known until it is taken out, and whoever uses it soon brings it back.
 */

import { createHash } from 'node:crypto';
import type { Queue, Worker } from 'bullmq';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import { within } from '#libs/base/within';

export const queuePrefix = 'assent';
/** The braces keep all keys of a queue in one Redis Cluster slot. */
export const recordQueue = (shard: number): string => `{record-${shard}}`;
export const maintenanceQueue = '{maintenance}';

/** An organization's records always go through the same queue. */
export function shardOf(organizationId: string, shards: number): number {
  if (shards === 1) return 0;
  return createHash('sha256').update(organizationId).digest().readUInt32BE(0) % shards;
}

const shardsKey = 'assent:shards';
/** Milliseconds between the announcements of a producer: a flushed Redis forgets, and so does `queue forget`. */
export const announceEvery = 2_000;

const range = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/** `shards`: how many, or which. */
export async function announceShards(client: RedisClient, shards: number | number[]): Promise<void> {
  await client.sadd(shardsKey, ...(typeof shards === 'number' ? range(shards) : shards));
}

/** This process's own shards and all that were announced. */
export async function knownShards(client: RedisClient, own: number): Promise<number[]> {
  return [...new Set([...range(own), ...(await announcedShards(client))])].sort((one, other) => one - other);
}

/** Those that producers announced. */
export const announcedShards = async (client: RedisClient): Promise<number[]> =>
  (await client.smembers(shardsKey)).map(Number);

export async function unannounceShards(client: RedisClient, shards: number[]): Promise<void> {
  await client.srem(shardsKey, ...shards);
}

/** Milliseconds: more than a worker's longest statement. */
const closingPatience = 15_000;
const closingWithoutRedis = 1_000;

/**
 * Closes queues and workers; BullMQ itself would wait forever while Redis is down. Workers finish their current jobs. Without Redis a job cannot be completed: it is abandoned, and later delivered to
 * another worker.
 */
export async function closeAll(connection: RedisConnection, closables: (Queue | Worker)[]): Promise<void> {
  const isThere = connection.client.status === 'ready';
  const closing = Promise.all(closables.map((closable) => closable.close()));
  await within(isThere ? closingPatience : closingWithoutRedis, closing).catch(() => {});
}
