/** Gauges of the stores, as this process saw them last, and of its connections. */
import { Gauge, type Registry } from 'prom-client';
import { lastSuccesses } from '../db/task-leases.ts';
import { by, type GaugeQuery } from './sampled-gauges.ts';

interface Pool {
  /** queries and transactions in progress or waiting for a connection */
  running(): number;
  connections: number;
}

interface Stores {
  isPostgresUsable(): Promise<boolean>;
  /** the used share of maxmemory; null if Redis does not respond */
  redisMemory(): number | null;
  /** milliseconds that this process' clock is ahead of Postgres'; null if unknown */
  clockSkew(): number | null;
  /** of connections to Postgres */
  pools: Record<string, Pool>;
}

export function createStoreGauges(
  register: Registry,
  { isPostgresUsable, redisMemory, clockSkew, pools }: Stores,
): void {
  const registers = [register];
  const postgres = new Gauge({
    name: 'assent_postgres_usable',
    help: '1 while Postgres responds to this process and can store',
    // the worst of the processes behind one port
    aggregator: 'min',
    registers,
    collect: async () => {
      postgres.set((await isPostgresUsable()) ? 1 : 0);
    },
  });
  const memory = new Gauge({
    name: 'assent_redis_memory_used_ratio',
    help: 'Share of maxmemory that Redis uses, of the fullest master; 0 without maxmemory',
    aggregator: 'max',
    registers,
    collect: () => {
      const share = redisMemory();
      if (share === null) memory.remove();
      else memory.set(share);
    },
  });
  const skew = new Gauge({
    name: 'assent_clock_skew_seconds',
    help: "Seconds that this process' clock is ahead of Postgres'; negative where it is behind",
    // processes behind one port share one clock
    aggregator: 'max',
    registers,
    collect: () => {
      const ahead = clockSkew();
      if (ahead === null) skew.remove();
      else skew.set(ahead / 1_000);
    },
  });
  // the fullest of the processes behind one port
  const shared = { registers: [register], aggregator: 'max' as const };
  const connections = new Gauge({
    name: 'assent_postgres_connections',
    help: 'Connections that a pool may have, by pool',
    labelNames: ['pool'],
    ...shared,
  });
  const running = new Gauge({
    name: 'assent_postgres_running',
    help: 'Queries and transactions that are under way or wait for a connection, by pool',
    labelNames: ['pool'],
    ...shared,
    collect: () => {
      for (const [pool, each] of Object.entries(pools)) running.set({ pool }, each.running());
    },
  });
  for (const [pool, each] of Object.entries(pools)) connections.set({ pool }, each.connections);
}

interface Housekeeping {
  /** 1 while archiving is on; it may be off by mistake after a restore */
  archiving: number;
  /** 1 while archiving fails; 0 also if nothing is archived */
  archiveFailing: number;
  /** Unix seconds, by task */
  successes: Record<string, number>;
}

/** `tasks`: the tasks whose last success is shown. */
export const housekeepingBacklog = (tasks: string[]): GaugeQuery<Housekeeping> => ({
  ask: async (sql) => {
    const [row] = await sql<Housekeeping[]>`
      select (current_setting('archive_mode') <> 'off')::int as archiving,
        (
          current_setting('archive_mode') <> 'off' and last_failed_time is not null
          and last_failed_time > coalesce(last_archived_time, '-infinity')
        )::int as "archiveFailing",
        (${lastSuccesses(sql, tasks)}) as successes
      from pg_stat_archiver`;
    return row ?? { archiving: 0, archiveFailing: 0, successes: {} };
  },
  gauges: [
    {
      name: 'assent_postgres_archiving',
      help: '1 while Postgres archives its write-ahead log',
      values: ({ archiving }) => archiving,
    },
    {
      name: 'assent_postgres_archive_failing',
      help: '1 while Postgres cannot archive its write-ahead log',
      values: ({ archiveFailing }) => archiveFailing,
    },
    {
      name: 'assent_housekeeping_last_success_timestamp_seconds',
      help: 'When a task of housekeeping last succeeded in any worker, or was first scheduled, by task',
      labelNames: ['task'],
      values: ({ successes }) => by('task', successes),
    },
  ],
});
