import { accessSync, chmodSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Puts a finished folder in its place. When two processes made it at once, the first one's stays: it may be in use. */
export function publish(finished: string, place: string): void {
  try {
    renameSync(finished, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
    rmSync(finished, { recursive: true });
  }
}
