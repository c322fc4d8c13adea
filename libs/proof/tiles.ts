/** The hashes of a log, as tiles: those of its entries from its runs, those above from its nodes. */

import type { Sql } from '#libs/base/db/database';
import type { LogName } from './runs.ts';
import { tileWidth } from './tree/tile-path.ts';

export interface TileName {
  level: number;
  index: number;
}

/** All hashes of these tiles that there are, one after the other, 32 bytes each; in the order of `tiles`. */
export async function readTiles(sql: Sql, { domainNumber, log }: LogName, tiles: TileName[]): Promise<Buffer[]> {
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
