/** The stack that is measured: private stores as they are shipped, and real processes from a build of their own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { migrate } from '#libs/store/migrate';
import { build } from '../stack/build.ts';
import { dataRoot, ensureDataRoot, root } from '../stack/paths.ts';
import { startPostgres } from '../stack/postgres.ts';
import { startRedis } from '../stack/redis.ts';
import { spawnTethered } from '../stack/tether.ts';

export interface BenchStack {
  env: Record<string, string>;
  /** Starts `node args…` and resolves with the first JSON line that has a `port`. */
  start(args: string[], env?: Record<string, string>): Promise<{ port: number; pid: number }>;
  /** the path of a process's main file in the build */
  main(app: string): string;
  stop(): Promise<void>;
}

export async function startBenchStack(): Promise<BenchStack> {
  ensureDataRoot();
  const folder = mkdtempSync(path.join(dataRoot, 'bench-'));
  // the user that Postgres runs as passes through
  chmodSync(folder, 0o711);
  const dist = path.join(folder, 'dist');
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    await build(path.relative(root, dist));
    const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), say: console.log });
    stops.push(async () => {
      await postgres.stop();
      rmSync(postgres.dataDir, { recursive: true, force: true });
    });
    const redis = await startRedis({ dataDir: path.join(folder, 'redis'), say: console.log });
    stops.push(() => redis.stop());
    await migrate(postgres.url);
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' };
    return {
      env,
      main: (app) => path.join(dist, 'apps', app, 'main.js'),
      start: async (args, extra = {}) => {
        const child = spawnTethered(process.execPath, args, {
          cwd: root,
          env: { PATH: process.env['PATH'], ...env, ...extra },
          stdout: 'pipe',
          stderr: 'inherit',
        });
        stops.push(() => child.stop());
        return { port: await readPort(child.child.stdout), pid: child.pid };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readPort(output: NodeJS.ReadableStream | null): Promise<number> {
  if (!output) throw new Error('the process has no output');
  const lines = createInterface({ input: output });
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const port = /"port":(\d+)/.exec(line)?.[1];
      if (port) resolve(Number(port));
    });
    lines.on('close', () => reject(new Error('the process ended before it listened')));
  });
}
