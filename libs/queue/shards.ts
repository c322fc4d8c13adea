/**
 * Which record queues there are. Every process has its own setting, and while it changes they differ: who adds tells
 * which queues it uses, and who takes serves those too, so that no queue is left alone.
 */
import type { RedisClient } from '#libs/runtime/redis';

const shardsKey = 'assent:shards';

const range = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

export async function announceShards(client: RedisClient, count: number): Promise<void> {
  await client.sadd(shardsKey, ...range(count));
}

/** The process's own and all that were announced. */
export async function knownShards(client: RedisClient, own: number): Promise<number[]> {
  const announced = await client.smembers(shardsKey);
  return [...new Set([...range(own), ...announced.map(Number)])].sort((one, other) => one - other);
}
