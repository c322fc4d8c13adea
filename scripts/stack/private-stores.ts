/** What is started for one run and ends with it: a folder of its own below `.data`, a Postgres and a Redis in it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { ensureDataRoot } from './paths.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { removeFolder } from './service-user.ts';

export const newKey = (): string => randomBytes(32).toString('hex');

/** The step runs at the end; the last one added runs first. */
export type OnStop = (step: () => unknown) => void;

export interface Run {
  folder: string;
  onStop: OnStop;
}

/** Adds `stop` to what `start` returns; a failed start is stopped at once. */
export async function startAll<Started>(start: (onStop: OnStop) => Promise<Started>) {
  const steps: (() => unknown)[] = [];
  const stop = async () => {
    for (let step = steps.pop(); step; step = steps.pop()) await step();
  };
  try {
    return { ...(await start((step) => void steps.push(step))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The folder goes at the end. */
export const startRun = <Started>(name: string, start: (run: Run) => Promise<Started>) =>
  startAll((onStop) => {
    const folder = mkdtempSync(path.join(ensureDataRoot(), `${name}-`));
    onStop(() => removeFolder(folder));
    // the user that Postgres runs as passes through
    chmodSync(folder, 0o711);
    return start({ folder, onStop });
  });

interface StoreOptions {
  postgresFolder?: string | undefined;
  postgresEnv?: Record<string, string> | undefined;
  redisFolder?: string | undefined;
  redisSettings?: Record<string, string>;
  signal?: AbortSignal;
}

export async function startStores(
  { folder, onStop }: Run,
  { redisSettings = {}, postgresEnv: env, signal, ...folders }: StoreOptions = {},
) {
  const { postgresFolder = path.join(folder, 'postgres'), redisFolder = path.join(folder, 'redis') } = folders;
  const postgres = await startPostgres({ dataDir: postgresFolder, env, say: console.log, signal });
  onStop(postgres.stop);
  const redis = await startRedis({ dataDir: redisFolder, settings: redisSettings, say: console.log, signal });
  onStop(redis.stop);
  /** for the API and the worker */
  const settings = {
    PATH: process.env.PATH,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    JWT_SECRET: randomUUID(),
    PRIVACY_KEY: newKey(),
    HOST: '127.0.0.1',
    RECORD_RATE_PER_MINUTE: '0',
    CHANGE_RATE_PER_MINUTE: '0',
  };
  return { postgres, redis, env: settings };
}

/** A terminal and npm may both pass on one Ctrl-C; only a signal after this many milliseconds is a second one. */
const oneCtrlC = 1_000;

interface Started {
  stop(): Promise<void>;
}

/** Once we are asked to end, stops what was started, also what is starting still, and ends. */
export function stopAtInterrupt<Stack extends Started>(signal: AbortSignal, starting: Promise<Stack>): Promise<Stack> {
  signal.addEventListener('abort', () => void starting.then(({ stop }) => stop()).finally(() => process.exit(130)));
  return starting;
}

/** Aborts at the first signal that asks us to end; `again` answers a second one, by default without any clean-up. */
export function onInterrupt(again: () => void = () => process.exit(130)): AbortSignal {
  const controller = new AbortController();
  let abortedAt = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        abortedAt = performance.now();
        console.log('\nstopping …');
        controller.abort(new Error('interrupted'));
      } else if (performance.now() - abortedAt > oneCtrlC) again();
    });
  }
  return controller.signal;
}
