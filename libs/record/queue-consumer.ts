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

/** Seconds before a job that gave up its place is delivered again. */
const putOffFor = 5;
/** as many times as long, by how often it was delivered */
const longestPutOff = 60;
/** milliseconds before a shard asks for a job again once Redis has refused it one */
const refusalLasts = 200;
/** Seconds between two looks for queues that other processes announced, or an operator had forgotten. */
const lookEvery = 3;

/** Bytes of jobs in memory, roughly: more than the jobs of one busy shard take. */
const mostInAll = 128 * 1024 * 1024;

/** Thrown by `handle` when the worker stops before the job is done. It does not use up one of the job's attempts. */
export class NotNow extends Error {}

/**
 * Thrown by `handle` where these of the job's records have to wait, and the job gives up its place meanwhile. Uses up no
 * attempt.
 */
export class Later extends Error {
  readonly records: NewRecord[];
  constructor(records: NewRecord[]) {
    super(`${records.length} records wait`);
    this.records = records;
  }
}

export interface JobInHand {
  records: NewRecord[];
  /** of the job */
  origins: readonly Origin[];
  /** how often it was delivered, but for those that ended because it failed, or because a worker was gone */
  times: number;
}

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
  /** milliseconds that a second lasts between two looks, and for jobs that gave up their place; default 1,000 */
  second?: number | undefined;
  /** A job is done once this resolves; rejecting uses up one of its attempts. */
  handle: (job: JobInHand) => Promise<void>;
  log: Log;
  /** other processes' shards could not be looked for, which is tried again */
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
  const hold = createHold((isFull) => {
    for (const worker of workers.values()) worker.concurrency = atOnce(isFull);
  }, mostHeld);
  const begin = (shard: number) => {
    if (isClosing || workers.has(shard)) return;
    const worker = consumeShard(shard, hold, { ...options, concurrency: atOnce(hold.isFull()) });
    workers.set(shard, worker);
    // BullMQ never recovers a worker whose first commands failed: the next look begins another one
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

/** What is left of a job that could not be ended is delivered again once its lock has run out, which uses up no attempt. */
class JobWorker extends Worker {
  /**
   * BullMQ asks again at once where Redis refuses it a job, which keeps both busy; after a failed start it would block this
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

/** Of Redis: the job stays with this worker until its lock has run out. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
}

function consumeShard(
  shard: number,
  hold: Hold,
  { queueRedis, concurrency, second = 1_000, handle, log, tracing }: ConsumerOptions,
): Worker {
  const putOff = async (job: Job<unknown>, token: string | undefined, times: number): Promise<never> => {
    // not all at the same moment, so that each may once be the first
    const wait = times * putOffFor * second * (1 + Math.random() / 2);
    await job.moveToDelayed(Math.round(Date.now() + wait), token).catch(ignoreRefusal);
    throw new DelayedError();
  };
  const worker = new JobWorker(
    recordQueue(shard),
    async (job, token) => {
      // known only before the first await
      const origins = tracing?.origins() ?? noOrigins;
      let count = 0;
      try {
        if (isOfNewer(job.data)) {
          log.warn({ jobId: job.id }, 'job of a newer release waits for a worker that can read it');
          return await putOff(job, token, 3);
        }
        const records = readPayload(job);
        count = records.length;
        await handle({ records, origins, times: timesOf(job) });
      } catch (error) {
        if (error instanceof Later) {
          if (error.records.length < count) await job.updateData(packJob(error.records)).catch(ignoreRefusal);
          return await putOff(job, token, Math.min(timesOf(job), longestPutOff));
        }
        if (!(error instanceof NotNow)) throw error;
        await job.moveToWait(token).catch(ignoreRefusal);
        throw new WaitingError();
      } finally {
        hold.remove(job);
      }
    },
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
  const tell = (error: Error, isNews: boolean) => {
    if (isNews) log.warn({ err: error }, 'queue worker error');
  };
  const outcomes = watchOutcomes(tell, Number.POSITIVE_INFINITY);
  worker.on('error', outcomes.failed);
  // which is said when a job is fetched, and it may take long until it is begun
  worker.on('active', (job) => {
    outcomes.succeeded();
    hold.add(job);
  });
  worker.on('failed', (job, error) => {
    log.error({ err: error, jobId: job?.id }, 'job failed');
    if (job) hold.remove(job);
  });
  return worker;
}

const timesOf = ({ attemptsStarted, attemptsMade, stalledCounter }: Job<unknown>): number =>
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

interface Hold {
  isFull(): boolean;
  add(job: AnyJob): void;
  /** Once is enough, and more do no harm. */
  remove(job: AnyJob): void;
}

/**
 * What a worker holds of jobs in memory, over all shards: while Postgres is away or slow they stay, and more are fetched.
 * Past a bound each shard fetches only while it holds none, and the rest waits in Redis. `onChange`: told whenever the bound
 * is passed, in either direction; `most`: bytes.
 */
function createHold(onChange: (isFull: boolean) => void, most = mostInAll): Hold {
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
    add: (job) => {
      const bytes = roughSize(job.data);
      held.set(job, bytes);
      change(bytes);
    },
    remove: (job) => {
      const bytes = held.get(job);
      held.delete(job);
      if (bytes !== undefined) change(-bytes);
    },
  };
}
