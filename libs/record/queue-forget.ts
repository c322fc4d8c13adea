/** Shards that QUEUE_SHARDS names no more: once nothing is in them and nobody adds to them, they need no consumers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisConnection } from '#libs/base/redis/connection';
import { announcedShards, announceEvery, announceShards, unannounceShards } from './queue.ts';
import { openToRead } from './queue-summary.ts';

/** Milliseconds within which whoever adds to a shard announces it again: those of an older release after five seconds. */
const settled = 3 * announceEvery;

/**
 * Throws an error that names an obstacle; then all of them stay known. Where the process is killed or Redis fails
 * meanwhile, they may stay forgotten, with their jobs: an API process whose QUEUE_SHARDS has them makes them known again.
 * `patience`: milliseconds in which an API process has to announce what it uses.
 */
export async function forgetShards(redis: RedisConnection, shards: number[], patience = settled): Promise<void> {
  const { client } = redis;
  const announced = await announcedShards(client);
  const unknown = shards.find((shard) => !announced.includes(shard));
  if (unknown !== undefined) throw new Error(`no shard ${unknown} is known`);
  await refuseJobs(redis, shards);
  await unannounceShards(client, shards);
  try {
    await refuseAnnouncements(redis, shards, patience);
    // of a process that has ended meanwhile
    await refuseJobs(redis, shards);
  } catch (error) {
    // where Redis fails here too, the first error says what was in the way
    await announceShards(client, shards).catch(() => {});
    throw error;
  }
}

async function refuseAnnouncements({ client }: RedisConnection, shards: number[], patience: number): Promise<void> {
  const end = performance.now() + patience;
  while (performance.now() < end) {
    const announced = await announcedShards(client);
    const used = shards.find((shard) => announced.includes(shard));
    if (used !== undefined)
      throw new Error(`an API process uses shard ${used}: restart it with the new QUEUE_SHARDS first`);
    await sleep(announceEvery / 10);
  }
}

async function refuseJobs(redis: RedisConnection, shards: number[]): Promise<void> {
  for (const shard of shards) {
    const queue = openToRead(redis, shard);
    try {
      const counts = Object.entries(await queue.getJobCounts()).filter(([, count]) => count > 0);
      const held = counts.map(([state, count]) => `${count} ${state}`).join(', ');
      if (held) throw new Error(`shard ${shard} has jobs: ${held}`);
    } finally {
      await queue.close();
    }
  }
}
