/** Proofs of a page of records, each against its log's newest checkpoint, and their bundles. */

import type { Database } from '#libs/base/db/database';
import { inSnapshot } from '#libs/base/db/snapshot';
import { groupBy } from '#libs/base/group-by';
import type { FoundRecord } from '#libs/proof/positions';
import { formatBundle, formatProof, type Proven } from '#libs/proof/prove';
import { proveRecords } from '#libs/proof/prove-records';
import { findLog } from '#libs/proof/published';

/** A record that is not what was sealed. */
export interface Differing {
  domainId: string;
  log: number | null | undefined;
  position: number;
}

type OnDiffers = (differing: Differing) => void;

/** By record id. A record that is not sealed yet has none, nor one that differs from what was sealed. */
export const proofsOf = (db: Database, records: FoundRecord[], onDiffers: OnDiffers): Promise<Map<string, string>> =>
  provenBy(db, records, { isBundle: false, format: formatProof }, onDiffers);

/** Likewise, as JSON. */
export const bundlesOf = (db: Database, records: FoundRecord[], onDiffers: OnDiffers): Promise<Map<string, string>> =>
  provenBy(db, records, { isBundle: true, format: (proven) => JSON.stringify(formatBundle(proven)) }, onDiffers);

async function provenBy(
  db: Database,
  records: FoundRecord[],
  { isBundle, format }: { isBundle: boolean; format: (proven: Proven) => string },
  onDiffers: OnDiffers,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const sealed = records.filter(({ sealed }) => sealed);
  const byLog = groupBy(sealed, ({ record }) => `${record.domainId} ${record.log}`);
  for (const ofLog of byLog.values()) {
    const { domainId = '', log: number } = ofLog[0]?.record ?? {};
    const made = await db.run((sql) =>
      inSnapshot(sql, async (snapshot) => {
        const published = await findLog(snapshot, domainId, number ?? undefined);
        return published ? proveRecords(snapshot, published, ofLog, { isBundle }) : [];
      }),
    );
    for (const { id, position, proven } of made) {
      if (proven) texts.set(id, format(proven));
      else onDiffers({ domainId, log: number, position });
    }
  }
  return texts;
}
