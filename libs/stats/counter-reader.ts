/** Reads counters from Redis, or from Postgres if Redis is down or incomplete. If it is incomplete, also starts a fill. */
import pLimit from 'p-limit';
import type { Database } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import type { RedisHealth } from '#libs/base/redis/health';
import { type InSlot, withoutSlot } from '#libs/base/slots';
import { type Breakdown, sumOf } from '#libs/base/terms/terms';
import type { StatsMetrics } from './metrics.ts';
import { fill, isReady } from './redis/fill.ts';
import { type CounterQuestion, readCounters, sumCounters } from './redis/read.ts';
import { listCounters, readCounts } from './stored-counters.ts';

/** Organizations at a time. Fair turns are not needed, because an organization has at most one fill. */
const fillsAtOnce = 2;

type StatsSource = 'redis' | 'postgres';

/** `inSlot`: runs a read from Postgres in one of the slots that organizations share; absent if the caller has one. */
export interface CounterReader {
  /** The counts of each period; one without decisions may be absent. */
  read(wanted: CounterQuestion, inSlot?: InSlot): Promise<{ source: StatsSource; counts: Map<string, Breakdown> }>;
  /** The sum over all periods. */
  sum(wanted: CounterQuestion, inSlot?: InSlot): Promise<{ source: StatsSource; counts: Breakdown }>;
}

export function createCounterReader(options: {
  redis: RedisConnection;
  redisHealth: RedisHealth;
  db: Database;
  log: Log;
  metrics: StatsMetrics;
}): CounterReader {
  const { redis, redisHealth, db, log, metrics } = options;
  const filling = new Set<string>();
  const limit = pLimit(fillsAtOnce);

  /** Fills an organization as soon as it is read, without waiting for the worker. */
  const startFill = (organizationId: string) => {
    if (filling.has(organizationId)) return;
    filling.add(organizationId);
    limit(fillNow, organizationId)
      .catch((error: unknown) => log.warn({ err: error, organizationId }, 'could not fill counters'))
      .finally(() => filling.delete(organizationId));
  };

  const fillNow = async (organizationId: string) => {
    if (await isReady(redis, organizationId)) return;
    const filled = await fill(redis, organizationId, (after, most) =>
      db.read((sql) => listCounters(sql, organizationId, after, most)),
    );
    if (filled) metrics.fills.inc();
  };

  type Ask<Counts> = (redis: RedisConnection, wanted: CounterQuestion) => Promise<Counts | null>;

  const fromRedis = async <Counts>(ask: Ask<Counts>, wanted: CounterQuestion) => {
    if (redisHealth.reason() !== null) return null;
    try {
      const counts = await ask(redis, wanted);
      if (!counts) startFill(wanted.organizationId);
      return counts;
    } catch (error) {
      log.warn({ err: error }, 'could not read counters from Redis');
      return null;
    }
  };

  const from = async <Counts>(
    wanted: CounterQuestion,
    inSlot: InSlot,
    ask: Ask<Counts>,
    derive: (rows: Map<string, Breakdown>) => Counts,
  ): Promise<{ source: StatsSource; counts: Counts }> => {
    const copied = await fromRedis(ask, wanted);
    const source = copied ? 'redis' : 'postgres';
    metrics.statsReads.inc({ source });
    return { source, counts: copied ?? derive(await inSlot(() => db.read((sql) => readCounts(sql, wanted)))) };
  };

  return {
    read: (wanted, inSlot = withoutSlot) => from(wanted, inSlot, readCounters, (rows) => rows),
    sum: (wanted, inSlot = withoutSlot) => from(wanted, inSlot, sumCounters, (rows) => sumOf(rows.values())),
  };
}
