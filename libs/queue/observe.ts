/** Depth and age of the record queues, of all shards that any process has announced. */
import type { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/runtime/redis';
import { within } from '#libs/runtime/within';
import { closeAll } from './close.ts';
import { knownShards } from './shards.ts';
import { openToRead, type QueueSummary, summarize } from './summary.ts';

/** milliseconds */
const patience = 1_000;

export function observeQueues(redis: RedisConnection, shards: number) {
  const opened = new Map<number, Queue>();
  const open = (shard: number): Queue => {
    const known = opened.get(shard);
    if (known) return known;
    const queue = openToRead(redis, shard);
    opened.set(shard, queue);
    return queue;
  };
  const summarizeAll = async () => summarize((await knownShards(redis.client, shards)).map(open));
  return {
    /** Rejects where Redis does not answer in time. */
    summarize: (): Promise<QueueSummary> => within(patience, summarizeAll()),
    close: () => closeAll(redis, [...opened.values()]),
  };
}
