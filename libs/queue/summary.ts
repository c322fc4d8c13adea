/** The record queues as operators see them: how many jobs are in each state, and how old the oldest is. */
import { Queue } from 'bullmq';
import type { RedisConnection } from '#libs/runtime/redis';
import { queuePrefix, recordQueue } from './names.ts';

export const jobStates = ['waiting', 'active', 'delayed', 'failed'] as const;

export interface QueueSummary {
  jobs: Record<(typeof jobStates)[number], number>;
  /** seconds since the oldest job was added that is waiting, or that a worker holds; 0 where there is none */
  oldest: number;
}

/** A queue to look at: adds nothing and changes no settings. */
export const openToRead = (connection: RedisConnection, shard: number): Queue =>
  new Queue(recordQueue(shard), { connection: connection.client, prefix: queuePrefix, skipMetasUpdate: true }).on(
    'error',
    () => {},
  );

/** All of `queues` together. */
export async function summarize(queues: Queue[]): Promise<QueueSummary> {
  const counts = await Promise.all(queues.map((queue) => queue.getJobCounts(...jobStates)));
  // a worker that cannot store what it holds has it as active jobs
  const oldest = (await Promise.all(queues.flatMap((queue) => [queue.getWaiting(0, 0), queue.getActive(0, 0)]))).flat();
  const sum = (state: string) => counts.reduce((total, count) => total + (count[state] ?? 0), 0);
  const now = Date.now();
  return {
    jobs: { waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed'), failed: sum('failed') },
    oldest: (now - Math.min(now, ...oldest.map((job) => job.timestamp))) / 1000,
  };
}
