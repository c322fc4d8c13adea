/** The worker's side of the queues: reads a job's payload and hands its records on. */
import { DelayedError, type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { jobVersion, unpackJob, versionedPayload } from '#libs/contract/job';
import type { NewRecord } from '#libs/contract/record';
import type { RedisConnection } from '#libs/runtime/redis';
import { queuePrefix, recordQueue } from './names.ts';

/** Milliseconds that a payload of a newer release waits before it is offered again. */
const newerPayloadWaits = 15_000;

/** Thrown by `handle`: the worker stops before the job is done, and that is not one of the job's attempts. */
export class NotNow extends Error {}

export interface ConsumerOptions {
  connection: RedisConnection;
  shard: number;
  /** jobs at once */
  concurrency: number;
  /** A job is done once this resolves; rejecting uses up one of its attempts. */
  handle: (records: NewRecord[]) => Promise<void>;
  log: Log;
}

interface Log {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
}

/** Takes the jobs of one shard. A job is resolved only when its records are stored. */
export function createConsumer({ connection, shard, concurrency, handle, log }: ConsumerOptions): Worker {
  const worker = new Worker(
    recordQueue(shard),
    async (job, token) => {
      const records = await readPayload(job, token, log);
      try {
        await handle(records);
      } catch (error) {
        if (!(error instanceof NotNow)) throw error;
        await job.moveToWait(token);
        throw new WaitingError();
      }
    },
    {
      connection: connection.client,
      prefix: queuePrefix,
      concurrency,
      removeOnComplete: { count: 0 },
      // a crash is not the job's fault, and its records are stored once however often it is delivered
      maxStalledCount: 1_000_000,
      stalledInterval: 3_000,
      lockDuration: 10_000,
    },
  );
  worker.on('error', (error) => log.warn({ err: error }, 'queue worker'));
  worker.on('failed', (job, error) => log.error({ err: error, jobId: job?.id }, 'job failed'));
  return worker;
}

async function readPayload(job: Job<unknown>, token: string | undefined, log: Log): Promise<NewRecord[]> {
  const version = versionedPayload.safeParse(job.data);
  if (version.success && version.data.v > jobVersion) {
    log.warn({ jobId: job.id, version: version.data.v }, 'job of a newer release waits for a worker that knows it');
    await job.moveToDelayed(Date.now() + newerPayloadWaits, token);
    throw new DelayedError();
  }
  try {
    return unpackJob(job.data);
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
}
