/** Reads counters from Redis, or from Postgres where Redis is away or does not hold all of them; then it also fills. */

import type { Breakdown } from '#libs/contract/terms';
import { fill } from '#libs/counters/fill';
import { readCounters } from '#libs/counters/read';
import type { RedisHealth } from '#libs/queue/health';
import type { RedisConnection } from '#libs/redis';
import { listCounters, readCounts } from '#libs/store/counters';
import type { Database } from '#libs/store/sql';
import type { Log } from '#libs/telemetry/log';
import type { Metrics } from '#libs/telemetry/metrics';

export type StatsSource = 'redis' | 'postgres';

export interface CounterReader {
  /** The counts of `periods`; one without decisions is absent. `domainId` '' is the whole organization. */
  read(wanted: {
    organizationId: string;
    domainId: string;
    periods: string[];
  }): Promise<{ source: StatsSource; counts: Map<string, Breakdown> }>;
}

export function createCounterReader(options: {
  connection: RedisConnection;
  redisHealth: RedisHealth;
  db: Database;
  log: Log;
  metrics: Metrics;
}): CounterReader {
  const { connection, redisHealth, db, log, metrics } = options;
  const filling = new Set<string>();

  const startFill = (organizationId: string) => {
    if (filling.has(organizationId)) return;
    filling.add(organizationId);
    fill(connection, organizationId, (after, limit) => db.run((sql) => listCounters(sql, organizationId, after, limit)))
      .then((filled) => {
        if (filled) metrics.fills.inc();
      })
      .catch((error: unknown) => log.warn({ err: error, organizationId }, 'counters could not be filled'))
      .finally(() => filling.delete(organizationId));
  };

  const fromRedis = async (wanted: Parameters<CounterReader['read']>[0]) => {
    if (redisHealth.reason() !== null) return null;
    try {
      const counts = await readCounters(connection, wanted);
      if (!counts) startFill(wanted.organizationId);
      return counts;
    } catch (error) {
      log.warn({ err: error }, 'counters could not be read from Redis');
      return null;
    }
  };

  return {
    async read(wanted) {
      const held = await fromRedis(wanted);
      const source = held ? 'redis' : 'postgres';
      metrics.statsReads.inc({ source });
      return { source, counts: held ?? (await db.run((sql) => readCounts(sql, wanted))) };
    },
  };
}
