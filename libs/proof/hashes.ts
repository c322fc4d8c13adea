/** Hashes of a log, as proofs are made from them. */

import type { Sql } from '#libs/base/db/database';
import type { LogName } from './runs.ts';
import { readTiles } from './tiles.ts';
import { hashLength } from './tree/hash.ts';
import type { TileBytes } from './tree/proofs.ts';
import type { Tile } from './tree/tile-path.ts';

/** Of each tile as many hashes as its width says; throws where the store has fewer. */
export async function readHashes(sql: Sql, log: LogName, tiles: Tile[]): Promise<Buffer[]> {
  const found = await readTiles(sql, log, tiles);
  return found.map((bytes, at) => {
    const { level = 0, index = 0, width = 0 } = tiles[at] ?? {};
    if (bytes.length >= width * hashLength) return bytes.subarray(0, width * hashLength);
    throw new Error(
      `tile ${level}/${index} of log ${log.log} of domain number ${log.domainNumber} has ${bytes.length} bytes`,
    );
  });
}

/** The tiles read at once, for a proof made of them. */
export async function readTileBytes(sql: Sql, log: LogName, tiles: Tile[]): Promise<TileBytes> {
  const hashes = await readHashes(sql, log, tiles);
  const byName = new Map(tiles.map(({ level, index }, at) => [`${level}/${index}`, hashes[at]]));
  return (level, index) => byName.get(`${level}/${index}`);
}
