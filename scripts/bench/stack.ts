/**
 * What is measured: real processes of one build, with a Postgres and a Redis of their own, set up as they are shipped.
 * All that is taken for granted of a build is its three programs, HTTP, the names of the queue's keys, and `counters`.
 */
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import jsonwebtoken from 'jsonwebtoken';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { createDatabase } from '#libs/store/sql';
import { answersReady, launch, nodeFlags } from '../stack/assent-process.ts';
import { build } from '../stack/build.ts';
import { outputOf } from '../stack/command.ts';
import { root } from '../stack/paths.ts';
import { freePort } from '../stack/ports.ts';
import { type Run, startRun, startStores } from '../stack/private-stores.ts';
import { spawnTethered } from '../stack/tether.ts';
import { waitUntil } from '../stack/wait.ts';
import type { Load, LoadResult } from './client.ts';
import { origins, type Site } from './requests.ts';

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Builds this checkout, and `other` where it is given, and starts a stack of each. An abort ends what was started. */
export const startBench = (signal: AbortSignal, other: string | undefined) =>
  startRun('bench', async (run) => {
    const dist = path.join(run.folder, 'dist');
    await build(path.relative(root, dist), signal, 'scripts/bench/tsconfig.json');
    const programs = programsIn(dist);
    const start = async (name: string, from: string) => {
      const started = await startRun(name, (own) => startStack(own, from, programs, signal));
      run.onStop(started.stop);
      return started;
    };
    const here = await start('bench-here', dist);
    if (other === undefined) return { here };
    await outputOf('npm', ['run', '-s', 'build'], { cwd: other, env: process.env, signal });
    return { here, there: await start('bench-there', path.join(other, 'dist')) };
  });

