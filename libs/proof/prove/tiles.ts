/** The hashes of a log as tiles: leaves come from its runs, higher levels from its nodes. */

import type { Sql } from '#libs/base/db/database';
import type { LogName } from '../runs.ts';
import { hashLength } from '../tree/hash.ts';
import type { TileBytes } from '../tree/make-proofs.ts';
import { type Tile, tileWidth } from '../tree/tlog-tiles.ts';

/** The stored hashes of these tiles, concatenated, 32 bytes each; in the order of `tiles`. */
async function readTiles(
  sql: Sql,
  { domainNumber, log }: LogName,
  tiles: Pick<Tile, 'level' | 'index'>[],
): Promise<Buffer[]> {
  const rows = await sql<{ hashes: Buffer | null }[]>`
    select case
      when level = 0 then (
        select string_agg(leaves, '' order by first) from log_runs
        where domain_number = ${domainNumber} and log = ${log}
          and first >= "index" * ${tileWidth} and first < ("index" + 1) * ${tileWidth}
      )
      else (
        select string_agg(hash, '' order by n) from log_nodes
        where domain_number = ${domainNumber} and log = ${log} and log_nodes.level = tile.level
          and n >= "index" * ${tileWidth} and n < ("index" + 1) * ${tileWidth}
      )
    end as hashes
    from rows from (json_to_recordset(${JSON.stringify(tiles)}::text::json) as (level integer, "index" bigint))
      with ordinality as tile (level, "index", place)
    order by place`;
  return rows.map(({ hashes }) => hashes ?? Buffer.alloc(0));
}

/** The hashes of each tile up to its width. Throws if the store has fewer. */
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

/** Reads the tiles of a proof in one statement. */
export async function readTileBytes(sql: Sql, log: LogName, tiles: Tile[]): Promise<TileBytes> {
  const hashes = await readHashes(sql, log, tiles);
  const byName = new Map(tiles.map(({ level, index }, at) => [`${level}/${index}`, hashes[at]]));
  return (level, index) => byName.get(`${level}/${index}`);
}
