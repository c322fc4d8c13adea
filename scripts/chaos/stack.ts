/** What a drill runs on: stores, tenants and processes of its own. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createDatabase, type Database } from '#libs/base/db/database';
import type { Pool } from '#libs/base/db/pooled';
import { connectRedis } from '#libs/base/redis/connection';
import { shardOf } from '#libs/record/queue';
import { describe } from '../stack/advice.ts';
import { type AssentProcess, runCli, startAssent } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import { type App, loginAt, loginsAt } from '../stack/logins.ts';
import { startPostgres } from '../stack/postgres.ts';
import { newKey, type Run, startRun, startStores } from '../stack/private-stores.ts';
import { startRedis } from '../stack/redis.ts';
import { startRedisCluster, startRedisSentinels } from '../stack/redis-groups.ts';
import { restartable } from '../stack/server.ts';
import { makeSites } from '../stack/sites.ts';
import { type Clock, clockOfPostgres, clockOfProcess } from './clocks.ts';
import { mountSmallDisk } from './faults.ts';

export type ChaosStack = Awaited<ReturnType<typeof startChaosStack>>;
/** Settings of processes that send to webhooks on this machine. */
export const webhookSettings = () => ({ SECRETS_KEY: newKey(), WEBHOOK_ALLOW_PRIVATE: 'true' });

/** An API or a worker. */
export type AppProcess = ReturnType<typeof freezable>;

/** What a drill may want of its stores. */
export interface Wishes {
  redisSettings?: Record<string, string>;
  /** what Redis is, if not one server */
  engine?: 'cluster' | 'sentinels';
  /** The clocks of processes and of Postgres can be set. */
  clocks?: true;
  /** Each store gets a disk of that size, where this machine allows it. */
  smallDisks?: string;
}

interface StackOptions extends Wishes {
  /** a build that is there already */
  dist?: string;
  /** a build of the release before, which then makes schema and sites */
  before?: string | undefined;
}

/** of the drills on a cluster */
export const clusterShards = 3;

export const startChaosStack = (options: StackOptions = {}) => startRun('chaos', (run) => startStack(run, options));

