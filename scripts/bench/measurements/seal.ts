import { randomBytes } from 'node:crypto';
import { connectRedis } from '#libs/runtime/redis';
import { closeEpoch } from '#libs/store/epochs/epochs';
import { persist } from '#libs/store/records/persist';
import { createDatabase } from '#libs/store/sql';
import { createLog } from '#libs/telemetry/log';
import { createMetrics } from '#libs/telemetry/metrics';
import { createBlanking } from '../../../apps/worker/derive/blank/blanking.ts';
import { createSealing } from '../../../apps/worker/derive/seal/sealing.ts';
import { waitUntil } from '../../stack/wait.ts';
import { cpuTime } from '../cpu-time.ts';
import { atMost, type Figures } from '../figures.ts';
import { addDomains } from '../many-domains.ts';
import type { Measurement } from '../measurement.ts';
import { makeRecord } from '../requests.ts';
import type { Stack } from '../stack.ts';

/** In every epoch each domain has so many records. */
interface Load {
  name: string;
  domainIds: string[];
  each: number;
  epochs: number;
}

const tables = ['log_runs', 'log_nodes', 'logs', 'log_keys'];
/** Epochs between two vacuums: autovacuum looks once a minute. */
const vacuumEvery = 5;

/** Sealing in this process, alone: all that was stored before. */
export const seal: Measurement = {
  name: 'seal',
  about: 'records/s sealed, alone; CPU time and disk that each takes; many domains with few records each',
  figure: async (stack, { records }) => {
    const organizations = stack.sites.map(({ organizationId }) => organizationId);
    const busy = stack.sites.map(({ domainId }) => domainId);
    const many = await addDomains(stack, organizations, 2_000);
    const loads: Load[] = [
      { name: 'seal', domainIds: busy, each: Math.ceil(records / busy.length / 5), epochs: 5 },
      { name: 'seal: 500 domains', domainIds: many.slice(0, 500), each: 5, epochs: Math.ceil(records / 2_500) },
      { name: 'seal: 2,000 domains', domainIds: many, each: 1, epochs: 20 },
    ];
    return async () => {
      const figures: Figures = {};
      for (const load of loads) Object.assign(figures, await sealAll(stack, load));
      return figures;
    };
  },
  targets: {
    'seal: CPU': atMost(14),
    'seal: disk': atMost(90),
    'seal: 500 domains: Postgres': atMost(5),
    'seal: 500 domains: disk': atMost(160),
    'seal: 2,000 domains: a core, if they change every minute': atMost(10),
  },
};

async function sealAll(stack: Stack, { name, domainIds, each, epochs }: Load): Promise<Figures> {
  const timeouts = { statementTimeout: 60_000, deadline: 61_000 };
  const db = createDatabase({ url: stack.databaseUrl, max: 6, ...timeouts, prepare: true, name: 'bench' });
  const redis = connectRedis({ url: redisAddress(stack), clusterNodes: [] }, 'producer', { warn: () => {} });
  const sealing = { name: 'bench', keys: [randomBytes(32)], seconds: 60 };
  const parts = { redis, db, log: createLog('bench', 'silent'), metrics: createMetrics() };
  const blank = createBlanking({ db, privacyKey: undefined });
  const round = createSealing({ sealing, ...parts });
  try {
    await waitUntil(() => redis.runIdOf('') !== undefined, { deadlineMs: 5_000 });
    await stack.reset();
    const emptyDisk = await diskOf(stack);
    const used = { worker: 0, postgres: 0, seconds: 0 };
    let sealed = 0;
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      const total = domainIds.length * each;
      for (let from = 0; from < total; from += 1_000) {
        const batch = Array.from({ length: Math.min(1_000, total - from) }, (_, n) =>
          makeRecord(domainIds, from + n, Date.now()),
        );
        sealed += (await persist(db, batch)).added;
      }
      await closeEpoch(db, { every: 0, patience: 5_000 });
      if (epoch % vacuumEvery === 0) await db.run((sql) => sql.unsafe(`vacuum ${tables.join(', ')}`), 60_000);
      // nobody was erased; what that costs is counted apart
      await blank(new AbortController().signal);
      const before = { worker: cpuTime(process.pid), postgres: cpuTime(stack.pids.Postgres), at: performance.now() };
      await blank(new AbortController().signal);
      await round(new AbortController().signal);
      used.worker += cpuTime(process.pid) - before.worker;
      used.postgres += cpuTime(stack.pids.Postgres) - before.postgres;
      used.seconds += (performance.now() - before.at) / 1_000;
    }
    const cpu = used.worker + used.postgres;
    return {
      [name]: { value: sealed / used.seconds, unit: 'records/s' },
      [`${name}: CPU`]: { value: cpu / sealed, unit: 'µs CPU' },
      [`${name}: worker`]: { value: used.worker / sealed, unit: 'µs CPU' },
      [`${name}: Postgres`]: { value: used.postgres / sealed, unit: 'µs CPU' },
      [`${name}: disk`]: { value: ((await diskOf(stack)) - emptyDisk) / sealed, unit: 'bytes' },
      [`${name}: a core, if they change every minute`]: { value: cpu / epochs / 600_000, unit: '%' },
    };
  } finally {
    await redis.close();
    await db.close();
  }
}

const redisAddress = ({ redis }: Stack): string => `redis://127.0.0.1:${redis.options.port}`;

/** The log's tables, and what records have for it: the index by epoch and the stamp itself. */
async function diskOf({ db }: Stack): Promise<number> {
  const [row] = await db.run(
    (sql) => sql<{ bytes: number }[]>`
      select (
        (select sum(pg_total_relation_size(to_regclass(name))) from unnest(${tables}::text[]) as name)
        + (
          select coalesce(sum(pg_relation_size(indexrelid)), 0) from pg_partition_tree('records_by_epoch')
          join pg_index on indexrelid = relid where isleaf
        )
        + 4 * (select count(*) from records)
      )::bigint as bytes`,
  );
  return row?.bytes ?? Number.NaN;
}
