/** The worker's side of the queues: reads each job's payload and passes its records on. */
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { jobVersion, unpackJob, versionedPayload } from '#libs/contract/job';
import type { NewRecord } from '#libs/contract/record';
import { every } from '#libs/runtime/every';
import type { Log } from '#libs/runtime/log';
import type { RedisConnection } from '#libs/runtime/redis';
import { toldOnce } from '#libs/runtime/told-once';
import { noOrigins, type Origin } from '#libs/runtime/tracing';
import { closeAll } from './close.ts';
import { createHold, type Hold } from './hold.ts';
import { knownShards, queuePrefix, recordQueue } from './shards.ts';
import type { QueueTracing } from './tracing.ts';

/** Milliseconds before a job of a newer release is delivered again. */
const newerPayloadWaits = 15_000;
/** Milliseconds between two looks for queues that other processes announced, or an operator had forgotten. */
const lookEvery = 3_000;
/** Bytes of jobs in memory, roughly: more than the jobs of one busy shard take. */
const mostHeldInAll = 128 * 1024 * 1024;

/** Thrown by `handle` when the worker stops before the job is done. It does not use up one of the job's attempts. */
export class NotNow extends Error {}

export interface ConsumerOptions {
  /** patient: waits while Redis is down */
  redis: RedisConnection;
  /** fails fast */
  hasty: RedisConnection;
  /** this process's own: it also serves those that others announce */
  shards: number;
  /** jobs of a shard at once */
  concurrency: number;
  /** bytes of jobs in memory, roughly; default 128 MiB */
  mostHeld?: number | undefined;
  /** A job is done once this resolves; rejecting uses up one of its attempts. */
  handle: (records: NewRecord[], origins: readonly Origin[]) => Promise<void>;
  log: Log;
  /** other processes' shards could not be looked for, which is tried again */
  onLookError?: () => void;
  tracing?: QueueTracing | undefined;
}

/** Consumes the jobs of all shards. A job completes only once its records are stored. */
export function consumeShards(options: ConsumerOptions): { close(): Promise<void> } {
  const { redis, hasty, shards: own, concurrency, mostHeld = mostHeldInAll, onLookError = () => {} } = options;
  const workers = new Map<number, Worker>();
  const ending = new Set<Promise<void>>();
  let isClosing = false;
  const atOnce = (isFull: boolean): number => (isFull ? 1 : concurrency);
  const hold = createHold(mostHeld, (isFull) => {
    for (const worker of workers.values()) worker.concurrency = atOnce(isFull);
  });
  const begin = (shard: number) => {
    if (!isClosing && !workers.has(shard))
      workers.set(shard, consumeShard(shard, hold, { ...options, concurrency: atOnce(hold.isFull()) }));
  };
  const end = (shard: number, worker: Worker) => {
    workers.delete(shard);
    const ended = closeAll(redis, [worker]).finally(() => ending.delete(ended));
    ending.add(ended);
  };
  for (let shard = 0; shard < own; shard += 1) begin(shard);
  const looks = every({
    name: 'find_shards',
    pace: lookEvery,
    task: async () => {
      const known = await knownShards(hasty.client, own);
      known.forEach(begin);
      for (const [shard, worker] of workers) if (!known.includes(shard)) end(shard, worker);
    },
    failed: onLookError,
  });
  return {
    close: async () => {
      isClosing = true;
      await looks.stop();
      await Promise.all([closeAll(redis, [...workers.values()]), ...ending]);
    },
  };
}

function consumeShard(
  shard: number,
  hold: Hold,
  { redis, concurrency, handle, log, tracing }: ConsumerOptions,
): Worker {
  const worker = new Worker(
    recordQueue(shard),
    async (job, token) => {
      // known only before the first await
      const origins = tracing?.origins() ?? noOrigins;
      try {
        await handle(await readPayload(job, token, log), origins);
      } catch (error) {
        if (!(error instanceof NotNow)) throw error;
        await job.moveToWait(token);
        throw new WaitingError();
      } finally {
        hold.remove(job);
      }
    },
    {
      connection: redis.client,
      prefix: queuePrefix,
      concurrency,
      removeOnComplete: { count: 0 },
      // a crash is not the job's fault, and delivering it again is safe: its records are stored once
      maxStalledCount: 1_000_000,
      stalledInterval: 3_000,
      lockDuration: 10_000,
      ...(tracing && { telemetry: tracing.telemetry }),
    },
  );
  const errors = toldOnce((error) => log.warn({ err: error }, 'queue worker error'));
  worker.on('error', errors.tell);
  // which is said when a job is fetched, and it may take long until it is begun
  worker.on('active', (job) => {
    errors.forget();
    hold.add(job);
  });
  worker.on('failed', (job, error) => {
    log.error({ err: error, jobId: job?.id }, 'job failed');
    if (job) hold.remove(job);
  });
  return worker;
}

async function readPayload(job: Job<unknown>, token: string | undefined, log: Log): Promise<NewRecord[]> {
  const version = versionedPayload.safeParse(job.data);
  if (version.success && version.data.v > jobVersion) {
    log.warn({ jobId: job.id, version: version.data.v }, 'job of a newer release waits for a worker that can read it');
    await job.moveToDelayed(Date.now() + newerPayloadWaits, token);
    throw new DelayedError();
  }
  try {
    return unpackJob(job.data);
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
}
