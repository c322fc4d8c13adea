/** Depth and age of the record queues, read from Redis on each scrape of the metrics. */
import type { Queue } from 'bullmq';
import { closeAll } from '#libs/queue/close';
import { knownShards } from '#libs/queue/shards';
import { jobStates, openToRead, summarize } from '#libs/queue/summary';
import type { RedisConnection } from '#libs/runtime/redis';
import { within } from '#libs/runtime/within';
import type { Metrics } from '#libs/telemetry/metrics';

/** milliseconds */
const patience = 1_000;

export function observeQueues({
  redis,
  shards,
  metrics,
}: {
  redis: RedisConnection;
  shards: number;
  metrics: Metrics;
}) {
  const opened = new Map<number, Queue>();
  const open = (shard: number): Queue => {
    const known = opened.get(shard);
    if (known) return known;
    const queue = openToRead(redis, shard);
    opened.set(shard, queue);
    return queue;
  };

  const observe = async () => {
    const queues = (await knownShards(redis.client, shards)).map(open);
    const { jobs, oldestWaiting } = await summarize(queues);
    for (const state of jobStates) metrics.queueDepth.set({ state }, jobs[state]);
    metrics.queueAge.set(oldestWaiting);
  };

  return {
    /** If Redis does not answer in time, the last values stay. */
    observe: () => within(patience, observe()).catch(() => {}),
    close: () => closeAll(redis, [...opened.values()]),
  };
}