async function startStack(run: Run, dist: string, programs: Programs, signal: AbortSignal) {
  const { env, ...stores } = await startStores(run, { signal });
  const cli = (...args: string[]) =>
    outputOf(process.execPath, [path.join(dist, 'apps/cli/main.js'), ...args], { cwd: dist, env, signal });
  await cli('migrate');

  const timeouts = { statementTimeout: 120_000, deadline: 121_000 };
  const db = createDatabase({ url: env.DATABASE_URL, max: 2, ...timeouts, prepare: true, name: 'bench' });
  const redis = new Redis(env.REDIS_URL, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const queue = new Queue(recordQueue(0), { connection: redis, prefix: queuePrefix, skipMetasUpdate: true });
  queue.on('error', () => {});
  const running: Server[] = [];
  const stopRunning = () => Promise.all(running.splice(0).map((server) => server.stop()));
  run.onStop(async () => {
    await stopRunning();
    redis.disconnect();
    await db.close();
  });
  const keep = (server: Server): Server => {
    running.push(server);
    return server;
  };

  /** It is ready when the operations port says so: log lines may differ between two builds. */
  async function start(app: 'api' | 'worker', extra: Record<string, string> = {}): Promise<Server> {
    const [port, ops] = [String(await freePort()), String(await freePort())];
    const { process: child, lines } = launch(dist, app, { ...env, PORT: port, OPS_PORT: ops, ...extra });
    const server = keep({ pid: child.pid, baseUrl: `http://127.0.0.1:${port}`, stop: () => child.stop() });
    const isReady = () => answersReady(`http://127.0.0.1:${ops}`);
    await waitUntil(async () => !child.running() || (await isReady()), { deadlineMs: 20_000 });
    if (!(await isReady())) throw new Error(`${app} did not start:\n${lines.slice(-10).join('\n')}`);
    return server;
  }

  async function makeSites(domains: number): Promise<Site[]> {
    const make = async (...args: string[]): Promise<Site> => JSON.parse(await cli('--json', ...args));
    const { organizationId } = await make('org', 'create', 'Bench');
    const makeSite = async (_: unknown, index: number): Promise<Site> => {
      const listed = index % 2 === 1;
      const list = listed ? origins.flatMap((origin) => ['--origin', origin]) : [];
      const { domainId } = await make('domain', 'create', organizationId, `shop-${index}.example`, ...list);
      const { apiKey } = await make('key', 'create', domainId);
      return { organizationId, domainId, apiKey, listed };
    };
    return Promise.all(Array.from({ length: domains }, makeSite));
  }

  const sites: Site[] = [];
  while (sites.length < 20) sites.push(...(await makeSites(4)));
  return {
    ...programs,
    databaseUrl: env.DATABASE_URL,
    pids: { Postgres: stores.postgres.pid, Redis: stores.redis.pid },
    /** 20 domains of 5 organizations, half of them with a list of origins */
    sites,
    makeSites,
    token: (org: string) => jsonwebtoken.sign({ sub: 'bench', org }, env.JWT_SECRET, { expiresIn: '1h' }),
    db,
    // each starts a process, which is stopped at the end of the measurement
    startApi: (extra?: Record<string, string>) => start('api', extra),
    startWorker: () => start('worker'),
    startBare: async () => keep(await programs.startServer('bare', { secret: env.JWT_SECRET })),
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
    untilQuiet: async () => {
      const isQuiet = async () => (await queue.getJobCountByTypes('waiting', 'active', 'delayed')) === 0;
      if (!(await waitUntil(isQuiet, { deadlineMs: 120_000 }))) throw new Error('the queue does not empty');
    },
    redisBytes: async () => {
      let bytes = 0;
      for (const key of await redis.keys('*')) bytes += Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
      return bytes;
    },
    postgresBytes: async (): Promise<number> => {
      const size = db.run(
        (sql) => sql`select sum(pg_total_relation_size(relid)) as n from pg_partition_tree('records')`,
      );
      return Number((await size)[0]?.n);
    },
    reset: async () => {
      await stopRunning();
      await db.run((sql) => sql`truncate records, counters`);
      await redis.flushall();
    },
  };
}

export interface Server {
  pid: number;
  baseUrl: string;
  stop(): Promise<unknown>;
}

type Programs = ReturnType<typeof programsIn>;

/** The bench's own programs: the load generator and the references. They come from this checkout's build. */
function programsIn(dist: string) {
  const options = { cwd: root, env: { PATH: process.env.PATH } };
  const commandOf = (name: string, input: object) => [
    ...nodeFlags,
    path.join(dist, 'scripts/bench', `${name}.js`),
    JSON.stringify(input),
  ];
  const spawn = (name: string, input: object) =>
    spawnTethered(process.execPath, commandOf(name, input), { ...options, stdout: 'pipe', stderr: 'inherit' });

  function startLoad(load: Load) {
    const { child, pid, running, stop } = spawn('client', load);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const result = new Promise((resolve) => child.once('close', resolve)).then((): LoadResult => JSON.parse(output));
    // who stops a load does not wait for its result
    result.catch(() => {});
    const signal = (name: NodeJS.Signals) => void (running() && child.kill(name));
    return { pid, pause: () => signal('SIGSTOP'), resume: () => signal('SIGCONT'), result, stop };
  }

  return {
    startLoad,
    /** Rejects when any request failed. */
    load: async (load: Load): Promise<LoadResult> => {
      const result = await startLoad(load).result;
      if (result.failed > 0) throw new Error(`${result.failed} requests to ${load.baseUrl} failed`);
      return result;
    },
    /** Starts a server under the same flags as Assent's own processes, and waits for its first line. */
    startServer: async (name: string, input: object): Promise<Server> => {
      const { child, pid, stop } = spawn(name, input);
      for await (const line of child.stdout ? createInterface({ input: child.stdout }) : []) {
        return { pid, baseUrl: `http://127.0.0.1:${/"port":(\d+)/.exec(line)?.[1]}`, stop };
      }
      throw new Error(`${name} ended before it was ready`);
    },
    run: async <Result>(name: string, input: object): Promise<Result> =>
      JSON.parse(await outputOf(process.execPath, commandOf(name, input), options)),
  };
}
