/** What the set-up of a run has started, and what the files of one vitest worker share. */
import { existsSync } from 'node:fs';
import { inject } from 'vitest';
import { type Addresses, runApi, runWorker } from './service.ts';
import { readStarted, type Started, setUpPatience, startedFile } from './started.ts';
import { eventually } from './wait.ts';

/** Stores, an API and a worker that the files of one vitest worker share: each file makes its own tenants. */
interface SharedStack {
  env: Started['stores'][number];
  api: Addresses;
}

let started: Started | undefined;
let stack: SharedStack | undefined;

/** Before each file; the first one of a vitest worker waits for the servers, and opens the stack. */
export async function openShared(): Promise<void> {
  if (stack) return;
  const file = startedFile(inject('folder'));
  await eventually(
    () => {
      if (!existsSync(file)) throw new Error('the servers of this run did not start');
    },
    // the set-up ends the run before
    { within: 2 * setUpPatience, every: 50 },
  );
  started = readStarted(inject('folder'));
  const env = started.stores[Number(process.env.VITEST_POOL_ID) - 1];
  if (!env) throw new Error(`no stores for worker ${process.env.VITEST_POOL_ID}`);
  // at its own pace: it mostly has nothing to do, and there is one beside each vitest worker
  const [api] = await Promise.all([runApi(env), runWorker(env)]);
  stack = { env, api };
}

const opened = <T>(given: T | undefined): T => {
  if (given === undefined) throw new Error('this file belongs to a project without servers');
  return given;
};
export const sharedStack = (): SharedStack => opened(stack);
export const sharedPostgresUrl = (): string => opened(started).postgresUrl;
