/** A folder of one run's own below `.data`, with a Postgres and a Redis in it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { ensureDataRoot } from './paths.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { removeFolder } from './service-user.ts';

type Step = () => Promise<unknown> | unknown;

export interface Run {
  folder: string;
  /** Runs at the end; the last one added runs first. */
  onStop(step: Step): void;
}

/** Adds `stop` to what `start` returns, which removes the folder at the end; a failed start is stopped at once. */
export async function startRun<Started>(name: string, start: (run: Run) => Promise<Started>) {
  const folder = mkdtempSync(path.join(ensureDataRoot(), `${name}-`));
  // the user that Postgres runs as passes through
  chmodSync(folder, 0o711);
  const steps: Step[] = [() => removeFolder(folder)];
  const stop = async () => {
    for (let step = steps.pop(); step; step = steps.pop()) await step();
  };
  try {
    return { ...(await start({ folder, onStop: (step) => void steps.push(step) })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface StoreOptions {
  postgresFolder?: string;
  redisFolder?: string;
  redisSettings?: Record<string, string>;
  signal?: AbortSignal;
}

export async function startStores({ folder, onStop }: Run, options: StoreOptions = {}) {
  const { redisSettings = {}, signal } = options;
  const { postgresFolder = path.join(folder, 'postgres'), redisFolder = path.join(folder, 'redis') } = options;
  const postgres = await startPostgres({ dataDir: postgresFolder, say: console.log, signal });
  onStop(postgres.stop);
  const redis = await startRedis({ dataDir: redisFolder, settings: redisSettings, say: console.log, signal });
  onStop(redis.stop);
  /** for the API and the worker */
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    JWT_SECRET: randomUUID(),
    PRIVACY_KEY: randomBytes(32).toString('hex'),
    HOST: '127.0.0.1',
    RECORD_RATE_PER_MINUTE: '0',
    DISPLAY_RATE_PER_MINUTE: '0',
  };
  return { postgres, redis, env };
}
