/** What the counters' tests need of both stores. */
import { spanOf } from '#libs/contract/calendar';
import { type Breakdown, type Counter, decisions, emptyBreakdown } from '#libs/contract/terms';
import type { ListCounters } from '#libs/counters/fill';
import { readCounters } from '#libs/counters/read';
import type { RedisConnection } from '#libs/runtime/redis';
import { listCounters } from '#libs/store/counters';
import type { Database } from '#libs/store/sql';
import { createLog } from '#libs/telemetry/log';
import { createMetrics } from '#libs/telemetry/metrics';

export const listerOf =
  (db: Database, organizationId: string): ListCounters =>
  (after, limit) =>
    db.run((sql) => listCounters(sql, organizationId, after, limit));

/** Reads from Redis each of the given counters; null without the mark. */
export async function readSame(
  connection: RedisConnection,
  organizationId: string,
  counters: Counter[],
): Promise<Counter[] | null> {
  const read: Counter[] = [];
  for (const domainId of new Set(counters.map((counter) => counter.domainId))) {
    const periods = counters.filter((counter) => counter.domainId === domainId).map(({ period }) => period);
    const counts = await readCounters(connection, { organizationId, domainId, spans: periods.map(spanOf) });
    if (!counts) return null;
    for (const period of periods)
      read.push({ organizationId, domainId, period, ...(counts.get(period) ?? emptyBreakdown()) });
  }
  return read;
}

export const isAtMost = (lower: Breakdown, upper: Breakdown): boolean =>
  decisions.every((decision) => lower[decision] <= upper[decision]);

/** What the worker's parts take besides the stores. */
export const quiet = () => ({ log: createLog('test', 'silent'), metrics: createMetrics() });
