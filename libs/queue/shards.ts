/**
 * Which record queues exist. While QUEUE_SHARDS is being changed, processes disagree: producers announce the shards that
 * they use and consumers serve those too, so that no queue is left without a consumer.
 */
import type { RedisClient } from '#libs/runtime/redis';

const shardsKey = 'assent:shards';

const range = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

export async function announceShards(client: RedisClient, count: number): Promise<void> {
  await client.sadd(shardsKey, ...range(count));
}

/** This process's own shards and all that were announced. */
export async function knownShards(client: RedisClient, own: number): Promise<number[]> {
  const announced = await client.smembers(shardsKey);
  return [...new Set([...range(own), ...announced.map(Number)])].sort((one, other) => one - other);
}
