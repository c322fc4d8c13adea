import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createDatabase, type Database } from '#libs/base/db/database';
import { createLog } from '#libs/base/ops/process-log';
import { connectRedis } from '#libs/base/redis/connection';
import { closeEpoch } from '#libs/epochs/closing';
import { createBlanking } from '#libs/privacy/blanking';
import { createProofMetrics } from '#libs/proof/metrics';
import { createSealing } from '#libs/proof/sealing';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { createFacets } from '#libs/stats/facet-derivation';
import { waitUntil } from '../../stack/wait.ts';
import { type Figures, figuresOver, type Look, look } from '../figures.ts';
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

/** epochs whose records a worker counts by dimension together, and their records: fewer in all than one statement may have */
const span = 15;
const epochOf = 1_000;

const tables = ['log_runs', 'log_nodes', 'logs', 'log_keys'];
/** Epochs between two vacuums: autovacuum looks once a minute. */
const vacuumEvery = 5;
const checkResult = z.object({ checked: z.number(), differences: z.array(z.unknown()) });

/** What a worker derives of records that were stored before, in this process and alone; and the check of the logs. */
export const seal: Measurement = {
  name: 'seal',
  about: 'records/s sealed, alone, and counted by dimension; what each takes; many domains; `log check`',
  figure: async (stack, { records }) => {
    const organizations = stack.sites.map(({ organizationId }) => organizationId);
    const busy = stack.domainIds;
    const many = await stack.addDomains(organizations, 2_000);
    const loads: Load[] = [
      { name: 'seal', domainIds: busy, each: Math.ceil(records / busy.length / 5), epochs: 5 },
      { name: 'seal: 1 domain', domainIds: busy.slice(0, 1), each: Math.min(20_000, records), epochs: 5 },
      { name: 'seal: 500 domains', domainIds: many.slice(0, 500), each: 5, epochs: Math.ceil(records / 2_500) },
      { name: 'seal: 2,000 domains', domainIds: many, each: 1, epochs: 20 },
    ];
    return async () => {
      const figures: Figures = {};
      for (const load of loads) Object.assign(figures, await deriveAll(stack, load));
      for (const domainIds of [busy, many.slice(0, 500)]) Object.assign(figures, await countSpans(stack, domainIds));
      return figures;
    };
  },
  targets: {
    'seal: CPU': 'at most 14',
    'seal: disk': 'at most 90',
    'seal: log check': 'at most 30',
    'seal: by dimension: Postgres': 'at most 6',
    'seal: 500 domains: Postgres': 'at most 5',
    'seal: 500 domains: disk': 'at most 160',
    'seal: 2,000 domains: a core, if they change every minute': 'at most 10',
  },
};

async function deriveAll(stack: Stack, { name, domainIds, each, epochs }: Load): Promise<Figures> {
  const db = openDatabase(stack);
  const redis = connectRedis({ url: stack.redisUrl, clusterNodes: [] }, 'producer', { warn: () => {} });
  const sealing = { name: 'bench', keys: [randomBytes(32)], seconds: 60 };
  const parts = { redis, db, log: createLog('bench', 'silent'), metrics: createProofMetrics(new Registry()) };
  const blankAll = createBlanking({ db, privacyKey: undefined });
  const [sealAll, countAll] = [createSealing({ sealing, after: 'blank', ...parts }), createFacets(db, 'blank')];
  const total = domainIds.length * each;
  const timed = (derive: typeof sealAll) => timedOf(stack, total, derive);
  const spans: { sealed: [Look, Look][]; counted: [Look, Look][] } = { sealed: [], counted: [] };
  try {
    await waitUntil(() => redis.runIdOf('') !== undefined, { deadlineMs: 5_000 });
    await stack.reset();
    const emptyDisk = await diskOf(stack);
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      await storeEpoch(db, domainIds, total);
      if (epoch % vacuumEvery === 0) await db.run((sql) => sql.unsafe(`vacuum ${tables.join(', ')}, facets`), 60_000);
      // nobody was erased; what that costs is counted apart
      await blankAll(never);
      spans.sealed.push(await timed(sealAll));
      spans.counted.push(await timed(countAll));
    }
    const disk = ((await diskOf(stack)) - emptyDisk) / total / epochs;
    const figures = figuresOver(name, ...spans.sealed);
    const cpu = ['worker', 'Postgres'].reduce(
      (sum, part) => sum + (figures[`${name}: ${part}`]?.value ?? Number.NaN),
      0,
    );
    return {
      ...figures,
      [`${name}: CPU`]: { value: cpu, unit: 'µs CPU' },
      [`${name}: disk`]: { value: disk, unit: 'bytes' },
      [`${name}: a core, if they change every minute`]: { value: (cpu * total) / 600_000, unit: '%' },
      [`${name}: log check`]: { value: await checkLogs(stack), unit: 'µs an entry' },
      // the first epoch makes the rows that the others find
      ...figuresOver(`${name}: by dimension`, ...spans.counted.slice(1)),
    };
  } finally {
    await redis.close();
    await db.close();
  }
}

