/** What a drill runs on: stores, tenants and processes of its own. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { shardOf } from '#libs/queue/names';
import { connectRedis } from '#libs/runtime/redis';
import { migrate } from '#libs/store/migrate';
import { createDatabase, type Database, type Sql } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { type AssentProcess, startAssent } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import type { Site } from '../stack/client.ts';
import { outputOf } from '../stack/command.ts';
import { startPostgres } from '../stack/postgres.ts';
import { type Run, type StoreOptions, startRun, startStores } from '../stack/private-stores.ts';
import { startRedis } from '../stack/redis.ts';
import type { RunningServer } from '../stack/server.ts';
import { clusterShards, type EngineKind, startEngine } from './engine.ts';

export type ChaosStack = Awaited<ReturnType<typeof startChaosStack>>;

/** `before`: a build of the release before, which then makes schema and sites */
type ChaosOptions = StoreOptions & { engine?: EngineKind | undefined; before?: string | undefined };

/** `dist`: a build that is there already. */
export const startChaosStack = ({ dist, ...options }: ChaosOptions & { dist?: string } = {}) =>
  startRun('chaos', (run) => startStack(run, dist ?? path.join(run.folder, 'dist'), options));

async function startStack(run: Run, dist: string, options: ChaosOptions) {
  const { folder, onStop } = run;
  if (!existsSync(dist)) await build(dist);
  const stores = await startStores(run, options);
  /** The operator's command line, of this release unless another one is given. */
  const assent = (args: string[], from = dist) =>
    outputOf(process.execPath, [path.join(from, 'apps/cli/main.js'), ...args], {
      cwd: from,
      env: { ...stores.env, DATABASE_URL: postgres.running().url, ...engine.env, LOG_NAME: sealing.LOG_NAME },
      signal: new AbortController().signal,
    });
  const { url, dataDir, port } = stores.postgres;
  const { redis: firstRedis } = stores;
  const redisOptions = { dataDir: firstRedis.dataDir, port: firstRedis.port, settings: options.redisSettings ?? {} };
  const postgres = restartable(stores.postgres, () => startPostgres({ dataDir, port }));
  const redis = restartable(stores.redis, () => startRedis(redisOptions));
  onStop(() => postgres.running().stop());
  onStop(() => redis.running().stop());
  const engine = await startEngine(run, stores.redis, options.engine, options.redisSettings ?? {});
  const counters = connectRedis(engine.address, 'producer', { warn: () => {} });
  onStop(counters.close);
  const sealing = { LOG_NAME: 'chaos', LOG_KEY: randomBytes(32).toString('hex'), SEAL_SECONDS: '1' };
  const { before } = options;
  if (!before) await migrate(url);
  const sites = before
    ? await makeSitesWith((...args) => assent(args, before))
    : await makeSites(url, options.engine === 'cluster' ? coversShards : isTwo);
  const [site] = sites;
  if (!site) throw new Error('no site');
  const processes: AssentProcess[] = [];
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
    /** what stands in for `redis` in some drills */
    engine,
    /** every process that was started, with its output */
    processes,
    start: async (app: 'api' | 'worker', extra: Record<string, string> = {}, from = dist) => {
      const started = await startAssent(from, app, {
        ...stores.env,
        DATABASE_URL: postgres.running().url,
        ...engine.env,
        ...sealing,
        PORT: '0',
        OPS_PORT: '0',
        ...extra,
      });
      processes.push(started);
      onStop(async () => {
        // a frozen process takes no other signal
        if (started.process.running()) process.kill(started.process.pid, 'SIGCONT');
        await started.process.stop('SIGTERM', 15_000);
      });
      return started;
    },
    assent: (...args: string[]) => assent(args),
    /** Looks into Postgres directly, past any proxy. */
    sql: <T>(work: (sql: Sql) => Promise<T>) => withDatabase(postgres.running().url, (db) => db.run(work)),
    redisDo: async <T>(work: (redis: Redis) => Promise<T>) => {
      const client = new Redis(stores.redis.url, { maxRetriesPerRequest: 20, commandTimeout: 20_000 });
      client.on('error', () => {});
      try {
        return await work(client);
      } finally {
        client.disconnect();
      }
    },
    onStop,
  };
}

/** A server that a drill stops and starts again, on its port and its data. */
function restartable<Server extends RunningServer>(first: Server, startAgain: () => Promise<Server>) {
  let server = first;
  return {
    running: () => server,
    kill: async () => {
      server.kill();
      await server.exited;
    },
    start: async () => {
      server = await startAgain();
    },
    /** Another one takes its place, such as a promoted replica. */
    become: (other: Server) => {
      server = other;
    },
  };
}

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({ url, max: 1, statementTimeout: 0, deadline: 60_000, prepare: true, name: 'chaos' });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

type Enough = (organizationIds: string[]) => boolean;
const isTwo: Enough = ({ length }) => length === 2;
const coversShards: Enough = (ids) => new Set(ids.map((id) => shardOf(id, clusterShards))).size === clusterShards;

const makeSites = (url: string, isEnough: Enough): Promise<Site[]> =>
  withDatabase(url, async (db) => {
    const admin = createAdministration(db, 'chaos');
    const sites: Site[] = [];
    await admin.setPlan('chaos', {});
    const organizationIds: string[] = [];
    while (!isEnough(organizationIds)) {
      const name = `Organization ${organizationIds.length}`;
      const { organizationId } = await admin.createOrganization(name, 'chaos');
      organizationIds.push(organizationId);
      for (const name of ['site-0.example', 'site-1.example']) {
        const made = await admin.createDomain(organizationId, { name, origins: [] });
        const { domainId, apiKey } = await admin.createKey(made.domainId);
        sites.push({ organizationId, domainId, apiKey });
      }
    }
    return sites;
  });

/** With the command line of the release before: its schema is not that of these libraries. */
async function makeSitesWith(assent: (...args: string[]) => Promise<string>): Promise<Site[]> {
  const make = async <Id extends string>(...args: string[]): Promise<Record<Id, string>> =>
    JSON.parse(await assent('--json', ...args));
  await assent('migrate');
  const { organizationId } = await make<'organizationId'>('org', 'create', 'Organization 0');
  return Promise.all(
    ['site-0.example', 'site-1.example'].map(async (name) => {
      const { domainId } = await make<'domainId'>('domain', 'create', organizationId, name);
      const { apiKey } = await make<'apiKey'>('key', 'create', domainId);
      return { organizationId, domainId, apiKey };
    }),
  );
}
