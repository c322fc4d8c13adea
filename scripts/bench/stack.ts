/** What is measured: real processes of this build, with a Postgres and a Redis of their own, set up as they are shipped. */
import path from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createDatabase } from '#libs/base/db/database';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { answersReady, runCli, startAssent } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import { type Run, startRun, startStores } from '../stack/private-stores.ts';
import { addDomains, makeSites, type Site, signToken } from '../stack/sites.ts';
import { untilTrue, waitUntil } from '../stack/wait.ts';
import { startBare } from './measurement.ts';

export type Stack = Awaited<ReturnType<typeof startStack>>;

interface Stoppable {
  stop(signal?: NodeJS.Signals): Promise<unknown>;
}

export interface Server extends Stoppable {
  pid: number;
  baseUrl: string;
}

/** All that recording leaves, and what is derived of it. */
const derived = [
  ...['records', 'user_agents', 'user_agent_months', 'counters', 'facets', 'facet_progress', 'derivations'],
  ...['logs', 'log_runs', 'log_nodes', 'log_keys'],
];

/** Builds this checkout, and starts a stack of it. An abort ends what was started. */
export const startBench = (signal: AbortSignal) =>
  startRun('bench', async (run) => {
    const dist = path.join(run.folder, 'dist');
    await build(dist, { signal });
    return startStack(run, dist, signal);
  });

async function startStack(run: Run, dist: string, signal: AbortSignal) {
  const { env, ...stores } = await startStores(run, { signal });
  const cli = (...args: string[]) => runCli(dist, args, { env, signal });
  await cli('migrate');

  const timeouts = { statementTimeout: 600_000, deadline: 601_000 };
  const db = createDatabase({ url: env.DATABASE_URL, max: 2, ...timeouts, prepare: true, name: 'bench' });
  const redis = new Redis(env.REDIS_URL, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix, skipMetasUpdate: true });
  queue.on('error', () => {});
  const running: Stoppable[] = [];
  const stopRunning = () => Promise.all(running.splice(0).map((server) => server.stop()));
  run.onStop(async () => {
    await stopRunning();
    redis.disconnect();
    await db.close();
  });
  const keep = <Started extends Stoppable>(started: Started): Started => {
    running.push(started);
    return started;
  };

  /** It is ready when the operations port says so. */
  async function start(app: 'api' | 'worker', settings: Record<string, string> = {}): Promise<Server> {
    const started = await startAssent(dist, app, { ...env, PORT: '0', OPS_PORT: '0', ...settings });
    const { pid, stop } = keep(started.process);
    if (!(await waitUntil(() => answersReady(started.opsUrl), { deadlineMs: 120_000 })))
      throw new Error(`${app} is not ready:\n${started.lines.slice(-10).join('\n')}`);
    return { pid, stop, baseUrl: started.baseUrl };
  }

  const sites: Site[] = [];
  while (sites.length < 20) sites.push(...(await makeSites(cli, 4)));
  return {
    /** runs one command to its end; returns its output */
    cli,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    /** for what a measurement stores of its own */
    folder: run.folder,
    pids: { Postgres: stores.postgres.pid, Redis: stores.redis.pid },
    /** 20 domains of 5 organizations */
    sites,
    domainIds: sites.map(({ domainId }) => domainId),
    addDomains: (organizationIds: string[], count: number) => addDomains(db, organizationIds, count),
    token: (organizationId: string, scope?: string) => signToken(organizationId, env.JWT_SECRET, scope),
    db,
    // each starts a process, which is stopped at the end of the measurement
    startApi: (settings?: Record<string, string>) => start('api', settings),
    startWorker: (settings?: Record<string, string>) => start('worker', settings),
    startBare: async () => keep(await startBare(env.JWT_SECRET)),
    /** How many records are stored and counted. */
    stored: async (): Promise<number> => {
      const [row] = await db.run(
        (sql) => sql<{ n: number }[]>`
          select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::int as n from counters
          where domain_id = '' and length(period) = 7`,
      );
      return row?.n ?? 0;
    },
    /** When the oldest waiting job was added, in Unix milliseconds. Asked often, so without the job's payload. */
    oldestWaiting: async (): Promise<number> => {
      const oldest = await redis.lindex(queue.toKey('wait'), -1);
      const since = oldest === null ? null : await redis.hget(queue.toKey(oldest), 'timestamp');
      return since === null ? Number.POSITIVE_INFINITY : Number(since);
    },
    untilQuiet: () =>
      untilTrue(
        async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0,
        'the queue empties',
      ),
    redis,
    redisBytes: async () => {
      const keys = await redis.keys('*');
      const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
      return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
    },
    /** for what a measurement opens by itself */
    onStop: run.onStop,
    reset: async () => {
      await stopRunning();
      await db.run((sql) => sql.unsafe(`truncate ${derived.join(', ')}`));
      await redis.flushall();
    },
  };
}
