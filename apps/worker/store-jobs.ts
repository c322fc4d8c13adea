/** Stores the records of jobs. Jobs that are in hand at the same time share one statement. */

import pLimit from 'p-limit';
import { Batcher } from '#libs/base/batcher';
import type { Database } from '#libs/base/db/database';
import { type Failure, failureOf } from '#libs/base/db/errors';
import { chunksOf, groupBy } from '#libs/base/group-by';
import type { BaseMetrics } from '#libs/base/ops/metrics';
import type { Log } from '#libs/base/ops/process-log';
import { inSpan, noOrigins, type Origin, originsOf, type Tracing } from '#libs/base/ops/tracing';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { Counter } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import { createHeldUp } from '#libs/record/held-up';
import type { RecordMetrics } from '#libs/record/metrics';
import type { RecordJob } from '#libs/record/queue-consumer';
import { persistWithMetrics } from '#libs/record/store';
import type { StatsMetrics } from '#libs/stats/metrics';
import { oweRaises } from '#libs/stats/owed-raises';
import { raise } from '#libs/stats/redis-counters';

/** records in one statement */
const maxBatch = 1_000;
/**
 * Statements at a time: Postgres stores one while this process raises the counters of the other. Measured: a backlog drains
 * 1.2 times as fast as with one.
 */
const atOnce = 2;
/** Each takes a connection. The third is for jobs that are stored by themselves. */
export const statementsAtOnce = atOnce + 1;
/**
 * Each statement has a fixed cost, about that of storing forty records. Completing its jobs in Redis has one of about the
 * same size. So once eight or more records have come within about 50 ms, the next statement waits for more: up to 50 ms in
 * all, and at most 10 ms after the latest record. At 200 records/s this saves two thirds of Postgres' CPU time and a third
 * of the worker's.
 */
const linger = { from: 8, enough: maxBatch, milliseconds: 50, gap: 10 };

/**
 * Seconds from a failed try to store an organization's held-up records until the next one. One statement of a try may take
 * up to eight seconds.
 */
const tryEvery = 10;
/** Seconds for which an organization's records are stored apart after its last statement that took too long. */
const heldUpFor = 60;

export interface JobStoreParts {
  /** fails fast */
  redis: RedisConnection;
  db: Database;
  log: Log;
  metrics: BaseMetrics & RecordMetrics & StatsMetrics;
  tracing?: Tracing | undefined;
  /** milliseconds that a statement may wait for more records; default 50 */
  lingersFor?: number;
  /**
   * how many milliseconds count as a second: for records that wait, and for the rounds that look for shards; default 1,000
   */
  second?: number;
}

/** What became of a job. Without a failure, its records are stored except those in `waiting`. */
export interface Stored {
  /**
   * Records to try again later: their statement took too long (usually because another transaction holds a row they need),
   * their organization is held up, or the worker is stopping.
   */
  waiting: NewRecord[];
  failure?: Failure | undefined;
}

