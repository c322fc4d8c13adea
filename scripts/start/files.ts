/** What a start keeps in `.data`, readable by its owner alone. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { dataRoot } from '../stack/paths.ts';

/** Written whole or not at all: others wait for these files to appear. */
export function writePrivate(name: string, text: string): void {
  const file = path.join(dataRoot, name);
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, file);
}

export function readPrivate(name: string): string | undefined {
  const file = path.join(dataRoot, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export function removePrivate(name: string): void {
  rmSync(path.join(dataRoot, name), { force: true });
}
