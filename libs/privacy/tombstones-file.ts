/** A file of tombstones, in case Redis is lost: its tombstones stay in it even if Redis lacks them. */
import { existsSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { z } from 'zod';
import { packedFor, readText } from '#libs/base/cli/gzipped';
import type { Tombstone } from './tombstones.ts';

const tombstone = z.object({
  organizationId: z.string(),
  domainId: z.string().nullable(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  erasedAt: z.string(),
});

export async function readTombstones(file: string): Promise<Tombstone[]> {
  const lines = (await readText(file)).split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    try {
      return tombstone.parse(JSON.parse(line));
    } catch {
      throw new Error(`${file} has in line ${at + 1} what \`visitor tombstones\` did not write`);
    }
  });
}

/**
 * Writes `current`, and the file's own tombstones after `since` (RFC 3339). An interrupted run leaves the file as it
 * was. Throws if the file is something else.
 */
export async function writeTombstones(file: string, current: Tombstone[], since: string) {
  const before = existsSync(file) ? await readTombstones(file) : [];
  const keyOf = ({ organizationId, domainId, hash }: Tombstone) => `${organizationId}/${domainId}/${hash}`;
  const known = new Set(current.map(keyOf));
  const onlyInFile = before.filter((each) => each.erasedAt >= since && !known.has(keyOf(each)));
  const all = [...onlyInFile, ...current].sort((a, b) => a.erasedAt.localeCompare(b.erasedAt));
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(await packedFor(file, all.map((each) => `${JSON.stringify(each)}\n`).join('')));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  return { tombstones: all.length, unknownToRedis: onlyInFile.length };
}
