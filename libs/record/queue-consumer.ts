/** The worker's side of the queues: reads each job's payload and passes its records on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { Log } from '#libs/base/ops/process-log';
import { noOrigins, type Origin } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import { every, watchOutcomes } from '#libs/base/timers';
import type { NewRecord } from './contract.ts';
import {
  closeAll,
  isOfNewer,
  knownShards,
  lockLasts,
  packJob,
  queuePrefix,
  recordQueue,
  roughSize,
  stalledCheckedEvery,
  unpackJob,
} from './queue.ts';
import type { QueueTracing } from './queue-tracing.ts';

/**
 * A job that is put off waits this many seconds for each delivery so far. At most `maxCountedDeliveries` count, so it waits
 * 5 minutes at most, plus up to half as much at random.
 */
const putOffFor = 5;
const maxCountedDeliveries = 60;
/** milliseconds before a shard asks for a job again once Redis has refused it one */
const refusalLasts = 200;
/** seconds between two rounds that look for queues that other processes announced, or that an operator removed */
const lookEvery = 3;

/** Bytes of jobs in memory, roughly: more than the jobs of one busy shard take. */
const mostInAll = 128 * 1024 * 1024;

export interface RecordJob {
  records: NewRecord[];
  origins: readonly Origin[];
  /**
   * how often the job was delivered, including now; deliveries that ended in a failure or with a lost worker do not count
   */
  deliveries: number;
}

/**
 * `done` completes the job. `returned` puts it back in the queue at once. `waiting` keeps only these records in the job and
 * delivers it later. Only an error thrown by `handle` uses up an attempt.
 */
export type Handled = 'done' | 'returned' | { waiting: NewRecord[] };

interface ConsumerOptions {
  /** waits while Redis is down */
  queueRedis: RedisConnection;
  /** fails fast */
  redis: RedisConnection;
  /** this process's own: it also serves those that others announce */
  shards: number;
  /** jobs of a shard at once */
  concurrency: number;
  /** bytes of jobs in memory, roughly; default 128 MiB */
  mostHeld?: number | undefined;
  /** how many milliseconds count as a second in `lookEvery` and `putOffFor`; default 1,000 */
  second?: number | undefined;
  handle: (job: RecordJob) => Promise<Handled>;
  log: Log;
  /** other processes' shards could not be read, which is retried */
  onLookError?: () => void;
  tracing?: QueueTracing | undefined;
}

/** Consumes the jobs of all shards. A job completes only once its records are stored. */
export function consumeShards(options: ConsumerOptions): { close(): Promise<void> } {
  const { queueRedis, redis, shards: own, concurrency, mostHeld, onLookError = () => {}, second = 1_000 } = options;
  const workers = new Map<number, Worker>();
  const ending = new Set<Promise<void>>();
  let isClosing = false;
  const atOnce = (isFull: boolean): number => (isFull ? 1 : concurrency);
  const budget = createMemoryBudget((isFull) => {
    for (const worker of workers.values()) worker.concurrency = atOnce(isFull);
  }, mostHeld);
  const begin = (shard: number) => {
    if (isClosing || workers.has(shard)) return;
    const worker = consumeShard(shard, budget, { ...options, concurrency: atOnce(budget.isFull()) });
    workers.set(shard, worker);
    // BullMQ never recovers a worker whose first commands failed: the next round begins another one
    worker.waitUntilReady().catch(() => {
      if (!isClosing) end(shard, worker);
    });
  };
  const end = (shard: number, worker: Worker) => {
    if (workers.get(shard) !== worker) return;
    workers.delete(shard);
    const ended = closeAll(queueRedis, [worker]).finally(() => ending.delete(ended));
    ending.add(ended);
  };
  const beginOwn = () => {
    for (let shard = 0; shard < own; shard += 1) begin(shard);
  };
  beginOwn();
  const looks = every({
    name: 'find_shards',
    pace: lookEvery * second,
    task: async () => {
      beginOwn();
      const known = await knownShards(redis.client, own);
      known.forEach(begin);
      for (const [shard, worker] of workers) if (!known.includes(shard)) end(shard, worker);
    },
    failed: onLookError,
  });
  return {
    close: async () => {
      isClosing = true;
      await looks.stop();
      await Promise.all([closeAll(queueRedis, [...workers.values()]), ...ending]);
    },
  };
}

/** A job that could not be completed is delivered again once its lock has run out, which uses up no attempt. */
class JobWorker extends Worker {
  /**
   * If Redis refuses it a job, BullMQ asks again at once. That keeps both busy, and after a failed start blocks this
   * process.
   */
  protected override async moveToActive(...of: Parameters<Worker['moveToActive']>) {
    try {
      return await super.moveToActive(...of);
    } catch (error) {
      await sleep(refusalLasts);
      throw error;
    }
  }

