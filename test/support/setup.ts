/**
 * Once per run: a folder of its own below `.data`, a build, a Postgres with a migrated template database, and a database
 * and a Redis for each of vitest's workers. They start while the files that need none of them run already. Two runs at
 * once share nothing.
 */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '#libs/base/db/migrate';
import { build } from '../../scripts/stack/build.ts';
import { loginsAt } from '../../scripts/stack/logins.ts';
import { findRedis } from '../../scripts/stack/packages.ts';
import { dataRoot, ensureDataRoot } from '../../scripts/stack/paths.ts';
import { startPostgres } from '../../scripts/stack/postgres.ts';
import { onInterrupt } from '../../scripts/stack/private-stores.ts';
import { startRedis } from '../../scripts/stack/redis.ts';
import { removeFolder } from '../../scripts/stack/service-user.ts';
import { copyDatabase } from './database.ts';
import { limitSteps } from './set-up-limit.ts';
import { type Started, setUpPatience, startedFile, unsynced } from './started.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** removed after the run */
    folder: string;
    /** the build of the processes */
    dist: string;
  }
}

const say = (line: string) => console.log(line);

export default function setup(project: TestProject): () => Promise<void> {
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

  const { step, end } = limitSteps(setUpPatience, (names) => {
    console.error(
      `the set-up of the tests has not ended within ten minutes; it still waits for ${names.join(' and ')}`,
    );
    // what hangs may not end either
    setTimeout(() => process.exit(1), 60_000);
    void stopAll().finally(() => process.exit(1));
  });

  const openStores = async (postgresUrl: string, name: string): Promise<Started['stores'][number]> => {
    const [databaseUrl, redis] = await settled([
      copyDatabase(postgresUrl),
      keep(startRedis({ dataDir: path.join(folder, 'redis', name), settings: unsynced })),
    ]);
    return { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
  };

  const startServers = async (): Promise<void> => {
    const [server] = await settled([
      step(
        'Postgres',
        keep(
          startPostgres({
            dataDir: path.join(folder, 'postgres'),
            // these databases last for one run; each vitest worker may open the pools of several APIs and workers
            settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '800' },
            say,
          }),
        ),
      ),
      step('the build', build(dist, { checksTypes: false })),
      step('the program of Redis', findRedis({ say })),
    ]);
    const { DATABASE_API_URL: api, DATABASE_WORKER_URL: worker } = loginsAt(server.url);
    const roles = { prefix: 'assent', addresses: { api, worker } };
    await step('the migrations', migrate(server.url, { roles }));
    const names = Array.from({ length: project.config.maxWorkers }, (_, index) => `worker-${index + 1}`);
    const stores = await settled(names.map((name) => step(`the stores of ${name}`, openStores(server.url, name))));
    const started: Started = { postgresUrl: server.url, stores };
    // written atomically, since others wait for it
    writeFileSync(`${startedFile(folder)}.part`, JSON.stringify(started));
    renameSync(`${startedFile(folder)}.part`, startedFile(folder));
  };

  project.provide('folder', folder);
  project.provide('dist', dist);
  const starting = startServers().catch(async (error) => {
    console.error(error);
    await stopAll();
    // no file could go on
    process.exit(1);
  });
  void starting.finally(end);
  return async () => {
    await starting;
    await stopAll();
  };
}

/** As `Promise.all`, but a failure waits for the others: what they start must be known before everything is stopped. */
async function settled<T extends readonly unknown[] | []>(
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}
