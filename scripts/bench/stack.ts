/**
 * What is measured: a Postgres and a Redis of the bench's own, as they are shipped, and real processes from a build.
 * One stack is empty at the beginning of each measurement; the others hold the data sets that are kept between runs.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import jsonwebtoken from 'jsonwebtoken';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { createDatabase, type Database } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { type AssentProcess, startAssent } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import { dataRoot, ensureDataRoot, root } from '../stack/paths.ts';
import { startPrivateStores } from '../stack/private-stores.ts';
import { startRedis } from '../stack/redis.ts';
import { waitUntil } from '../stack/wait.ts';
import type { Bare } from './bare.ts';
import { origins, type Site } from './bodies.ts';
import { type Server, startChild } from './child.ts';
import { startDataSet } from './data-sets.ts';
import { usualQueue } from './usual/tables.ts';

export interface Stack {
  dist: string;
  databaseUrl: string;
  redisUrl: string;
  /** process ids of the stores */
  pids: { Postgres: number; Redis: number };
  /** no sites on a data set: those are only read */
  sites: Site[];
  /** as many, whose domains have a list of origins */
  listed: Site[];
  /** of an organization of its own, that gets no load */
  probes: Site[];
  /** for looking from outside */
  db: Database;
  redis: Redis;
  /** the record queue, and that of the usual design */
  queue: Queue;
  usualQueue: Queue;
  /** Each starts a process, which is stopped at the end of the measurement. */
  startApi(env?: Record<string, string>): Promise<AssentProcess>;
  startWorker(env?: Record<string, string>): Promise<AssentProcess>;
  /** With `safe` it answers a record once its body is in this stack's Redis. */
  startBare(options?: { safe: boolean }): Promise<Server>;
  startReference(name: string, input: object): Promise<Server>;
  /** an access token of an organization */
  token(organizationId: string): string;
  /** Stops the processes that were started, and forgets all records where the stack is the empty one. */
  reset(): Promise<void>;
}

