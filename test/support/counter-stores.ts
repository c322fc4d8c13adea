/** What the counters' tests need of both stores. */

import type { Database } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { createLog } from '#libs/base/ops/process-log';
import type { RedisConnection } from '#libs/base/redis/connection';
import { spanOf } from '#libs/base/terms/calendar';
import { type Breakdown, type Counter, decisions, emptyBreakdown, type PackedCounters } from '#libs/base/terms/terms';
import { createRecordMetrics } from '#libs/record/metrics';
import { createStatsMetrics } from '#libs/stats/metrics';
import type { ListCounters } from '#libs/stats/redis/fill';
import { readCounters } from '#libs/stats/redis/read';
import { listCounters } from '#libs/stats/stored-counters';

/** Lists at most `most` counters at once. */
export const listerOf =
  (db: Database, organizationId: string, most = Number.POSITIVE_INFINITY): ListCounters =>
  (after, limit) =>
    db.run((sql) => listCounters(sql, organizationId, after, Math.min(limit, most)));

/** What a fill is given to read. */
export const packedPage = (counters: Counter[]) => ({ counters: packAll(counters), next: undefined });

function packAll(counters: Counter[]): PackedCounters[] {
  const hashes = groupBy(
    counters,
    ({ domainId, period }) => `${domainId}/${period.length === 7 ? '' : period.slice(0, 7)}`,
  );
  return Array.from(hashes, ([name, group]) => {
    const [domainId = '', month = ''] = name.split('/');
    const fields = group.map((each) => {
      const field = each.period.slice(month ? 8 : 0);
      return [field, ...decisions.map((decision) => each[decision])].join(' ');
    });
    return { domainId, month, counters: fields.join(';') };
  });
}

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
export function quiet() {
  const base = createBaseMetrics();
  const metrics = { ...base, ...createRecordMetrics(base.register), ...createStatsMetrics(base.register) };
  return { log: createLog('test', 'silent'), metrics };
}
