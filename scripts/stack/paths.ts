import { accessSync, chmodSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitForLock } from '../lock.mjs';
import { Advice } from './advice.ts';

export const root = path.resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** Everything that a checkout makes for itself; it may be deleted whenever nothing runs. */
export const dataRoot = path.join(root, '.data');

/** 0711: others, such as the user that Postgres runs as, may pass through to a folder of theirs, and list nothing. */
export function ensureDataRoot(): string {
  try {
    mkdirSync(dataRoot, { recursive: true });
    accessSync(dataRoot, constants.W_OK);
    chmodSync(dataRoot, 0o711);
  } catch {
    throw new Advice(`${dataRoot} is not ours to write: give it to this user, or remove it.`);
  }
  return dataRoot;
}

/** Makes a folder once, whole or not at all. `make` gets an empty one beside it, and resolves to what it becomes. */
export async function makeOnce(folder: string, make: (work: string) => Promise<string>, signal?: AbortSignal) {
  const release = await waitForLock(`${folder}.lock`, { signal });
  const work = `${folder}.new`;
  // of a run that was killed, and our own
  const clear = () => rmSync(work, { recursive: true, force: true });
  try {
    if (existsSync(folder)) return folder;
    clear();
    mkdirSync(work, { recursive: true });
    renameSync(await make(work), folder);
    return folder;
  } finally {
    clear();
    release();
  }
}
