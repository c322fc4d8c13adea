/**
 * Job → persist → raise. Jobs in hand at the same time share one statement. A job is done only when its records are stored
 * and their counters raised; until then it is delivered again, which does no harm.
 */

import pLimit from 'p-limit';
import { Batcher } from '#libs/base/batcher';
import type { Database } from '#libs/base/db/database';
import { isForbidden, isOutage, isUnavailable } from '#libs/base/db/errors';
import { type BaseMetrics, countFailures } from '#libs/base/ops/metrics';
import type { Log } from '#libs/base/ops/process-log';
import { inSpan, noOrigins, type Origin, originsOf, type Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Counter } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import type { RecordMetrics } from '#libs/record/metrics';
import { consumeShards, NotNow } from '#libs/record/queue-consumer';
import type { QueueTracing } from '#libs/record/queue-tracing';
import { persistWatched } from '#libs/record/store';
import type { StatsMetrics } from '#libs/stats/metrics';
import { oweRaises } from '#libs/stats/owed-raises';
import { raise } from '#libs/stats/redis-counters';
import type { WorkerConfig } from '../settings/worker.ts';

/** records in one statement */
const maxBatch = 1_000;
/**
 * At once: Postgres stores one while this process raises the counters of the other. Measured: a backlog drains 1.2 times
 * as fast.
 */
const together = 2;
/** Besides, one for jobs that are stored by themselves. Each takes a connection. */
export const statements = together + 1;
/**
 * A statement costs as much as about forty of its records, and so do the commands that complete its jobs in Redis: where
 * eight or more come within 50 ms, a statement waits a moment to hold more of them, as long as they keep coming. At 200
 * records/s this saves two thirds of Postgres' CPU time and a third of the worker's.
 */
const linger = { from: 8, enough: maxBatch, milliseconds: 50, gap: 10 };

interface ConsumerParts {
  config: Pick<WorkerConfig, 'concurrency' | 'queueShards'>;
  /** waits while Redis is down */
  queueRedis: RedisConnection;
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: BaseMetrics & RecordMetrics & StatsMetrics;
  tracing?: Tracing | undefined;
  queueTracing?: QueueTracing | undefined;
  /** bytes of jobs that it holds in memory, roughly; default 128 MiB */
  mostHeld?: number;
  /** milliseconds that a statement may wait for more records; default 50 */
  lingersFor?: number;
  /** milliseconds that a second lasts between two looks for shards; default 1,000 */
  second?: number;
}

interface JobInHand {
  records: NewRecord[];
  /** of the job */
  origins: readonly Origin[];
}

export function createConsumer(parts: ConsumerParts): { close(): Promise<void> } {
  const { config, queueRedis, redis, db, log, metrics, tracing, queueTracing, lingersFor } = parts;
  let isClosing = false;
  let beginClosing = () => {};
  const closing = new Promise<void>((resolve) => {
    beginClosing = resolve;
  });

  const store = (jobs: JobInHand[]): Promise<void> => {
    const records = jobs.flatMap((job) => job.records);
    const counts = { 'assent.jobs': jobs.length, 'assent.records': records.length };
    return inSpan(tracing, 'persist', tracing ? originsOf(jobs) : noOrigins, counts, async (span) => {
      const { added, counters } = await persistWatched(parts, records, { isOver: () => isClosing });
      metrics.records.inc({ outcome: 'stored' }, added);
      await raiseOrOwe(counters, span);
    });
  };

  /** The records are stored, so a failing Redis is no reason to deliver them again. */
  const raiseOrOwe = async (touched: Counter[], span: readonly Origin[]): Promise<void> => {
    try {
      const finish = metrics.raiseDuration.startTimer();
      const counts = { 'assent.counters': touched.length };
      await inSpan(tracing, 'raise counters', span, counts, () => raise(redis.client, touched));
      finish();
    } catch (error) {
      log.warn(
        { err: error, counters: touched.length },
        'could not raise counters in Redis; they are owed and raised later',
      );
      await db.write((sql) => oweRaises(sql, touched));
    }
  };

  const batcher = new Batcher<JobInHand, void>({
    run: store,
    weigh: ({ records }) => records.length,
    maxBatch,
    concurrency: together,
    linger: lingersFor === undefined ? linger : { ...linger, milliseconds: lingersFor, gap: lingersFor },
    maxPending: Number.POSITIVE_INFINITY,
  });

  const oneByOne = pLimit(1);
  const storeAlone = (job: JobInHand): Promise<void> =>
    oneByOne(() => {
      if (isClosing) throw new NotNow('the worker stops');
      return store([job]);
    });

  /**
   * An outage of Postgres uses up none of the job's attempts: the job waits here for as long as it lasts. If a statement
   * fails though Postgres is there, one of its records may be to blame. Then each of its jobs is stored by itself, and
   * answers for its own records only. A record that takes longer than a statement may waits as in an outage.
   */
  const handle = async (records: NewRecord[], origins: readonly Origin[]): Promise<void> => {
    const job = { records, origins };
    let isAlone = false;
    for (let wait = 100; ; wait = Math.min(wait * 2, 5_000)) {
      try {
        return await (isAlone ? storeAlone(job) : batcher.add(job));
      } catch (error) {
        if (error instanceof NotNow) throw error;
        const wasAlone = isAlone;
        isAlone = !isOutage(error);
        if (isAlone && !wasAlone) continue;
        if (!isUnavailable(error)) {
          log.warn({ err: error }, 'records could not be stored, which uses up an attempt of their job');
          throw error;
        }
        const reason = isForbidden(error) ? 'Postgres refuses this login a right' : 'Postgres is down';
        log.warn(
          { err: error, wait },
          isAlone ? 'Postgres is too slow for a record; its job waits' : `${reason}; jobs wait`,
        );
        await Promise.race([new Promise((resolve) => setTimeout(resolve, wait)), closing]);
        if (isClosing) throw new NotNow('the worker stops while Postgres is down');
      }
    }
  };

  const consumer = consumeShards({
    queueRedis,
    redis,
    shards: config.queueShards,
    concurrency: config.concurrency,
    mostHeld: parts.mostHeld,
    second: parts.second,
    handle,
    log,
    onLookError: countFailures(metrics, 'find_shards'),
    tracing: queueTracing,
  });

  return {
    close: () => {
      isClosing = true;
      beginClosing();
      return consumer.close();
    },
  };
}
