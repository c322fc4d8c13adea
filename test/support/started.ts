/** What the set-up of a run passes to its files once the servers run: files that need none begin earlier. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Milliseconds for all of it: in a fresh clone, on a slow line, packages of Debian come first. */
export const setUpPatience = 600_000;

/** Of each Redis: what it has written outlives its end all the same, if not the machine's. */
export const unsynced = { appendfsync: 'no' };

export interface Started {
  /** address of the server, without a database */
  postgresUrl: string;
  /** the first is that of the worker whose VITEST_POOL_ID is 1 */
  stores: { DATABASE_URL: string; REDIS_URL: string }[];
}

export const startedFile = (folder: string): string => path.join(folder, 'started.json');

export const readStarted = (folder: string): Started =>
  JSON.parse(readFileSync(startedFile(folder), 'utf8')) as Started;
