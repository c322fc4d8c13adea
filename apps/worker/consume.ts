/**
 * Consumes the queues. A job is done once its records are stored and their counters are raised, or noted in Postgres to be
 * raised later. Until then it is delivered again, which does no harm.
 */

import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isForbidden } from '#libs/base/db/errors';
import { countFailures } from '#libs/base/ops/metrics';
import type { RedisConnection } from '#libs/base/redis/connection';
import { consumeShards, type Handled, type RecordJob } from '#libs/record/queue-consumer';
import type { QueueTracing } from '#libs/record/queue-tracing';
import type { WorkerConfig } from '../settings/worker.ts';
import { createJobStore, type JobStoreParts } from './store-jobs.ts';

interface ConsumerParts extends JobStoreParts {
  config: Pick<WorkerConfig, 'concurrency' | 'queueShards'>;
  /** waits while Redis is down */
  queueRedis: RedisConnection;
  queueTracing?: QueueTracing | undefined;
  /** bytes of jobs that it holds in memory, roughly; default 128 MiB */
  mostHeld?: number;
}

export function createConsumer(parts: ConsumerParts): { close(): Promise<void> } {
  const { config, queueRedis, redis, log, metrics, mostHeld, second, queueTracing } = parts;
  const closing = new AbortController();
  // each job that waits for Postgres adds a listener
  setMaxListeners(0, closing.signal);
  const storeJob = createJobStore(parts, closing.signal);

  /** An outage of Postgres uses up none of the job's attempts: the job waits here for as long as it lasts. */
  const handle = async (job: RecordJob): Promise<Handled> => {
    for (let wait = 100; ; wait = Math.min(wait * 2, 5_000)) {
      const { waiting, failure } = await storeJob(job);
      if (failure?.fault === 'outage') {
        const reason = isForbidden(failure.error) ? 'Postgres refuses this login a right' : 'Postgres is down';
        log.warn({ err: failure.error, wait }, `${reason}; jobs wait`);
        await sleep(wait, undefined, { signal: closing.signal }).catch(() => {});
        if (closing.signal.aborted) return 'returned';
      } else if (failure) {
        log.warn({ err: failure.error }, 'records could not be stored, which uses up an attempt of their job');
        throw failure.error;
      } else if (waiting.length === 0) return 'done';
      else return closing.signal.aborted ? 'returned' : { waiting };
    }
  };

  const consumer = consumeShards({
    queueRedis,
    redis,
    shards: config.queueShards,
    concurrency: config.concurrency,
    mostHeld,
    second,
    handle,
    log,
    onLookError: countFailures(metrics, 'find_shards'),
    tracing: queueTracing,
  });

  return {
    close: () => {
      closing.abort();
      return consumer.close();
    },
  };
}