/** Statistics by dimension of epochs of 1,000 records: each by itself, and then 15 together, as a worker takes them. */
async function countSpans(stack: Stack, domainIds: string[]): Promise<Figures> {
  const db = openDatabase(stack);
  const [blankAll, countAll] = [createBlanking({ db, privacyKey: undefined }), createFacets(db, 'blank')];
  const alone: [Look, Look][] = [];
  try {
    await stack.reset();
    // the first epoch makes the rows that the others find
    for (let epoch = 0; epoch <= span; epoch += 1) {
      await storeEpoch(db, domainIds, epochOf);
      await blankAll(never);
      alone.push(await timedOf(stack, epochOf, countAll));
    }
    for (let epoch = 0; epoch < span; epoch += 1) await storeEpoch(db, domainIds, epochOf);
    await blankAll(never);
    const together = await timedOf(stack, span * epochOf, countAll);
    const name = `seal: by dimension, ${domainIds.length} domains, epochs of 1,000`;
    return {
      ...figuresOver(`${name}, each alone`, ...alone.slice(1)),
      ...figuresOver(`${name}, 15 together`, together),
    };
  } finally {
    await db.close();
  }
}

function openDatabase({ databaseUrl: url }: Stack) {
  return createDatabase({ url, max: 6, statementTimeout: 60_000, deadline: 61_000, prepare: true, name: 'bench' });
}

const never = new AbortController().signal;

async function timedOf(
  { pids: { Postgres } }: Stack,
  records: number,
  derive: (signal: AbortSignal) => Promise<void>,
): Promise<[Look, Look]> {
  const pids = { worker: process.pid, Postgres };
  const first = look(0, pids);
  await derive(never);
  return [first, look(records, pids)];
}

/** An epoch of so many records, closed. */
async function storeEpoch(db: Database, domainIds: string[], records: number): Promise<void> {
  for (let from = 0; from < records; from += 1_000) {
    const size = Math.min(1_000, records - from);
    const batch = Array.from({ length: size }, (_, n) => makeVaried(domainIds, from + n));
    if ((await persist(db, batch)).added !== size) throw new Error('records are missing');
  }
  await closeEpoch(db, { pace: 0, patience: 5_000 });
}

/** Of twelve countries, with as many versions of the banner. */
const makeVaried = (domainIds: string[], index: number): NewRecord => ({
  ...makeRecord(domainIds, index, Date.now()),
  country: `A${String.fromCharCode(65 + (index % 12))}`,
  bannerVersion: `2.${Math.floor(index / 12) % 12}`,
});

/** Microseconds an entry. */
async function checkLogs({ cli }: Stack): Promise<number> {
  const started = performance.now();
  const { checked, differences } = checkResult.parse(JSON.parse(await cli('--json', 'log', 'check')));
  if (differences.length > 0) throw new Error(`${differences.length} differences`);
  return ((performance.now() - started) / checked) * 1_000;
}

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
