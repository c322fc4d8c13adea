/**
 * Delayed jobs. A worker writes by its own clock when a job is delivered again, so one that was ahead would keep it from
 * everybody for as long.
 */
import { Job } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { closeAll, knownShards, queuePrefix, recordQueue } from './queue.ts';
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
    const key = `${queuePrefix}:${recordQueue(shard)}:delayed`;
    const ids = await client.zrangebyscore(key, least, '+inf', 'LIMIT', 0, atOnce);
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