export function createJobStore(parts: JobStoreParts, closing: AbortSignal): (job: RecordJob) => Promise<Stored> {
  const { db, log, lingersFor, second = 1_000 } = parts;
  const heldUp = createHeldUp({ tryEvery: tryEvery * second, staysFor: heldUpFor * second });
  const oneByOne = pLimit(1);

  const store = async (jobs: RecordJob[], records: NewRecord[]): Promise<Failure | undefined> =>
    records.length > 0 ? failureOf(() => storeAndRaise(parts, jobs, records)) : undefined;

  /** Stores the jobs in one statement, except records that are held up: these are returned. */
  const batcher = new Batcher<RecordJob, { apart: Set<NewRecord>; failure: Failure | undefined }>({
    run: async (jobs) => {
      const records = jobs.flatMap((job) => job.records);
      const apart = new Set(records.filter(({ domainId }) => heldUp.has(domainId)));
      return { apart, failure: await store(jobs, without(records, apart)) };
    },
    weigh: ({ records }) => records.length,
    maxBatch,
    concurrency: atOnce,
    linger: lingersFor === undefined ? linger : { ...linger, milliseconds: lingersFor, gap: lingersFor },
    maxPending: Number.POSITIVE_INFINITY,
  });

  /** In a statement of their own. The records wait if it takes too long. */
  const storeAlone = async (job: RecordJob, records: NewRecord[]): Promise<Stored> => {
    if (closing.aborted) return { waiting: records };
    const failure = await store([job], records);
    if (failure?.fault !== 'slow') return { waiting: [], failure };
    const { domainId } = records[0] ?? {};
    log.warn({ err: failure.error, domainId }, 'a statement took too long; the records of this organization wait');
    return { waiting: records };
  };

  /**
   * Each delivery splits the records into smaller parts and starts with a different record: there may be too many for one
   * statement, or one of them may be slow.
   */
  const storeInParts = async (job: RecordJob, records: NewRecord[]): Promise<Stored> => {
    const first = job.deliveries % records.length;
    const rotated = [...records.slice(first), ...records.slice(0, first)];
    const size = Math.ceil(records.length / 2 ** Math.min(job.deliveries - 1, 20));
    for (const [at, part] of chunksOf(rotated, size).entries()) {
      const { waiting, failure } = await oneByOne(storeAlone, job, part);
      if (failure) return { waiting: [], failure };
      if (waiting.length > 0) return { waiting: rotated.slice(at * size) };
    }
    return { waiting: [] };
  };

  /** The domains of an organization share counters, so all of them are held up together. */
  const holdUp = async (domainId: string): Promise<void> => heldUp.add([domainId, ...(await siblingsOf(db, domainId))]);

  const storeDomain = async (job: RecordJob, domainId: string, records: NewRecord[]): Promise<Stored> => {
    if (heldUp.mustWait(domainId)) return { waiting: records };
    if (heldUp.has(domainId)) {
      const end = heldUp.beginTry(domainId);
      const stored = await storeInParts(job, records);
      end(stored.failure !== undefined || stored.waiting.length > 0);
      return stored;
    }
    return oneByOne(async () => {
      // another job may have found it held up meanwhile
      if (heldUp.has(domainId)) return { waiting: records };
      const stored = await storeAlone(job, records);
      if (stored.waiting.length === 0 || closing.aborted) return stored;
      return { waiting: records, failure: await failureOf(() => holdUp(domainId)) };
    });
  };

  const storeByDomain = async (job: RecordJob, records: NewRecord[]): Promise<Stored> => {
    const stored: Stored = { waiting: [] };
    for (const [domainId, some] of groupBy(records, (record) => record.domainId)) {
      const { waiting, failure } = await storeDomain(job, domainId, some);
      stored.waiting.push(...waiting);
      stored.failure ??= failure;
    }
    return stored;
  };

  return async (job) => {
    // it has waited before, so it might hold up a statement that it shares with others
    if (job.deliveries > 1) return storeByDomain(job, job.records);
    const { apart, failure: ofBatch } = await batcher.add(job);
    // another job's record may be to blame, so this job is tried by itself before it fails
    const isShared = ofBatch && ofBatch.fault !== 'outage' && ofBatch.fault !== 'slow';
    const failure = isShared ? await oneByOne(store, [job], without(job.records, apart)) : ofBatch;
    if (failure?.fault === 'slow') return storeByDomain(job, job.records);
    if (failure) return { waiting: [], failure };
    return storeByDomain(
      job,
      job.records.filter((record) => apart.has(record)),
    );
  };
}

const siblingsOf = async (db: Database, domainId: string): Promise<string[]> => {
  const domains = await db.read(
    (sql) => sql<{ id: string }[]>`
      select id from domains where organization_id = (select organization_id from domains where id = ${domainId})`,
  );
  return domains.map(({ id }) => id);
};

const without = (records: NewRecord[], apart: Set<NewRecord>): NewRecord[] =>
  apart.size === 0 ? records : records.filter((record) => !apart.has(record));

function storeAndRaise(parts: JobStoreParts, jobs: RecordJob[], records: NewRecord[]): Promise<void> {
  const { tracing, metrics } = parts;
  const counts = { 'assent.jobs': jobs.length, 'assent.records': records.length };
  return inSpan(tracing, 'persist', tracing ? originsOf(jobs) : noOrigins, counts, async (span) => {
    const { added, counters } = await persistWithMetrics(parts, records);
    metrics.records.inc({ outcome: 'stored' }, added);
    await raiseOrOwe(parts, counters, span);
  });
}

/** The records are stored, so a failing Redis is no reason to deliver them again. */
async function raiseOrOwe(
  { redis, db, log, metrics, tracing }: JobStoreParts,
  counters: Counter[],
  span: readonly Origin[],
): Promise<void> {
  try {
    const finish = metrics.raiseDuration.startTimer();
    const counts = { 'assent.counters': counters.length };
    await inSpan(tracing, 'raise counters', span, counts, () => raise(redis.client, counters));
    finish();
  } catch (error) {
    log.warn(
      { err: error, counters: counters.length },
      'could not raise counters in Redis; they are owed and raised later',
    );
    await db.write((sql) => oweRaises(sql, counters));
  }
}
