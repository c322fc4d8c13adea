/**
 * Jobs that a wrong clock keeps from everybody for as long as it was ahead. A worker writes by its own clock when a job is
 * delivered again. Redis ends by its own clock what a job in hand is locked by, and how often workers look for jobs of those
 * that are gone.
 */
import { Job } from 'bullmq';
import type { RedisClient, RedisConnection } from '#libs/base/redis/connection';
import { capExpiry } from '#libs/base/redis/key-expiry';
import { closeAll, knownShards, lockLasts, queuePrefix, recordQueue, stalledCheckedEvery } from './queue.ts';
import { openToRead } from './queue-summary.ts';

/** Milliseconds: far longer than any job waits for its next attempt, or for a newer worker. */
const longest = 2 * 3_600_000;
/** BullMQ's score of a delayed job: when it is due, and twelve bits that keep the order. */
const scoreOf = (time: number): number => time * 0x1000;
/** jobs of a shard at once */
const atOnce = 1_000;

/** Delivers at once what is delayed for longer than any delay, by the clock of Redis. Returns how many jobs those are. */
export async function promoteStray(redis: RedisConnection, own: number): Promise<number> {
  const { client } = redis;
  const [seconds] = await client.time();
  const least = scoreOf(Number(seconds) * 1_000 + longest);
  let promoted = 0;
  for (const shard of await knownShards(client, own)) {
    const queueKey = `${queuePrefix}:${recordQueue(shard)}`;
    await capLockExpiry(client, queueKey);
    const ids = await client.zrangebyscore(`${queueKey}:delayed`, least, '+inf', 'LIMIT', 0, atOnce);
    if (ids.length === 0) continue;
    const queue = openToRead(redis, shard);
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

/** Of a worker that still has the job it ends nothing but the lock: the job may be delivered twice, and is stored once. */
async function capLockExpiry(client: RedisClient, queueKey: string): Promise<void> {
  await capExpiry(client, `${queueKey}:stalled-check`, stalledCheckedEvery);
  for (const id of await client.lrange(`${queueKey}:active`, 0, atOnce))
    await capExpiry(client, `${queueKey}:${id}:lock`, lockLasts);
}
