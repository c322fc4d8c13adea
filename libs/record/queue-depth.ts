/** Depth and age of the record queues, of all shards that any process has announced. */
import type { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { within } from '#libs/base/within';
import { closeAll } from './queue-end.ts';
import { knownShards } from './queue-shards.ts';
import { openToRead, type QueueSummary, summarizeOne } from './queue-summary.ts';

/** milliseconds */
const patience = 1_000;

export interface ShardSummary extends QueueSummary {
  shard: number;
}

export function observeQueues(redis: RedisConnection, shards: number) {
  const opened = new Map<number, Queue>();
  const open = (shard: number): Queue => {
    const known = opened.get(shard);
    if (known) return known;
    const queue = openToRead(redis, shard);
    opened.set(shard, queue);
    return queue;
  };
  const openKnown = async () =>
    (await knownShards(redis.client, shards)).map((shard) => ({ shard, queue: open(shard) }));
  const summarizeAll = async () =>
    Promise.all((await openKnown()).map(async ({ shard, queue }) => ({ shard, ...(await summarizeOne(queue)) })));
  // both reject where Redis does not answer in time
  return {
    queues: async (): Promise<Queue[]> => (await within(patience, openKnown())).map(({ queue }) => queue),
    summarize: (): Promise<ShardSummary[]> => within(patience, summarizeAll()),
    close: () => closeAll(redis, [...opened.values()]),
  };
}