export interface Bench {
  dist: string;
  /** figures that later measurements of the same run build on, by name */
  known: Map<string, number>;
  empty(): Promise<Stack>;
  /** The stack with the data set of about so many records, which is made where there is none. */
  kept(records: number): Promise<Stack>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** An aborted `signal` ends the build; afterwards there is `stop`. */
export async function startBench({
  say,
  signal,
}: {
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<Bench> {
  const folder = mkdtempSync(path.join(ensureDataRoot(), 'bench-build-'));
  const dist = path.join(folder, 'dist');
  const steps: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const onStop = (step: () => Promise<unknown> | unknown) => void steps.push(step);
  const takeSteps = async () => {
    for (let step = steps.pop(); step; step = steps.pop()) await step();
  };
  const stacks = new Map<number, Promise<Stack>>();
  const resetAll = () => Promise.all(Array.from(stacks.values(), async (stack) => (await stack).reset()));

  const start = (records: number, make: () => Promise<Stack>): Promise<Stack> => {
    const known = stacks.get(records);
    if (known) return known;
    const stack = make();
    stacks.set(records, stack);
    // one that did not start must not hold up the others
    stack.catch(() => stacks.delete(records));
    return stack;
  };
  try {
    await build(path.relative(root, dist), signal, 'scripts/bench/tsconfig.json');
  } catch (error) {
    await takeSteps();
    throw error;
  }
  return {
    dist,
    known: new Map(),
    empty: () => start(0, () => startEmptyStack({ dist, say, onStop })),
    kept: (records) => start(records, () => startKeptStack(records, { dist, say, onStop })),
    reset: async () => void (await resetAll()),
    stop: async () => {
      await takeSteps();
      // a stack that was still starting has by then failed, or has steps of its own
      await Promise.allSettled(stacks.values());
      await takeSteps();
    },
  };
}

interface Setting {
  dist: string;
  say: (line: string) => void;
  onStop: (step: () => Promise<unknown> | unknown) => void;
}

async function startEmptyStack({ dist, say, onStop }: Setting): Promise<Stack> {
  const stores = await startPrivateStores({ name: 'bench', say, dist });
  onStop(stores.stop);
  const stack = connect(dist, stores, onStop);
  return {
    ...stack,
    sites: await makeSites(stack.db, { organizations: 5, domainsEach: 4 }),
    listed: await makeSites(stack.db, { organizations: 5, domainsEach: 4, origins }),
    probes: await makeSites(stack.db, { organizations: 1, domainsEach: 2 }),
    reset: async () => {
      await stack.reset();
      await stack.db.run((sql) => sql`truncate records, counters, owed_raises, rejected_records`);
      await stack.db.run((sql) => sql`drop table if exists usual_records`);
      await stack.redis.flushall();
    },
  };
}

async function startKeptStack(records: number, { dist, say, onStop }: Setting): Promise<Stack> {
  const postgres = await startDataSet(records, { say, onStop });
  const folder = mkdtempSync(path.join(dataRoot, 'bench-redis-'));
  onStop(() => rmSync(folder, { recursive: true, force: true }));
  const redis = await startRedis({ dataDir: folder });
  onStop(() => redis.stop());
  return connect(dist, { postgres, redis }, onStop);
}

interface Stores {
  postgres: { url: string; pid: number };
  redis: { url: string; pid: number };
}

function connect(dist: string, stores: Stores, onStop: Setting['onStop']): Stack {
  const { url: databaseUrl } = stores.postgres;
  const { url: redisUrl } = stores.redis;
  const secret = randomUUID();
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    JWT_SECRET: secret,
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    RECORD_RATE_PER_MINUTE: '0',
  };
  const timeouts = { statementTimeout: 120_000, deadline: 121_000 };
  const db = createDatabase({ url: databaseUrl, max: 2, ...timeouts, prepare: true, name: 'bench' });
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const open = (name: string, prefix: string) =>
    new Queue(name, { connection: redis, prefix, skipMetasUpdate: true }).on('error', () => {});
  const queues = [open(recordQueue(0), queuePrefix), open(usualQueue.name, usualQueue.prefix)] as const;
  onStop(async () => {
    redis.disconnect();
    await db.close();
  });
  const running: { stop(): Promise<unknown> }[] = [];
  const stopRunning = async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  };
  onStop(stopRunning);
  const assent = async (app: 'api' | 'worker', extra: Record<string, string> = {}) => {
    const started = await startAssent(dist, app, { ...env, ...extra });
    running.push(started.process);
    return started;
  };
  const child = async (name: string, argument: string) => {
    const started = await startChild(dist, name, argument);
    running.push(started);
    return started;
  };
  return {
    dist,
    databaseUrl,
    redisUrl,
    pids: { Postgres: stores.postgres.pid, Redis: stores.redis.pid },
    sites: [],
    listed: [],
    probes: [],
    db,
    redis,
    queue: queues[0],
    usualQueue: queues[1],
    startApi: async (extra) => {
      const api = await assent('api', extra);
      const processes = Number(extra?.WEB_CONCURRENCY ?? 1);
      const listening = () => api.lines.filter((line) => line.includes('"event":"listening"')).length;
      await waitUntil(() => listening() >= processes, { deadlineMs: 10_000 });
      return api;
    },
    startWorker: (extra) => assent('worker', extra),
    startBare: ({ safe } = { safe: false }) =>
      child('bare', JSON.stringify({ secret, ...(safe && { redisUrl }) } satisfies Bare)),
    startReference: (name, input) => child(name, JSON.stringify(input)),
    token: (organizationId) => jsonwebtoken.sign({ sub: 'bench', org: organizationId }, secret, { expiresIn: '1h' }),
    reset: stopRunning,
  };
}

interface Tenants {
  organizations: number;
  domainsEach: number;
  origins?: string[];
}

async function makeSites(db: Database, { organizations, domainsEach, origins = [] }: Tenants): Promise<Site[]> {
  const admin = createAdministration(db, 'bench');
  await admin.setPlan('bench', {});
  const sites: Site[] = [];
  for (let organization = 0; organization < organizations; organization += 1) {
    const { organizationId } = await admin.createOrganization(`Organization ${organization}`, 'bench');
    for (let domain = 0; domain < domainsEach; domain += 1) {
      const made = await admin.createDomain(organizationId, { name: `shop-${domain}.example`, origins });
      sites.push({ organizationId, ...(await admin.createKey(made.domainId)) });
    }
  }
  return sites;
}
