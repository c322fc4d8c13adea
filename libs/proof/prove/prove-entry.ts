/** Proves that an entry is in its domain's log: a record's, an erasure's or a notice's. */

import type { Sql } from '#libs/base/db/database';
import { sha256 } from '#libs/base/sha256';
import { Problem } from '#libs/base/terms/problem';
import { findLog, findSize } from '../published.ts';
import { type Reported, readEntryTexts, reportDifference } from '../sealed-text.ts';
import { utf8 } from '../tree/bytes.ts';
import { parseCheckpoint } from '../tree/checkpoint.ts';
import { leafHash } from '../tree/hash.ts';
import { inclusionProof, inclusionTiles } from '../tree/make-proofs.ts';
import { parseNote } from '../tree/note.ts';
import { formatTlogProof } from '../tree/tlog-proof.ts';
import { verifyInclusion } from '../tree/verify-proofs.ts';
import { readTileBytes } from './tiles.ts';

interface WantedEntry {
  domainId: string;
  /** default: the newest */
  log?: number | undefined;
  /** from 0 */
  position: number;
}

/** The proof file; undefined if no checkpoint covers the position yet. Throws a 404, or a 410 if the record has expired. */
export async function proveEntry(
  sql: Sql,
  { domainId, log, position }: WantedEntry,
  reported: Reported,
): Promise<string | undefined> {
  const found = await findSize(sql, domainId, log);
  if (!found && log !== undefined) throw new Problem('not_found', `this domain has no log ${log}`);
  if (found?.isEnded && position >= found.size) {
    throw new Problem('not_found', `log ${found.log} ended at ${found.size}`);
  }
  const published = await findLog(sql, domainId, found?.log);
  if (!published || position >= published.size) return undefined;
  const { checkpoint } = published;
  const { root, size } = parseCheckpoint(parseNote(checkpoint).text);
  const [text = ''] = await readEntryTexts(sql, published, { from: position, below: position + 1 }, reported);
  const entry = utf8(text);
  const tiles = await readTileBytes(sql, published, inclusionTiles(position, size));
  const proof = inclusionProof(sha256, position, size, tiles);
  if (!verifyInclusion(sha256, { leaf: leafHash(sha256, entry), index: position, size, proof, root })) {
    throw reportDifference(published.log, position, reported);
  }
  return formatTlogProof({ entry, index: position, proof, checkpoint });
}
