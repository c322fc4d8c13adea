/** The API's side of the queues: adds batches of records, and fails fast while Redis cannot take them. */
import { Queue } from 'bullmq';
import { every } from '#libs/base/every';
import { noOrigins, type Origin } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { NewRecord } from './contract.ts';
import { announceEvery, announceShards, closeAll, packJob, queuePrefix, recordQueue } from './queue.ts';
import type { QueueTracing } from './queue-tracing.ts';

/** An outage is retried within one attempt; further attempts are for unforeseen errors. */
const jobOptions = { attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, stackTraceLimit: 3 };

export interface Producer {
  /** Resolves once the batch is in Redis. After a timeout it may or may not be there. */
  add(shard: number, records: NewRecord[], origins?: readonly Origin[]): Promise<void>;
  /** Resolves once every queue has been reached. */
  ready(): Promise<void>;
  queues(): Queue[];
  close(): Promise<void>;
}

interface ProducerOptions {
  /** the shards could not be announced, which is tried again */
  onAnnounceError?: () => void;
  tracing?: QueueTracing | undefined;
}

export function createProducer(
  redis: RedisConnection,
  shards: number,
  { onAnnounceError = () => {}, tracing }: ProducerOptions = {},
): Producer {
  const open = new Map<number, Queue>();
  let closed = false;

  // BullMQ never recovers a queue whose first commands failed, so a queue is used only once it has answered
  const openQueue = async (shard: number): Promise<void> => {
    while (!closed) {
      const queue = new Queue(recordQueue(shard), {
        connection: redis.client,
        prefix: queuePrefix,
        defaultJobOptions: jobOptions,
        ...(tracing && { telemetry: tracing.telemetry }),
      });
      queue.on('error', () => {});
      try {
        await queue.waitUntilReady();
        open.set(shard, queue);
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };
  const announcing = every({
    name: 'announce_shards',
    pace: announceEvery,
    task: () => announceShards(redis.client, shards),
    failed: onAnnounceError,
  });
  redis.client.on('ready', () => void announcing.now());
  const opened = Array.from({ length: shards }, (_, shard) => openQueue(shard));

  return {
    async add(shard, records, origins = noOrigins) {
      const queue = open.get(shard);
      if (!queue) throw new Error('Redis has not been reached yet');
      const add = () => queue.add('record', packJob(records));
      await (tracing ? tracing.adding(origins, add) : add());
    },
    ready: async () => {
      await Promise.all(opened);
    },
    queues: () => [...open.values()],
    close: async () => {
      closed = true;
      await announcing.stop();
      await closeAll(redis, [...open.values()]);
    },
  };
}
