/** The worker's side of the queues: reads each job's payload and passes its records on. */
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { jobVersion, unpackJob, versionedPayload } from '#libs/contract/job';
import type { NewRecord } from '#libs/contract/record';
import type { Log } from '#libs/runtime/log';
import type { RedisConnection } from '#libs/runtime/redis';
import { toldOnce } from '#libs/runtime/told-once';
import { noOrigins, type Origin } from '#libs/runtime/tracing';
import type { Hold } from './hold.ts';
import { queuePrefix, recordQueue } from './names.ts';
import type { QueueTracing } from './tracing.ts';

/** Milliseconds before a job of a newer release is delivered again. */
const newerPayloadWaits = 15_000;

/** Thrown by `handle` when the worker stops before the job is done. It does not use up one of the job's attempts. */
export class NotNow extends Error {}

export interface ConsumerOptions {
  connection: RedisConnection;
  shard: number;
  /** jobs at once */
  concurrency: number;
  /** A job is done once this resolves; rejecting uses up one of its attempts. */
  handle: (records: NewRecord[], origins: readonly Origin[]) => Promise<void>;
  /** told of each job from when it is fetched until it is handled */
  hold: Pick<Hold, 'add' | 'remove'>;
  log: Log;
  tracing?: QueueTracing | undefined;
}

/** Consumes the jobs of one shard. A job completes only once its records are stored. */
export function consumeShard(options: ConsumerOptions): Worker {
  const { connection, shard, concurrency, handle, hold, log, tracing } = options;
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
      connection: connection.client,
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
