/** What a drill runs on: stores, tenants and real processes of its own, with a handle for every fault. */
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { createDatabase } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { type AssentProcess, startAssent } from '../stack/assent-process.ts';
import { type RunningPostgres, startPostgres } from '../stack/postgres.ts';
import { type PrivateStores, type StoreOptions, startPrivateStores } from '../stack/private-stores.ts';
import { type RunningRedis, startRedis } from '../stack/redis.ts';

export interface Site {
  organizationId: string;
  domainId: string;
  apiKey: string;
}

export interface ChaosStack {
  folder: string;
  sites: Site[];
  /** access tokens are signed with it */
  jwtSecret: string;
  postgres(): RunningPostgres;
  redis(): RunningRedis;
  /** Starts the stopped or killed server again, on its port and its data. */
  startPostgres(): Promise<void>;
  startRedis(): Promise<void>;
  startApi(env?: Record<string, string>): Promise<AssentProcess>;
  startWorker(env?: Record<string, string>): Promise<AssentProcess>;
  /** All that were started, with what they wrote. */
  processes: AssentProcess[];
  /** A connection for looking, past any proxy; ended afterwards. */
  sql<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  redisDo<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /** Runs at `stop`, before what was there earlier. */
  onStop(step: () => Promise<unknown> | unknown): void;
  stop(): Promise<void>;
}

const organizations = 2;
const domainsEach = 2;

export async function startChaosStack(
  options: Pick<StoreOptions, 'dist' | 'postgresFolder' | 'redisSettings'>,
): Promise<ChaosStack> {
  const redisSettings = options.redisSettings ?? {};
  const stores = await startPrivateStores({ name: 'chaos', say: () => {}, ...options });
  const running: Pick<PrivateStores, 'postgres' | 'redis'> = { postgres: stores.postgres, redis: stores.redis };
  stores.onStop(() => running.postgres.stop());
  stores.onStop(() => running.redis.stop());
  const jwtSecret = randomUUID();
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: stores.postgres.url,
    REDIS_URL: stores.redis.url,
    JWT_SECRET: jwtSecret,
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    RECORD_RATE_PER_MINUTE: '0',
  };
  const processes: AssentProcess[] = [];
  const start = async (app: 'api' | 'worker', extra: Record<string, string> = {}) => {
    const started = await startAssent(stores.dist, app, { ...env, ...extra });
    processes.push(started);
    stores.onStop(async () => {
      // a frozen process takes no signal but this one
      if (started.process.running()) process.kill(started.process.pid, 'SIGCONT');
      await started.process.stop('SIGTERM', 15_000);
    });
    return started;
  };
  return {
    folder: stores.folder,
    sites: await makeSites(stores.postgres.url),
    jwtSecret,
    postgres: () => running.postgres,
    redis: () => running.redis,
    startPostgres: async () => {
      const { dataDir, port } = stores.postgres;
      running.postgres = await startPostgres({ dataDir, port });
    },
    startRedis: async () => {
      const { port } = stores.redis;
      running.redis = await startRedis({ dataDir: `${stores.folder}/redis`, port, settings: redisSettings });
    },
    startApi: (extra) => start('api', extra),
    startWorker: (extra) => start('worker', extra),
    processes,
    sql: async (work) => {
      const { sslmode: _, url } = withoutSslMode(stores.postgres.url);
      const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 5 });
      try {
        return await work(sql);
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
    redisDo: async (work) => {
      const redis = new Redis(stores.redis.url, { maxRetriesPerRequest: 20, commandTimeout: 20_000 });
      redis.on('error', () => {});
      try {
        return await work(redis);
      } finally {
        redis.disconnect();
      }
    },
    onStop: stores.onStop,
    stop: stores.stop,
  };
}

function withoutSslMode(address: string) {
  const url = new URL(address);
  const sslmode = url.searchParams.get('sslmode');
  url.searchParams.delete('sslmode');
  return { url: url.toString(), sslmode };
}

async function makeSites(url: string): Promise<Site[]> {
  const db = createDatabase({ url, max: 1, statementTimeout: 5_000, deadline: 6_000, prepare: true, name: 'chaos' });
  const admin = createAdministration(db, 'chaos');
  const sites: Site[] = [];
  await admin.setPlan('chaos', {});
  for (let organization = 0; organization < organizations; organization += 1) {
    const { organizationId } = await admin.createOrganization(`Organization ${organization}`, 'chaos');
    for (let domain = 0; domain < domainsEach; domain += 1) {
      const made = await admin.createDomain(organizationId, { name: `site-${domain}.example`, origins: [] });
      const { domainId, apiKey } = await admin.createKey(made.domainId);
      sites.push({ organizationId, domainId, apiKey });
    }
  }
  await db.close();
  return sites;
}
