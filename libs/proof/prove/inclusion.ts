/** Inclusion proofs of several leaves against the same checkpoint. Shared tiles are read once. */

import type { Sql } from '#libs/base/db/database';
import { sha256 } from '#libs/base/sha256';
import type { LogName } from '../runs.ts';
import { parseCheckpoint } from '../tree/checkpoint.ts';
import { inclusionProof, inclusionTiles } from '../tree/make-proofs.ts';
import { parseNote } from '../tree/note.ts';
import { verifyInclusion } from '../tree/verify-proofs.ts';
import { readTileBytes } from './tiles.ts';

interface Leaf {
  /** 32 bytes */
  leaf: Uint8Array;
  position: number;
}

/** The leaf's sibling first, in the order of `leaves`; undefined for a leaf that was not sealed at its position. */
export async function proveInclusion(
  sql: Sql,
  log: LogName,
  checkpoint: string,
  leaves: Leaf[],
): Promise<(Uint8Array[] | undefined)[]> {
  const { root, size } = parseCheckpoint(parseNote(checkpoint).text);
  const wanted = leaves.flatMap(({ position }) => inclusionTiles(position, size));
  const tiles = new Map(wanted.map((tile) => [`${tile.level}/${tile.index}`, tile]));
  const bytes = await readTileBytes(sql, log, [...tiles.values()]);
  return leaves.map(({ leaf, position: index }) => {
    const proof = inclusionProof(sha256, index, size, bytes);
    return verifyInclusion(sha256, { leaf, index, size, proof, root }) ? proof : undefined;
  });
}
