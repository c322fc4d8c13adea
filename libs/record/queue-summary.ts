/** The record queues as operators see them: how many jobs are in each state, and how old the oldest is. */

import { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/base/redis/connection';
import { within } from '#libs/base/timers';
import { closeAll, knownShards, queuePrefix, recordQueue } from './queue.ts';

const jobStates = ['waiting', 'active', 'delayed', 'failed'] as const;

export interface QueueSummary {
  jobs: Record<(typeof jobStates)[number], number>;
  /**
   * Age in seconds of the oldest job that is neither done nor failed; 0 if there is none. Of the delayed jobs only the next
   * one due is considered; sooner or later that is each of them.
   */
  oldest: number;
}

/** Opens a queue without changing its settings, to look at its jobs or change them. */
export const openQueue = (redis: RedisConnection, shard: number): Queue =>
  new Queue(recordQueue(shard), { connection: redis.client, prefix: queuePrefix, skipMetasUpdate: true }).on(
    'error',
    () => {},
  );

/** All of `queues` together. */
export const summarize = async (queues: Queue[]): Promise<QueueSummary> =>
  sumUp(await Promise.all(queues.map((queue) => summarizeOne(queue))));

export function sumUp(summaries: QueueSummary[]): QueueSummary {
  const sum = (state: (typeof jobStates)[number]) => summaries.reduce((total, { jobs }) => total + jobs[state], 0);
  return {
    jobs: { waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed'), failed: sum('failed') },
    oldest: Math.max(0, ...summaries.map(({ oldest }) => oldest)),
  };
}

/**
 * `seen`: when this process first saw each of the oldest jobs, by `performance.now()`. Pass the same map to every call. The
 * time that a job carries is the API's, which may be ahead: a job is at least as old as it has been seen.
 */
export async function summarizeOne(queue: Queue, seen = new Map<string, number>()): Promise<QueueSummary> {
  const [{ waiting = 0, active = 0, delayed = 0, failed = 0 }, ...lists] = await Promise.all([
    queue.getJobCounts(...jobStates),
    queue.getWaiting(0, 0),
    // a worker that cannot store what it holds has it as active jobs
    queue.getActive(0, 0),
    // a job that this release cannot read waits here for a newer worker
    queue.getDelayed(0, 0),
  ]);
  const now = performance.now();
  const jobs = lists.flat().map(({ id = '', timestamp }) => ({ id, timestamp, since: seen.get(id) ?? now }));
  seen.clear();
  for (const { id, since } of jobs) seen.set(id, since);
  const ages = jobs.map(({ timestamp, since }) => Math.max(Date.now() - timestamp, now - since));
  return { jobs: { waiting, active, delayed, failed }, oldest: Math.max(0, ...ages) / 1000 };
}

/** milliseconds */
const patience = 1_000;

interface ShardSummary extends QueueSummary {
  shard: number;
}

export function observeQueues(redis: RedisConnection, shards: number) {
  const opened = new Map<number, { shard: number; queue: Queue; seen: Map<string, number> }>();
  const open = (shard: number) => {
    const known = opened.get(shard);
    if (known) return known;
    const queue = openQueue(redis, shard);
    const made = { shard, queue, seen: new Map<string, number>() };
    opened.set(shard, made);
    // BullMQ never recovers a queue whose first commands failed: the next round opens another one
    queue.waitUntilReady().catch(() => {
      opened.delete(shard);
      void closeAll(redis, [queue]);
    });
    return made;
  };
  const openKnown = async () => (await knownShards(redis.client, shards)).map(open);
  const summarizeAll = async () =>
    Promise.all(
      (await openKnown()).map(async ({ shard, queue, seen }) => ({ shard, ...(await summarizeOne(queue, seen)) })),
    );
  // both reject if Redis does not reply in time
  return {
    queues: async (): Promise<Queue[]> => (await within(patience, openKnown())).map(({ queue }) => queue),
    summarize: (): Promise<ShardSummary[]> => within(patience, summarizeAll()),
    close: () =>
      closeAll(
        redis,
        Array.from(opened.values(), ({ queue }) => queue),
      ),
  };
}
