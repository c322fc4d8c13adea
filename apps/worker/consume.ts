/**
 * Job → persist → raise. Jobs in hand at the same time share one statement. A job is done only when its records are stored
 * and their counters raised; until then it is delivered again, which does no harm.
 */

import pLimit from 'p-limit';
import { Batcher } from '#libs/base/batcher';
import type { Database } from '#libs/base/db/database';
import { isForbidden, isTooSlow, isUnavailable } from '#libs/base/db/errors';
import { chunksOf, groupBy } from '#libs/base/group-by';
import { type BaseMetrics, countFailures } from '#libs/base/ops/metrics';
import type { Log } from '#libs/base/ops/process-log';
import { inSpan, noOrigins, type Origin, originsOf, type Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Counter } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import type { RecordMetrics } from '#libs/record/metrics';
import { consumeShards, type JobInHand, Later, NotNow } from '#libs/record/queue-consumer';
import type { QueueTracing } from '#libs/record/queue-tracing';
import { persistWatched } from '#libs/record/store';
import type { StatsMetrics } from '#libs/stats/metrics';
import { oweRaises } from '#libs/stats/owed-raises';
import { raise } from '#libs/stats/redis-counters';
import type { WorkerConfig } from '../settings/worker.ts';
import { watchHeldUp } from './held-up.ts';

/** records in one statement */
const maxBatch = 1_000;
/**
 * At once: Postgres stores one while this process raises the counters of the other. Measured: a backlog drains 1.2 times
 * as fast.
 */
const atOnce = 2;
/** Besides, one for jobs that are stored by themselves. Each takes a connection. */
export const statements = atOnce + 1;
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
  /** milliseconds that a second lasts between two looks for shards, and for what has to wait; default 1,000 */
  second?: number;
}

/** Some of a batch were found to be held up when it was its turn. */
class HeldUpMeanwhile extends Error {}

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
      const { added, counters } = await persistWatched(parts, records, { isEnd: (e) => isClosing || isTooSlow(e) });
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

  const heldUp = watchHeldUp(db, parts.second);
  const isHeldUp = ({ domainId }: NewRecord): boolean => heldUp.domains.size > 0 && heldUp.has(domainId);

  const batcher = new Batcher<JobInHand, void>({
    run: (jobs) => {
      if (jobs.some(({ records }) => records.some(isHeldUp))) throw new HeldUpMeanwhile();
      return store(jobs);
    },
    weigh: ({ records }) => records.length,
    maxBatch,
    concurrency: atOnce,
    linger: lingersFor === undefined ? linger : { ...linger, milliseconds: lingersFor, gap: lingersFor },
    maxPending: Number.POSITIVE_INFINITY,
  });

  const oneByOne = pLimit(1);
  /** False where it takes too long. */
  const storeInTime = async (records: NewRecord[], origins: readonly Origin[]): Promise<boolean> => {
    if (isClosing) throw new NotNow('the worker stops');
    try {
      await store([{ records, origins, times: 1 }]);
      return true;
    } catch (error) {
      if (!isTooSlow(error)) throw error;
      const { domainId } = records[0] ?? {};
      log.warn({ err: error, domainId }, 'a statement took too long; the records of this organization wait');
      return false;
    }
  };

  /**
   * Returns those that have to wait. Of a job that has waited, smaller parts each time, beginning with others each time:
   * perhaps its records are too many, or it is one of them.
   */
  const storeOfDomain = async (domainId: string, { records, origins, times }: JobInHand): Promise<NewRecord[]> => {
    if (heldUp.mustWait(domainId)) return records;
    if (!heldUp.has(domainId)) {
      return oneByOne(async () => {
        // found out meanwhile
        if (heldUp.has(domainId)) return records;
        if (await storeInTime(records, origins)) return [];
        await heldUp.begin(domainId);
        return records;
      });
    }
    return heldUp.tryAgain(domainId, async () => {
      const first = times % records.length;
      const inTurn = [...records.slice(first), ...records.slice(0, first)];
      const size = Math.ceil(records.length / 2 ** Math.min(times - 1, 20));
      for (const [at, some] of chunksOf(inTurn, size).entries())
        if (!(await oneByOne(storeInTime, some, origins))) return inTurn.slice(at * size);
      return [];
    });
  };

  /** What a job's records are stored by. Returns those that have to wait. */
  type Manner = (job: JobInHand) => Promise<NewRecord[]>;

  const byDomain: Manner = async (job) => {
    const left: NewRecord[] = [];
    const errors: unknown[] = [];
    for (const [domainId, records] of groupBy(job.records, (record) => record.domainId)) {
      try {
        left.push(...(await storeOfDomain(domainId, { ...job, records })));
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
    return left;
  };

  const alone: Manner = (job) =>
    oneByOne(async () => {
      if (isClosing) throw new NotNow('the worker stops');
      await store([job]);
      return [];
    });

  /** With those of other jobs, but for what is held up. */
  const together: Manner = async (job) => {
    const apart = new Set(job.records.filter(isHeldUp));
    if (apart.size === 0) {
      await batcher.add(job);
      return [];
    }
    const others = job.records.filter((record) => !apart.has(record));
    const [left, rest] = await Promise.allSettled([
      byDomain({ ...job, records: [...apart] }),
      others.length > 0 ? together({ ...job, records: others }) : [],
    ]);
    if (left.status === 'rejected') throw left.reason;
    if (rest.status === 'rejected') throw rest.reason;
    return [...left.value, ...rest.value];
  };

  /**
   * Returns what has to wait. An outage of Postgres uses up none of the job's attempts: the job waits here for as long as it
   * lasts. If a statement fails though Postgres is there, one of its records may be to blame: then each of its jobs is
   * stored by itself, and answers for its own records only. If it took too long, each domain is.
   */
  const storeJob = async (job: JobInHand, first: Manner): Promise<NewRecord[]> => {
    let how = first;
    for (let wait = 100; ; ) {
      try {
        return await how(job);
      } catch (error) {
        if (error instanceof NotNow) throw error;
        if (error instanceof HeldUpMeanwhile) continue;
        if (isTooSlow(error) && how !== byDomain) {
          how = byDomain;
        } else if (!isUnavailable(error) && how === together) {
          how = alone;
        } else if (isUnavailable(error)) {
          const reason = isForbidden(error) ? 'Postgres refuses this login a right' : 'Postgres is down';
          log.warn({ err: error, wait }, `${reason}; jobs wait`);
          await Promise.race([new Promise((resolve) => setTimeout(resolve, wait)), closing]);
          if (isClosing) throw new NotNow('the worker stops while Postgres is down');
          wait = Math.min(wait * 2, 5_000);
          how = first;
        } else {
          log.warn({ err: error }, 'records could not be stored, which uses up an attempt of their job');
          throw error;
        }
      }
    }
  };

  const handle = async (job: JobInHand): Promise<void> => {
    const left = await storeJob(job, job.times > 1 ? byDomain : together);
    if (left.length > 0) throw new Later(left);
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
