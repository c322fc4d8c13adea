/** Proofs of a page of records, each against its log's newest checkpoint; the tiles that they share are read once. */

import type { Database, Sql } from '#libs/base/db/database';
import { inSnapshot } from '#libs/base/db/snapshot';
import { groupBy } from '#libs/base/group-by';
import { sha256 } from '#libs/base/sha256';
import type { FoundRecord } from '#libs/proof/positions';
import { findLog, type PublishedLog } from '#libs/proof/published';
import { readTiles } from '#libs/proof/tiles';
import { utf8 } from '#libs/proof/tree/bytes';
import { parseCheckpoint } from '#libs/proof/tree/checkpoint';
import { sealedEntryOf } from '#libs/proof/tree/entry';
import { hashLength, leafHash } from '#libs/proof/tree/hash';
import { inclusionProof, inclusionTiles } from '#libs/proof/tree/make-proofs';
import { parseNote } from '#libs/proof/tree/note';
import { formatTlogProof } from '#libs/proof/tree/tlog-proof';
import { verifyInclusion } from '#libs/proof/tree/verify-proofs';

/** A record that is not what was sealed. */
export interface Differing {
  domainId: string;
  log: number | null | undefined;
  position: number;
}

/** By record id. A record that is not sealed yet has none, nor one that differs from what was sealed. */
export async function proofsOf(
  db: Database,
  records: FoundRecord[],
  onDiffers: (differing: Differing) => void,
): Promise<Map<string, string>> {
  const proofs = new Map<string, string>();
  const sealed = records.filter(({ sealed }) => sealed);
  const byLog = groupBy(sealed, ({ record }) => `${record.domainId} ${record.log}`);
  for (const ofLog of byLog.values()) {
    const { domainId = '', log: number } = ofLog[0]?.record ?? {};
    const made = await db.run((sql) =>
      inSnapshot(sql, async (snapshot) => {
        const published = await findLog(snapshot, domainId, number ?? undefined);
        return published ? proveAll(snapshot, published, ofLog) : [];
      }),
    );
    for (const { id, position, proof } of made) {
      if (proof) proofs.set(id, proof);
      else onDiffers({ domainId, log: number, position });
    }
  }
  return proofs;
}

interface Made {
  id: string;
  position: number;
  proof: string | undefined;
}

async function proveAll(sql: Sql, published: PublishedLog, records: FoundRecord[]): Promise<Made[]> {
  const { checkpoint } = published;
  const { root, size } = parseCheckpoint(parseNote(checkpoint).text);
  const wanted = new Map(
    records
      .flatMap(({ record }) => inclusionTiles(record.position ?? 0, size))
      .map((tile) => [`${tile.level}/${tile.index}`, tile]),
  );
  const tiles = [...wanted.values()];
  const bytes = await readTiles(sql, published, tiles);
  const byName = new Map(
    [...wanted.keys()].map((name, at) => [name, bytes[at]?.subarray(0, (tiles[at]?.width ?? 0) * hashLength)]),
  );
  return records.flatMap(({ record, sealed }) => {
    const { id, position } = record;
    if (position === null || !sealed) return [];
    const entry = utf8(sealedEntryOf(sha256, { ...record, importedAt: sealed.importedAt }, sealed));
    const hashes = inclusionProof(sha256, position, size, (level, index) => byName.get(`${level}/${index}`));
    const isSealed = verifyInclusion(sha256, {
      leaf: leafHash(sha256, entry),
      index: position,
      size,
      proof: hashes,
      root,
    });
    return [
      {
        id,
        position,
        proof: isSealed ? formatTlogProof({ entry, index: position, proof: hashes, checkpoint }) : undefined,
      },
    ];
  });
}