  /** A Redis that was just replaced may refuse the end of a job: its records are stored, and it has not failed. */
  protected override async handleCompleted(...of: Parameters<Worker['handleCompleted']>) {
    try {
      return await super.handleCompleted(...of);
    } catch (error) {
      ignoreRefusal(error);
      throw new WaitingError();
    }
  }
}

/** If Redis refuses a command, the job stays with this worker until its lock has run out. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
}

function consumeShard(
  shard: number,
  budget: MemoryBudget,
  { queueRedis, concurrency, second = 1_000, handle, log, tracing }: ConsumerOptions,
): Worker {
  const putOff = async (job: Job<unknown>, token: string | undefined, times: number): Promise<never> => {
    // a random part, so that jobs that wait together are not always delivered in the same order
    const wait = Math.min(times, maxCountedDeliveries) * putOffFor * second * (1 + Math.random() / 2);
    await job.moveToDelayed(Math.round(Date.now() + wait), token).catch(ignoreRefusal);
    throw new DelayedError();
  };
  const giveBack = async (job: Job<unknown>, token: string | undefined): Promise<never> => {
    await job.moveToWait(token).catch(ignoreRefusal);
    throw new WaitingError();
  };
  const processJob = async (job: Job<unknown>, token: string | undefined): Promise<void> => {
    // known only before the first await
    const origins = tracing?.origins() ?? noOrigins;
    if (isOfNewer(job.data)) {
      log.warn({ jobId: job.id }, 'job of a newer release waits for a worker that can read it');
      return putOff(job, token, 3);
    }
    const records = readPayload(job);
    const deliveries = deliveriesOf(job);
    const handled = await handle({ records, origins, deliveries });
    if (handled === 'done') return;
    if (handled === 'returned') return giveBack(job, token);
    if (handled.waiting.length < records.length) await job.updateData(packJob(handled.waiting)).catch(ignoreRefusal);
    return putOff(job, token, deliveries);
  };
  const worker = new JobWorker(
    recordQueue(shard),
    (job, token) => processJob(job, token).finally(() => budget.remove(job)),
    {
      connection: queueRedis.client,
      prefix: queuePrefix,
      concurrency,
      removeOnComplete: { count: 0 },
      // a crash is not the job's fault, and delivering it again is safe: its records are stored once
      maxStalledCount: 1_000_000,
      stalledInterval: stalledCheckedEvery,
      lockDuration: lockLasts,
      ...(tracing && { telemetry: tracing.telemetry }),
    },
  );
  const outcomes = watchOutcomes((error: Error, isNews) => {
    if (isNews) log.warn({ err: error }, 'queue worker error');
  }, Number.POSITIVE_INFINITY);
  worker.on('error', outcomes.failed);
  // a job is active once it is fetched, which may be long before it is processed
  worker.on('active', (job) => {
    outcomes.succeeded();
    budget.add(job);
  });
  worker.on('failed', (job, error) => {
    log.error({ err: error, jobId: job?.id }, 'job failed');
    if (job) budget.remove(job);
  });
  return worker;
}

const deliveriesOf = ({ attemptsStarted, attemptsMade, stalledCounter }: Job<unknown>): number =>
  Math.max(1, attemptsStarted - attemptsMade - stalledCounter);

function readPayload({ data }: Job<unknown>): NewRecord[] {
  try {
    return unpackJob(data);
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
}

/** A job, by its data alone. */
type AnyJob = Pick<Job<unknown>, 'data'>;

type MemoryBudget = ReturnType<typeof createMemoryBudget>;

/**
 * Adds up the memory that fetched jobs take, over all shards. While Postgres is down or slow, fetched jobs stay in memory
 * and more arrive. Above the limit a shard fetches its next job only when it holds none; the rest stay in Redis. `onChange`
 * is called when the limit is passed in either direction; `most`: bytes.
 */
function createMemoryBudget(onChange: (isFull: boolean) => void, most = mostInAll) {
  const held = new Map<AnyJob, number>();
  let sum = 0;
  const change = (bytes: number) => {
    const wasFull = sum > most;
    sum += bytes;
    const isFull = sum > most;
    if (isFull !== wasFull) onChange(isFull);
  };
  return {
    isFull: () => sum > most,
    add: (job: AnyJob) => {
      const bytes = roughSize(job.data);
      held.set(job, bytes);
      change(bytes);
    },
    /** May be called again for the same job. */
    remove: (job: AnyJob) => {
      const bytes = held.get(job);
      held.delete(job);
      if (bytes !== undefined) change(-bytes);
    },
  };
}
