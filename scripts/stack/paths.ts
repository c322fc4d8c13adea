import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Advice } from './advice.ts';

/** The checkout. */
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
