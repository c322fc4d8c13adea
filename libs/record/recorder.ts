/**
 * The recorder makes a record safe and says how: queued in Redis, or persisted in Postgres. Each shard has at most two
 * `add` commands in flight; records that arrive meanwhile form the next job. If Redis cannot take a job, its batch goes
 * straight to Postgres. An `add` that timed out may still have reached Redis; this does no harm, because a record is stored
 * once however often it arrives. The producer, below, adds the jobs to the queues.
 */

import { Queue } from 'bullmq';
import { Batcher, BatcherFull, BatcherTimeout } from '#libs/base/batcher';
import type { Log } from '#libs/base/ops/process-log';
import { inSpan, noOrigins, type Origin, originsOf, type Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { RedisHealth } from '#libs/base/redis/health';
import { unavailable } from '#libs/base/terms/problem';
import { every, within } from '#libs/base/timers';
import type { NewRecord } from './contract.ts';
import type { RecordOfOrganization } from './direct-store.ts';
import type { RecordMetrics } from './metrics.ts';
import { announceEvery, announceShards, closeAll, packJob, queuePrefix, recordQueue, shardOf } from './queue.ts';
import type { QueueTracing } from './queue-tracing.ts';

/** With only one in flight, a record that just missed it would wait for two disk writes: that job's and its own. */
const addsAtOnce = 2;
/**
 * Each job has a fixed cost, as high as that of many records. So when three or more records arrive within 5 ms, the next
 * job waits up to 5 ms to collect about eight. `from` and `enough` are weights in bytes (see `weigh`): three and eight
 * ordinary records.
 */
const linger = { from: 7 * 1024, enough: 20 * 1024, milliseconds: 5, gap: 2 };
/** Milliseconds for one `add`; after that, everything pending takes the direct path. */
const addTimeout = 1_000;
/** Milliseconds from arrival to a response, in any case. */
const patience = 4_000;
/** Bytes of memory for a record and its pending request, in addition to its body. */
const overhead = 2 * 1024;
/** Bytes of a job: some 400 ordinary records. */
const maxBatch = 1024 * 1024;
/** Bytes of all shards of the process together: some 25,000 ordinary records. */
const maxPending = 64 * 1024 * 1024;

type Recorded = 'queued' | 'persisted';

export interface Recorder {
  /**
   * `bytes`: the record's rough size; `arrivedAt`: when its request came, by `performance.now()`; `origins`: the trace span
   * of its request, empty if it is not traced. Rejects with a 503 Problem that carries the record's id.
   */
  record(
    record: NewRecord,
    organizationId: string,
    bytes: number,
    arrivedAt?: number,
    origins?: readonly Origin[],
  ): Promise<Recorded>;
  /** Resolves once nothing is pending. */
  idle(): Promise<void>;
}

interface Item extends RecordOfOrganization {
  bytes: number;
  origins: readonly Origin[];
}

interface Outcome {
  recorded: Recorded;
  /** the organizations whose records of the batch were not stored */
  refused: ReadonlySet<string>;
}

const queued: Outcome = { recorded: 'queued', refused: new Set() };

const weigh = ({ bytes }: Item): number => bytes + overhead;

export function createRecorder(options: {
  producer: Producer;
  redisHealth: RedisHealth;
  /** stores a batch in Postgres without the queue; resolves to the organizations whose records could not be */
  persistDirectly: (records: RecordOfOrganization[]) => Promise<ReadonlySet<string>>;
  shards: number;
  log: Log;
  metrics: RecordMetrics;
  tracing?: Tracing | undefined;
  /** milliseconds that a job may wait for more records; default 5 */
  lingersFor?: number;
}): Recorder {
  const { producer, redisHealth, persistDirectly, shards, log, metrics, tracing, lingersFor } = options;

  const tryQueue = async (shard: number, records: NewRecord[], origins: readonly Origin[]): Promise<boolean> => {
    if (redisHealth.reason() !== null) return false;
    try {
      await within(addTimeout, producer.add(shard, records, origins));
      return true;
    } catch (error) {
      redisHealth.reportFailure(error instanceof Error ? error.message : String(error));
      log.warn({ err: error, records: records.length }, 'Redis did not accept a batch; storing it in Postgres');
      return false;
    }
  };

  const batchers = Array.from({ length: shards }, (_, shard) => {
    const run = async (items: Item[]): Promise<Outcome> => {
      const records = items.map((item) => item.record);
      const origins = tracing ? originsOf(items) : noOrigins;
      if (await tryQueue(shard, records, origins)) {
        metrics.records.inc({ outcome: 'queued' }, records.length);
        return queued;
      }
      const counts = { 'assent.records': records.length };
      const refused = await inSpan(tracing, 'persist', origins, counts, () => persistDirectly(items));
      const persisted = items.filter(({ organizationId }) => !refused.has(organizationId));
      metrics.records.inc({ outcome: 'persisted' }, persisted.length);
      return { recorded: 'persisted', refused };
    };
    return new Batcher<Item, Outcome>({
      run,
      weigh,
      maxBatch,
      maxPending: Number.POSITIVE_INFINITY,
      concurrency: addsAtOnce,
      linger: lingersFor === undefined ? linger : { ...linger, milliseconds: lingersFor, gap: lingersFor },
      patience,
    });
  });

  /** bytes, over all shards */
  let pending = 0;
  const add = (item: Item, arrivedAt: number | undefined): Promise<Outcome> => {
    const batcher = batchers[shardOf(item.organizationId, shards)];
    if (!batcher) throw new Error('no such shard');
    const weight = weigh(item);
    if (pending + weight > maxPending) return Promise.reject(new BatcherFull('too much is pending'));
    pending += weight;
    return batcher.add(item, arrivedAt).finally(() => {
      pending -= weight;
    });
  };

  return {
    async record(record, organizationId, bytes, arrivedAt, origins = noOrigins) {
      try {
        const { recorded, refused } = await add({ record, organizationId, bytes, origins }, arrivedAt);
        if (refused.has(organizationId)) throw new Error('a statement took too long');
        return recorded;
      } catch (error) {
        metrics.records.inc({ outcome: 'refused' });
        throw unavailable(whyNot(error), { id: record.id, cause: error });
      }
    },
    idle: async () => {
      await Promise.all(batchers.map((batcher) => batcher.idle()));
    },
  };
}

function whyNot(error: unknown): string {
  if (error instanceof BatcherFull) return 'too many records are pending; send this one again';
  if (error instanceof BatcherTimeout) return 'the record may or may not be stored; send it again with this id';
  return 'neither Redis nor Postgres can take the record; send it again with this id';
}

/**
 * For the worker: while Postgres is down, a job waits within its current attempt. Further attempts are for unforeseen
 * errors.
 */
const jobOptions = { attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, stackTraceLimit: 3 };

/** Adds batches of records to the queues, and fails fast while Redis cannot take them. */
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

  // BullMQ never recovers a queue whose first commands failed, so a queue is used only once it has responded
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
        await closeAll(redis, [queue]);
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
