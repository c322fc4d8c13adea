/**
 * Frees jobs that a wrong clock has stranded. A worker sets the time of the next delivery by its own clock. Redis expires
 * job locks, and the key that spaces out the checks for stalled jobs, by its own. If such a clock was ahead and was then
 * corrected, the job stays out of reach for as long as the clock was ahead.
 */
import { Job } from 'bullmq';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import { capExpiry } from '#libs/base/redis/key-expiry';
import { closeAll, knownShards, lockLasts, queuePrefix, recordQueue, stalledCheckedEvery } from './queue.ts';
import { openQueue } from './queue-summary.ts';

/** Milliseconds: far longer than any job waits for its next attempt, or for a newer worker. */
const longest = 2 * 3_600_000;
/** BullMQ's score of a delayed job: when it is due, and twelve bits that keep the order. */
const scoreOf = (time: number): number => time * 0x1000;
/** jobs of a shard at once */
const atOnce = 1_000;

/**
 * Delivers at once every job that is delayed for longer, by the clock of Redis, than we ever delay one. Returns their
 * number.
 */
export async function promoteStray(redis: RedisConnection, own: number): Promise<number> {
  const { client } = redis;
  const [seconds] = await client.time();
  const least = scoreOf(Number(seconds) * 1_000 + longest);
  let promoted = 0;
  for (const shard of await knownShards(client, own)) {
    const queueKey = `${queuePrefix}:${recordQueue(shard)}`;
    await dropOverlongLocks(client, queueKey);
    const ids = await client.zrangebyscore(`${queueKey}:delayed`, least, '+inf', 'LIMIT', 0, atOnce);
    if (ids.length === 0) continue;
    const queue = openQueue(redis, shard);
    try {
      for (const id of ids) {
        const job: Job | undefined = await Job.fromId(queue, id);
        await job?.promote();
        promoted += 1;
      }
    } finally {
      await closeAll(redis, [queue]);
    }
  }
  return promoted;
}

/**
 * Deletes locks that would last too long. A worker that still has such a job loses only its lock: the job may be delivered
 * twice, but its records are stored once.
 */
async function dropOverlongLocks(client: RedisClient, queueKey: string): Promise<void> {
  await capExpiry(client, `${queueKey}:stalled-check`, stalledCheckedEvery);
  for (const id of await client.lrange(`${queueKey}:active`, 0, atOnce))
    await capExpiry(client, `${queueKey}:${id}:lock`, lockLasts);
}
