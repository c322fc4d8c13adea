/** What a drill runs on: stores, tenants and processes of its own. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { shardOf } from '#libs/queue/names';
import { connectRedis } from '#libs/runtime/redis';
import { createDatabase, type Database, type Sql } from '#libs/store/sql';
import { type AssentProcess, startAssent } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import type { Site } from '../stack/client.ts';
import { outputOf } from '../stack/command.ts';
import { startPostgres } from '../stack/postgres.ts';
import { type Run, type StoreOptions, startRun, startStores } from '../stack/private-stores.ts';
import { startRedis } from '../stack/redis.ts';
import { startRedisCluster } from '../stack/redis-cluster.ts';
import { startRedisSentinels } from '../stack/redis-sentinels.ts';
import { restartable } from '../stack/restartable.ts';

export type ChaosStack = Awaited<ReturnType<typeof startChaosStack>>;
/** An API or a worker. */
export type AppProcess = ReturnType<typeof freezable>;

interface StackOptions extends StoreOptions {
  /** a build that is there already */
  dist?: string;
  /** what Redis is, if not one server */
  engine?: 'cluster' | 'sentinels' | undefined;
  /** a build of the release before, which then makes schema and sites */
  before?: string | undefined;
}

/** of the drills on a cluster */
export const clusterShards = 3;

export const startChaosStack = (options: StackOptions = {}) => startRun('chaos', (run) => startStack(run, options));

async function startStack(
  run: Run,
  { dist = path.join(run.folder, 'dist'), engine, before, ...options }: StackOptions,
) {
  const { folder, onStop } = run;
  const { redisSettings: settings = {} } = options;
  if (!existsSync(dist)) await build(dist);
  const stores = await startStores(run, options);
  const { dataDir } = stores.postgres;
  const postgres = restartable(stores.postgres, (port) => startPostgres({ dataDir, port }));
  const redis = restartable(stores.redis, (port) => startRedis({ dataDir: stores.redis.dataDir, port, settings }));
  onStop(() => postgres.running().stop());
  onStop(() => redis.running().stop());
  const many = { dataDir: path.join(folder, 'engine'), settings };
  const cluster = engine === 'cluster' ? await startRedisCluster(many) : undefined;
  const sentinels = engine === 'sentinels' ? await startRedisSentinels(many) : undefined;
  const instead = cluster ?? sentinels;
  if (instead) {
    await redis.running().stop();
    onStop(instead.stop);
  }
  const counters = connectRedis(instead?.address ?? { url: redis.url, clusterNodes: [] }, 'producer', {
    warn: () => {},
  });
  onStop(counters.close);
  const sealing = { LOG_NAME: 'chaos', LOG_KEY: randomBytes(32).toString('hex'), SEAL_SECONDS: '1' };
  const env = () => ({ ...stores.env, DATABASE_URL: postgres.running().url, ...instead?.env, ...sealing });
  /** The operator's command line, of this release unless another one is given. */
  const assent = (args: string[], from = dist) =>
    outputOf(process.execPath, [path.join(from, 'apps/cli/main.js'), ...args], { cwd: from, env: env() });
  const sites = await makeSites(engine, (...args) => assent(args, before));
  const [site] = sites;
  if (!site) throw new Error('no site');
  const processes: AppProcess[] = [];
  const databases = new Map<string, Database>();
  const databaseAt = (url: string): Database => {
    const options = { max: 8, statementTimeout: 0, deadline: 60_000, prepare: true, name: 'chaos' };
    const database = databases.get(url) ?? createDatabase({ ...options, url });
    databases.set(url, database);
    return database;
  };
  onStop(() => Promise.all([...databases.values()].map(({ close }) => close())));
  /** Looks into Postgres directly, past any proxy. */
  const sql = <T>(work: (sql: Sql) => Promise<T>, { url } = postgres.running()) => databaseAt(url).run(work);
  return {
    folder,
    /** the build of the release before, if that is what the stack began with */
    before,
    sites,
    /** the first of them */
    site,
    /** the connection for what the libraries know of counters */
    counters,
    jwtSecret: stores.env.JWT_SECRET,
    postgres,
    redis,
    /** whose disk may be filled */
    hasSmallDisk: { postgres: options.postgresFolder !== undefined, redis: options.redisFolder !== undefined },
    cluster,
    sentinels,
    /** every process that was started, with its output */
    processes,
    start: async (app: 'api' | 'worker', extra: Record<string, string> = {}, from = dist) => {
      const started = freezable(await startAssent(from, app, { ...env(), PORT: '0', OPS_PORT: '0', ...extra }));
      processes.push(started);
      onStop(async () => {
        // a frozen process takes no other signal
        started.thaw();
        await started.process.stop('SIGTERM', 15_000);
      });
      return started;
    },
    assent: (...args: string[]) => assent(args),
    sql,
    /** The `n` of one row. */
    count: async (query: (sql: Sql) => Promise<{ n: number }[]>) => (await sql(query))[0]?.n ?? 0,
    redisDo: async <T>(work: (redis: Redis) => Promise<T>) => {
      const client = new Redis(redis.url, { maxRetriesPerRequest: 20, commandTimeout: 20_000 }).on('error', () => {});
      return work(client).finally(() => client.disconnect());
    },
    onStop,
  };
}

function freezable(started: AssentProcess) {
  const { process: child } = started;
  let thawedAt = 0;
  return {
    ...started,
    freeze: () => {
      thawedAt = Number.POSITIVE_INFINITY;
      process.kill(child.pid, 'SIGSTOP');
    },
    thaw: () => {
      thawedAt = performance.now();
      if (child.running()) process.kill(child.pid, 'SIGCONT');
    },
    /** Then it cannot have answered in time. */
    wasFrozenSince: (time: number): boolean => thawedAt > time,
  };
}

/** Two organizations, or in a cluster as many as it takes until every shard has records. */
async function makeSites(engine: StackOptions['engine'], assent: (...args: string[]) => Promise<string>) {
  const make = async <Id extends string>(...args: string[]): Promise<Record<Id, string>> =>
    JSON.parse(await assent('--json', ...args));
  await assent('migrate');
  const organizationIds: string[] = [];
  const isEnough = () =>
    engine === 'cluster'
      ? new Set(organizationIds.map((id) => shardOf(id, clusterShards))).size === clusterShards
      : organizationIds.length === 2;
  while (!isEnough()) {
    const { organizationId } = await make<'organizationId'>('org', 'create', `Organization ${organizationIds.length}`);
    organizationIds.push(organizationId);
  }
  // domains add up to their organization
  const owners = [...organizationIds, ...organizationIds.slice(0, 1)];
  return Promise.all(
    owners.map(async (organizationId, index): Promise<Site> => {
      const { domainId } = await make<'domainId'>('domain', 'create', organizationId, `site-${index}.example`);
      const { apiKey } = await make<'apiKey'>('key', 'create', domainId);
      return { organizationId, domainId, apiKey };
    }),
  );
}
