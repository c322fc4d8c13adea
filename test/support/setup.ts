/**
 * Once per run: a folder of its own below `.data`, a build of the processes, a Postgres with a migrated template
 * database, and one stack for each of vitest's workers. Two runs at once share nothing.
 */
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '#libs/store/migrate';
import { startAssent } from '../../scripts/stack/assent-process.ts';
import { build } from '../../scripts/stack/build.ts';
import { onInterrupt } from '../../scripts/stack/interrupt.ts';
import { findRedis } from '../../scripts/stack/packages.ts';
import { dataRoot, ensureDataRoot } from '../../scripts/stack/paths.ts';
import { startPostgres } from '../../scripts/stack/postgres.ts';
import { startRedis } from '../../scripts/stack/redis.ts';
import { removeFolder } from '../../scripts/stack/service-user.ts';
import { copyDatabase } from './database.ts';
import { apiSettings, privacyKey, secretsKey } from './settings.ts';

/** Stores, an API and a worker process that the files of one vitest worker share: each file makes its own tenants. */
export interface SharedStack {
  env: { DATABASE_URL: string; REDIS_URL: string };
  api: { baseUrl: string; opsUrl: string };
}

declare module 'vitest' {
  interface ProvidedContext {
    /** removed after the run */
    folder: string;
    /** the build of the processes */
    dist: string;
    /** address of the server, without a database */
    postgresUrl: string;
    /** the first is that of the worker whose VITEST_POOL_ID is 1 */
    stacks: SharedStack[];
  }
}

const say = (line: string) => console.log(line);

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  ensureDataRoot();
  const folder = mkdtempSync(path.join(dataRoot, 'test-'));
  // the user that Postgres runs as passes through
  chmodSync(folder, 0o711);
  mkdirSync(path.join(folder, 'redis'));
  const dist = path.join(folder, 'dist');

  const stops: (() => unknown)[] = [() => removeFolder(folder)];
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  const interrupted = onInterrupt();
  interrupted.addEventListener('abort', () => void stopAll().finally(() => process.exit(130)));
  /** `started` ends with the run, also where what comes after it fails. */
  const keep = async <T extends { stop(): Promise<unknown> }>(started: Promise<T>): Promise<T> => {
    const server = await started;
    stops.push(() => server.stop());
    if (interrupted.aborted) await stopAll();
    return server;
  };

  const startStack = async (postgresUrl: string, name: string): Promise<SharedStack> => {
    const [databaseUrl, redis] = await settled([
      copyDatabase(postgresUrl),
      keep(startRedis({ dataDir: path.join(folder, 'redis', name) })),
    ]);
    const env = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
    const start = (app: 'api' | 'worker', settings: Record<string, string>) => {
      const running = startAssent(dist, app, { PATH: process.env.PATH, ...settings, ...env });
      return keep(running.then((started) => ({ ...started, stop: () => started.process.stop() })));
    };
    const [{ baseUrl, opsUrl }] = await settled([
      start('api', apiSettings),
      start('worker', { OPS_PORT: '0', PRIVACY_KEY: privacyKey, SECRETS_KEY: secretsKey }),
    ]);
    return { env, api: { baseUrl, opsUrl } };
  };

  try {
    const [server] = await settled([
      keep(
        startPostgres({
          dataDir: path.join(folder, 'postgres'),
          // these databases last for one run
          settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '400' },
          say,
        }),
      ),
      build(dist),
      findRedis({ say }),
    ]);
    await migrate(server.url);
    const names = Array.from({ length: project.config.maxWorkers }, (_, index) => `worker-${index + 1}`);
    project.provide('folder', folder);
    project.provide('dist', dist);
    project.provide('postgresUrl', server.url);
    project.provide('stacks', await settled(names.map((name) => startStack(server.url, name))));
  } catch (error) {
    await stopAll();
    throw error;
  }
  return stopAll;
}

/** As `Promise.all`, but a failure waits for the others: what they start must be known before everything is stopped. */
async function settled<T extends readonly unknown[] | []>(
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}
