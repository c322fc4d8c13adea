/** Depth and age of the record queues, read on each scrape of the metrics. */
import { Queue } from 'bullmq';
import { closeAll } from '#libs/queue/close';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { knownShards } from '#libs/queue/shards';
import type { RedisConnection } from '#libs/runtime/redis';
import { within } from '#libs/runtime/within';
import type { Metrics } from '#libs/telemetry/metrics';

/** milliseconds */
const patience = 1_000;

const states = ['waiting', 'active', 'delayed', 'failed'] as const;

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
    const options = { connection: redis.client, prefix: queuePrefix, skipMetasUpdate: true };
    const queue = new Queue(recordQueue(shard), options).on('error', () => {});
    opened.set(shard, queue);
    return queue;
  };

  const observe = async () => {
    const queues = (await knownShards(redis.client, shards)).map(open);
    const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...states)));
    for (const state of states) {
      metrics.queueDepth.set(
        { state },
        counts.reduce((sum, count) => sum + (count[state] ?? 0), 0),
      );
    }
    const oldest = (await Promise.all(queues.map((queue) => queue.getWaiting(0, 0)))).flat();
    const since = Math.min(Date.now(), ...oldest.map((job) => job.timestamp));
    metrics.queueAge.set((Date.now() - since) / 1000);
  };

  return {
    /** If Redis does not answer in time, the last values stay. */
    observe: () => within(patience, observe()).catch(() => {}),
    close: () => closeAll(redis, [...opened.values()]),
  };
}
