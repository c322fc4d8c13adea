/** Proofs of a page of records, each against its log's newest checkpoint; the tiles that they share are read once. */

import type { Database, Sql } from '#libs/base/db/database';
import { inSnapshot } from '#libs/base/db/snapshot';
import { groupBy } from '#libs/base/group-by';
import { sha256 } from '#libs/base/sha256';
import { proveInclusion } from '#libs/proof/inclusion';
import type { FoundRecord } from '#libs/proof/positions';
import { findLog, type PublishedLog } from '#libs/proof/published';
import { utf8 } from '#libs/proof/tree/bytes';
import { sealedEntryOf } from '#libs/proof/tree/entry';
import { leafHash } from '#libs/proof/tree/hash';
import { formatTlogProof } from '#libs/proof/tree/tlog-proof';

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
  const entries = records.flatMap(({ record, sealed }) => {
    const { id, position } = record;
    if (position === null || !sealed) return [];
    const entry = utf8(sealedEntryOf(sha256, { ...record, importedAt: sealed.importedAt }, sealed));
    return [{ id, position, entry, leaf: leafHash(sha256, entry) }];
  });
  const proofs = await proveInclusion(sql, published, checkpoint, entries);
  return entries.map(({ id, position, entry }, at) => {
    const proof = proofs[at];
    return { id, position, proof: proof && formatTlogProof({ entry, index: position, proof, checkpoint }) };
  });
}
