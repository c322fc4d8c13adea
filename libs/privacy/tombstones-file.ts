/** The file of who was erased, for the day on which Redis is lost: what it has stays in it, whatever Redis says. */
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
 * Writes `told`, and what the file has already from after `since` (RFC 3339). A run that is cut off leaves the file as it
 * was. Throws where the file is something else.
 */
export async function writeTombstones(file: string, told: Tombstone[], since: string) {
  const before = existsSync(file) ? await readTombstones(file) : [];
  const keyOf = ({ organizationId, domainId, hash }: Tombstone) => `${organizationId}/${domainId}/${hash}`;
  const known = new Set(told.map(keyOf));
  const kept = before.filter((each) => each.erasedAt >= since && !known.has(keyOf(each)));
  const all = [...kept, ...told].sort((a, b) => a.erasedAt.localeCompare(b.erasedAt));
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(await packedFor(file, all.map((each) => `${JSON.stringify(each)}\n`).join('')));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  return { tombstones: all.length, unknownToRedis: kept.length };
}
