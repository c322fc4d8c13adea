import { Counter, Histogram, type Registry } from 'prom-client';
import { fractions } from '#libs/base/ops/metrics';
import type { GaugeQuery } from '#libs/base/ops/sampled-gauges';

export function createStatsMetrics(register: Registry) {
  const registers = [register];
  const metrics = {
    displays: new Counter({
      name: 'assent_displays_total',
      help: 'Banners shown by outcome: counted, stored',
      labelNames: ['outcome'],
      registers,
    }),
    raiseDuration: new Histogram({
      name: 'assent_raise_duration_seconds',
      help: 'Duration of raising the counters of one persist statement in Redis',
      buckets: fractions,
      registers,
    }),
    statsReads: new Counter({
      name: 'assent_stats_reads_total',
      help: 'Reads of statistics by source',
      labelNames: ['source'],
      registers,
    }),
    fills: new Counter({
      name: 'assent_counter_fills_total',
      help: 'Organizations whose counters were filled from Postgres',
      registers,
    }),
    drift: new Counter({
      name: 'assent_counter_drift_total',
      help: 'Counters in Redis that were found to differ from Postgres',
      registers,
    }),
  };
  // a rate needs a zero before the first count
  for (const outcome of ['counted', 'stored']) metrics.displays.inc({ outcome }, 0);
  for (const source of ['redis', 'postgres']) metrics.statsReads.inc({ source }, 0);
  return metrics;
}

export type StatsMetrics = ReturnType<typeof createStatsMetrics>;

const most = 100_000;

export const statsBacklog: GaugeQuery<number> = {
  ask: async (sql) => {
    const [row] = await sql<{ owed: number }[]>`
      select count(*)::int as owed from (select from owed_raises limit ${most}) as owed`;
    return row?.owed ?? 0;
  },
  gauges: [{ name: 'assent_owed_raises', help: 'Counters that wait to be raised in Redis', values: (owed) => owed }],
};
