/** The stack that is measured: private stores as they are shipped, and real processes from a build of their own. */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { startAssent } from '../stack/assent-process.ts';
import { root } from '../stack/paths.ts';
import { startPrivateStores } from '../stack/private-stores.ts';
import { spawnTethered } from '../stack/tether.ts';

export interface BenchStack {
  databaseUrl: string;
  /** Each starts a process and resolves with its address. */
  startApi(): Promise<string>;
  startBare(): Promise<string>;
  stop(): Promise<void>;
}

export async function startBenchStack(): Promise<BenchStack> {
  const stores = await startPrivateStores({ name: 'bench', say: console.log });
  const { url: databaseUrl } = stores.postgres;
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    REDIS_URL: stores.redis.url,
    JWT_SECRET: randomUUID(),
    HOST: '127.0.0.1',
    PORT: '0',
    OPS_PORT: '0',
    RECORD_RATE_PER_MINUTE: '0',
  };
  return {
    databaseUrl,
    startApi: async () => {
      const api = await startAssent(stores.dist, 'api', env);
      stores.onStop(() => api.process.stop());
      return api.baseUrl;
    },
    startBare: async () => {
      const bare = spawnTethered(process.execPath, ['--import', 'tsx', 'scripts/bench/bare.ts'], {
        cwd: root,
        env: { PATH: process.env.PATH },
        stdout: 'pipe',
        stderr: 'inherit',
      });
      stores.onStop(() => bare.stop());
      return `http://127.0.0.1:${await readPort(bare.child.stdout)}`;
    },
    stop: stores.stop,
  };
}

async function readPort(output: NodeJS.ReadableStream | null): Promise<number> {
  if (output) {
    for await (const line of createInterface({ input: output })) {
      const port = /"port":(\d+)/.exec(line)?.[1];
      if (port) return Number(port);
    }
  }
  throw new Error('bare Koa ended before it listened');
}
