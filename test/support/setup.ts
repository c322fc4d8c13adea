/**
 * Once per run: a folder of its own below `.data`, a Postgres with a migrated template database, and a build of the
 * processes. Redis is started by the tests that need one. Two runs at once share nothing.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '#libs/store/migrate';
import { build } from '../../scripts/stack/build.ts';
import { findRedis } from '../../scripts/stack/packages.ts';
import { dataRoot, ensureDataRoot } from '../../scripts/stack/paths.ts';
import { startPostgres } from '../../scripts/stack/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** removed after the run */
    folder: string;
    /** the build of the processes */
    dist: string;
    /** address of the server, without a database */
    postgresUrl: string;
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
  await build(path.relative(path.dirname(dataRoot), dist));
  await findRedis({ say });
  const server = await startPostgres({
    dataDir: path.join(folder, 'postgres'),
    // these databases last for one run
    settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '400' },
    say,
  });
  try {
    await migrate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('folder', folder);
  project.provide('dist', dist);
  project.provide('postgresUrl', server.url);
  return async () => {
    await server.stop();
    rmSync(server.dataDir, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  };
}