async function startStack(run: Run, options: StackOptions) {
  const { folder, onStop } = run;
  const { dist = path.join(folder, 'dist'), before, engine, clocks, smallDisks } = options;
  const { redisSettings: settings = {} } = options;
  if (!existsSync(dist)) await build(dist);
  const postgresClock = clocks && (await clockOfPostgres(path.join(folder, 'clock')).catch(sayWhyNot));
  const { env: postgresEnv } = postgresClock ?? {};
  const diskFor = () => {
    const disk = smallDisks ? mountSmallDisk(smallDisks) : undefined;
    if (disk) onStop(disk.undo);
    return disk?.folder;
  };
  const folders = { postgresFolder: diskFor(), redisFolder: diskFor() };
  const stores = await startStores(run, { ...folders, redisSettings: settings, postgresEnv });
  const { dataDir } = stores.postgres;
  const postgres = restartable(stores.postgres, (port) => startPostgres({ dataDir, port, env: postgresEnv }));
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
  const address = instead?.address ?? { url: redis.url, clusterNodes: [] };
  const counters = connectRedis(address, 'producer', { warn: () => {} });
  onStop(counters.close);
  const sealing = { LOG_NAME: 'chaos', LOG_KEY: newKey(), SEAL_SECONDS: '1' };
  const env = () => {
    const { url } = postgres.running();
    return { ...stores.env, DATABASE_URL: url, ...loginsAt(url), ...instead?.env, ...sealing };
  };
  let hasLogins = false;
  /** The release before knows no login but the owner's, as does this one until it has migrated. */
  const asLogin = (app: App, given: string, from: string) =>
    from === before || !hasLogins ? given : loginAt(given, app);
  /** The operator's command line, of this release unless another one is given. */
  const assent = async (args: string[], from = dist) => {
    const output = await runCli(from, args, { env: env() });
    if (args[0] === 'migrate' && from !== before) hasLogins = true;
    return output;
  };
  const cli = (...args: string[]) => assent(args, before);
  await cli('migrate');
  const sites = await makeEnough(engine, cli);
  const [site] = sites;
  if (!site) throw new Error('no site');
  const processes: AppProcess[] = [];
  const databases = new Map<{ url: string }, Database>();
  /**
   * One for each time that a server was started: where it ended a connection with a query under way, the driver fails the
   * first query of the next one with what the old server said (postgres 3.4.9, connection.js, `errorResponse`).
   */
  const databaseAt = (server: { url: string }): Database => {
    // while all processes connect again to a Postgres that has just recovered, one of them may wait for long
    const patience = { connectTimeout: 60, statementTimeout: 0, deadline: 60_000 };
    const options = { ...patience, max: 8, prepare: true, name: 'chaos' };
    const database = databases.get(server) ?? createDatabase({ ...options, url: server.url });
    databases.set(server, database);
    return database;
  };
  onStop(() => Promise.all([...databases.values()].map(({ close }) => close())));
  /** Looks into Postgres directly, past any proxy. */
  const sql = <T>(work: (sql: Pool) => Promise<T>, server: { url: string } = postgres.running()) =>
    databaseAt(server).run(work);
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
    hasSmallDisk: { postgres: folders.postgresFolder !== undefined, redis: folders.redisFolder !== undefined },
    cluster,
    sentinels,
    /** undefined where it cannot be set */
    postgresClock,
    /** for a process that is started with its `env`; undefined where no clock is to be set */
    makeClock: (name: string): Clock | undefined =>
      clocks ? clockOfProcess(path.join(folder, `clock-of-${name}`)) : undefined,
    /** every process that was started, with its output */
    processes,
    start: async (app: App, extra: Record<string, string> = {}, from = dist) => {
      const settings = { ...env(), PORT: '0', OPS_PORT: '0', ...extra };
      const login = { DATABASE_URL: asLogin(app, settings.DATABASE_URL, from) };
      const started = freezable(await startAssent(from, app, { ...settings, ...login }));
      processes.push(started);
      onStop(async () => {
        // a frozen process takes no other signal
        started.thaw();
        await started.process.stop('SIGTERM', 15_000);
      });
      return started;
    },
    assent: (...args: string[]) => assent(args),
    /** of the release that the stack began with */
    assentBefore: cli,
    sql,
    /** for what the libraries do with Postgres */
    database: () => databaseAt(postgres.running()),
    privacyKey: Buffer.from(stores.env.PRIVACY_KEY, 'hex'),
    /** The `n` of one row. */
    count: async (query: (sql: Pool) => Promise<{ n: number }[]>) => (await sql(query))[0]?.n ?? 0,
    redisDo: async <T>(work: (redis: Redis) => Promise<T>) => {
      const client = new Redis(redis.url, { maxRetriesPerRequest: 20, commandTimeout: 60_000 }).on('error', () => {});
      return work(client).finally(() => client.disconnect());
    },
    onStop,
  };
}

function sayWhyNot(error: unknown): undefined {
  console.log(`the clock of Postgres cannot be set here, so it is restarted instead: ${describe(error)}`);
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
    /** A response of that time may be late. */
    wasFrozenSince: (time: number): boolean => thawedAt > time,
  };
}

/** Two organizations, or in a cluster as many as it takes until every shard has records. */
async function makeEnough(engine: StackOptions['engine'], cli: (...args: string[]) => Promise<string>) {
  // domains add up to their organization
  const sites = await makeSites(cli, 2);
  const shards = () => new Set(sites.map(({ organizationId }) => shardOf(organizationId, clusterShards))).size;
  do sites.push(...(await makeSites(cli, 1)));
  while (engine === 'cluster' && shards() < clusterShards);
  return sites;
}
