/** Assent and the usual design, as the measurements that compare them see both. */
import type { Queue } from 'bullmq';
import { monthOf } from '#libs/contract/calendar';
import { createProducer } from '#libs/queue/produce';
import { connectRedis } from '#libs/runtime/redis';
import { waitUntil } from '../stack/wait.ts';
import { makeRecords } from './records.ts';
import type { Stack } from './stack.ts';
import type { UsualApi } from './usual/api.ts';
import { createUsualTable, usualCounter } from './usual/tables.ts';
import type { UsualWorker } from './usual/worker.ts';

export interface Design {
  queue: Queue;
  startApi(): Promise<{ baseUrl: string }>;
  startWorker(): Promise<{ stop(): Promise<unknown> }>;
  /** Puts records into the queue that no API acknowledged. */
  addBacklog(records: number, perJob: number): Promise<void>;
  /** When the oldest waiting job was added, in Unix milliseconds; null: none waits. */
  oldestWaiting(): Promise<number | null>;
  /** How many records are stored and counted. */
  stored(): Promise<number>;
}

export function assent(stack: Stack): Design {
  return {
    queue: stack.queue,
    startApi: () => stack.startApi(),
    startWorker: async () => {
      const worker = await stack.startWorker();
      return { stop: () => worker.process.stop() };
    },
    addBacklog: async (records, perJob) => {
      const redis = connectRedis({ url: stack.redisUrl, clusterNodes: [] }, 'worker', { warn: () => {} });
      const producer = createProducer(redis, 1);
      await producer.ready();
      await addAll(records / perJob, (job) => producer.add(0, makeRecords(stack.sites, job * perJob, perJob)));
      await producer.close();
      await redis.close();
    },
    oldestWaiting: () => oldestWaiting(stack, stack.queue),
    stored: async () => {
      const [row] = await stack.db.run(
        (sql) => sql<{ n: number }[]>`
          select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::int as n from counters
          where domain_id = '' and length(period) = 7`,
      );
      return row?.n ?? 0;
    },
  };
}

export async function usual(stack: Stack): Promise<Design> {
  await stack.db.run((sql) => sql.unsafe(createUsualTable));
  const { redis, redisUrl, databaseUrl, sites, usualQueue: queue } = stack;
  const organizations = [...new Set(sites.map((site) => site.organizationId))];
  const ofDomain = new Map(sites.map((site) => [site.domainId, site.organizationId]));
  return {
    queue,
    startApi: () => stack.startReference('usual/api', { redisUrl, sites } satisfies UsualApi),
    startWorker: () => stack.startReference('usual/worker', { databaseUrl, redisUrl } satisfies UsualWorker),
    addBacklog: (records) =>
      addAll(records, async (job) => {
        const [record] = makeRecords(sites, job, 1);
        await queue.add('record', { ...record, organizationId: ofDomain.get(record?.domainId ?? '') });
      }),
    oldestWaiting: () => oldestWaiting(stack, queue),
    stored: async () => {
      const month = monthOf(Date.now());
      const counts = await Promise.all(organizations.map((id) => redis.hvals(usualCounter(id, month))));
      return counts.flat().reduce((sum, count) => sum + Number(count), 0);
    },
  };
}

/** Asked forty times a second, so without the job's payload. */
async function oldestWaiting({ redis }: Stack, queue: Queue): Promise<number | null> {
  const oldest = await redis.lindex(queue.toKey('wait'), -1);
  const since = oldest === null ? null : await redis.hget(queue.toKey(oldest), 'timestamp');
  return since === null ? null : Number(since);
}

/** Many at once: an `add` alone waits for the disk of Redis. */
async function addAll(jobs: number, add: (job: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const addOn = async () => {
    while (next < jobs) await add(next++);
  };
  await Promise.all(Array.from({ length: 200 }, addOn));
}

/** Until nothing waits and nothing is being worked on. */
export async function untilEmpty({ queue }: Design, withinMs = 120_000): Promise<void> {
  const empty = async () => {
    const { waiting = 0, active = 0, delayed = 0 } = await queue.getJobCounts('waiting', 'active', 'delayed');
    return waiting + active + delayed === 0;
  };
  if (!(await waitUntil(empty, { deadlineMs: withinMs, intervalMs: 50 }))) throw new Error('the queue does not empty');
}
