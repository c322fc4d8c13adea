/** Shards that QUEUE_SHARDS no longer names: once they are empty and nobody adds to them, they need no consumers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '#libs/base/redis/connection';
import { announcedShards, announceEvery, announceShards, unannounceShards } from './queue.ts';
import { openQueue } from './queue-summary.ts';

/** Milliseconds within which a producer announces its shards again; one of an older release does so every five seconds. */
const settled = 3 * announceEvery;

/**
 * Forgets the shards. If something stands in the way, throws an error that says what, and all of them stay known. If the
 * process is killed or Redis fails meanwhile, they may stay forgotten, with their jobs, until an API process whose
 * QUEUE_SHARDS has them announces them again. `patience`: milliseconds within which an API process has to announce its
 * shards.
 */
export async function forgetShards(redis: RedisConnection, shards: number[], patience = settled): Promise<void> {
  const { client } = redis;
  const announced = await announcedShards(client);
  const unknown = shards.find((shard) => !announced.includes(shard));
  if (unknown !== undefined) throw new Error(`no shard ${unknown} is known`);
  await assertNoJobs(redis, shards);
  await unannounceShards(client, shards);
  try {
    await assertNotAnnounced(redis, shards, patience);
    // a producer may have added jobs and ended meanwhile
    await assertNoJobs(redis, shards);
  } catch (error) {
    // if Redis fails here too, the first error is the one to show
    await announceShards(client, shards).catch(() => {});
    throw error;
  }
}

async function assertNotAnnounced({ client }: RedisConnection, shards: number[], patience: number): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    const announced = await announcedShards(client);
    const used = shards.find((shard) => announced.includes(shard));
    if (used !== undefined)
      throw new Error(`an API process uses shard ${used}: restart it with the new QUEUE_SHARDS first`);
    await sleep(announceEvery / 10);
  }
}

async function assertNoJobs(redis: RedisConnection, shards: number[]): Promise<void> {
  for (const shard of shards) {
    const queue = openQueue(redis, shard);
    try {
      const counts = Object.entries(await queue.getJobCounts()).filter(([, count]) => count > 0);
      const held = counts.map(([state, count]) => `${count} ${state}`).join(', ');
      if (held) throw new Error(`shard ${shard} has jobs: ${held}`);
    } finally {
      await queue.close();
    }
  }
}
