/** Gauges of the record queues, which all processes share: read when they are scraped. */
import { Gauge, type Registry } from 'prom-client';
import { oneLook } from './one-look.ts';

interface Shard {
  shard: number;
  /** by state */
  jobs: Record<string, number>;
  /** seconds */
  oldest: number;
}

/** Where `look` fails, there are no values: old ones would say that all is as it was. */
export function createQueueGauges(register: Registry, look: () => Promise<Shard[]>, onError: () => void): void {
  const collect = oneLook(
    look,
    (shards) => show(shards),
    () => {
      depth.reset();
      age.reset();
      onError();
    },
  );
  const show = (shards: Shard[]) => {
    // one that was forgotten is shown no more
    for (const gauge of [depth, age]) gauge.reset();
    for (const { shard, jobs, oldest } of shards) {
      for (const [state, count] of Object.entries(jobs)) depth.set({ shard, state }, count);
      age.set({ shard }, oldest);
    }
  };
  // of several processes behind one port each tells the same
  const shared = { registers: [register], aggregator: 'max' as const, collect };
  const depth = new Gauge({
    name: 'assent_queue_jobs',
    help: 'Jobs in the record queues, by shard and state',
    labelNames: ['shard', 'state'],
    ...shared,
  });
  const age = new Gauge({
    name: 'assent_queue_oldest_job_age_seconds',
    help: 'Age of the oldest job that is not done and has not failed (of delayed ones, that of the next), by shard',
    labelNames: ['shard'],
    ...shared,
  });
}
