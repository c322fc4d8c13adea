/**
 * Facets: statistics by country, banner version and the other dimensions. Several epochs with few records are added
 * together.
 */

import type { Database } from '#libs/base/db/database';
import { type Derivation, deriveAll, lastEpochDone, type Progress, withMark } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister } from '#libs/epochs/slices';
import { addFacetsOfDisplays, newestDisplays } from './derive/add-displays.ts';
import { addFacetsOfRecords } from './derive/add-records.ts';
import { facetsName } from './facets.ts';

/** records, or rows of displays, in one transaction */
const usualLimit = 20_000;

/**
 * `precursor`: the derivation that must be done with an epoch before its records are added; `generation`: changes when
 * connections may lead to another Postgres server, on which cached ids may not exist.
 */
export const createFacetDerivation = (
  precursor: string,
  generation: () => number,
  size = createPieceSize(usualLimit),
): Derivation => ({
  name: facetsName,
  after: precursor,
  size,
  acrossEpochs: true,
  nextIds: createIdLister(generation, size),
  async derive(sql, slice) {
    await addFacetsOfRecords(sql, slice);
    return undefined;
  },
});

export function createFacets(
  db: Database,
  precursor: string,
  size = createPieceSize(usualLimit),
): (signal: AbortSignal) => Promise<void> {
  const derivation = createFacetDerivation(precursor, db.generation, size);
  return async (signal) => {
    // Displays are added first, so that when the mark reaches an epoch, the facets include all displays stored before. More
    // keep arriving, so a round adds only displays that it finds at its start, and derives only epochs that were ready
    // before it looked for displays.
    const through = await db.read((sql) => lastEpochDone(sql, precursor));
    const newest = await db.read(newestDisplays);
    let swept: Progress = 'more';
    while (swept === 'more' && !signal.aborted)
      swept = await size.run(() => sweepDisplays(db, newest, size.maxRecords()));
    if (swept === 'done') await deriveAll(db, derivation, signal, through);
  };
}

/** Under the same mark: facets are changed by one process at a time. */
const sweepDisplays = (db: Database, newest: number | null, limit: number) =>
  withMark(db, facetsName, async (sql) =>
    newest !== null && (await addFacetsOfDisplays(sql, newest, limit)) ? 'more' : 'done',
  );
