/** Proofs of a page of records, each for its log's newest checkpoint, and their bundles. */

import type { Reads } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import type { FoundRecord } from '#libs/proof/positions';
import { formatBundle, formatProof, type Proven } from '#libs/proof/prove';
import { proveRecords } from '#libs/proof/prove-records';
import { findLog } from '#libs/proof/published';

/** A record that differs from what was sealed. */
export interface Differing {
  domainId: string;
  log: number | null | undefined;
  position: number;
}

type OnDiffers = (differing: Differing) => void;

/** Records of two domains may have the same id. */
export const placeOf = ({ record }: FoundRecord): string => `${record.domainId}/${record.id}`;

/** By place. Records that are not sealed yet, or that differ from what was sealed, have none. */
export const proofsOf = (db: Reads, records: FoundRecord[], onDiffers: OnDiffers): Promise<Map<string, string>> =>
  provenBy(db, records, { isBundle: false, format: formatProof }, onDiffers);

/** Likewise, their bundles as JSON. */
export const bundlesOf = (db: Reads, records: FoundRecord[], onDiffers: OnDiffers): Promise<Map<string, string>> =>
  provenBy(db, records, { isBundle: true, format: (proven) => JSON.stringify(formatBundle(proven)) }, onDiffers);

async function provenBy(
  db: Reads,
  records: FoundRecord[],
  { isBundle, format }: { isBundle: boolean; format: (proven: Proven) => string },
  onDiffers: OnDiffers,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const sealed = records.filter(({ sealed }) => sealed);
  const byLog = groupBy(sealed, ({ record }) => `${record.domainId} ${record.log}`);
  for (const ofLog of byLog.values()) {
    const { domainId = '', log: number } = ofLog[0]?.record ?? {};
    const made = await db.read(
      async (sql) => {
        const published = await findLog(sql, domainId, number ?? undefined);
        return published ? proveRecords(sql, published, ofLog, { isBundle }) : [];
      },
      { snapshot: true },
    );
    for (const { id, position, proven } of made) {
      if (proven) texts.set(`${domainId}/${id}`, format(proven));
      else onDiffers({ domainId, log: number, position });
    }
  }
  return texts;
}
