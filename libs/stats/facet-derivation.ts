/**
 * Facets: statistics by country, banner version and the other dimensions. Several epochs with few records are added
 * together.
 */

import type { Database } from '#libs/base/db/database';
import { type Derivation, deriveAll, doneWith, type Progress, withMark } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister } from '#libs/epochs/slices';
import { addDisplays, newestDisplays } from './derive/add-displays.ts';
import { addRecords } from './derive/add-records.ts';
import { facetsName } from './facets.ts';

/** records, or rows of displays, in one transaction */
const usualLimit = 20_000;

/**
 * `precursor`: the derivation that must be done with an epoch before its records are added; `generation`: changes with the
 * Postgres server, which may lack what was added on another.
 */
export const createFacetDerivation = (
  precursor: string,
  generation: () => number,
  size = createPieceSize(usualLimit),
): Derivation {
  const nextIds = createIdLister(generation, size);
  return {
    name: facetsName,
    after: precursor,
    size,
    async piece(sql, epoch, after) {
      const limit = size.records();
      const next = await nextDomains(sql, epoch, after, limit);
      const [first] = next.domains;
      if (!first) return undefined;
      const { domainNumber, records } = first;
      // a domain started with smaller pieces continues from where it stopped
      const through = await addedThrough(sql, { epoch, domainNumber });
      if (records <= limit && through === nil) {
        await addRecords(sql, { epoch, domainNumbers: next.domains.map((domain) => domain.domainNumber) });
        return next.through;
      }
      const ids = await nextIds(sql, { epoch, domainNumber, after: through }, limit);
      if (ids.length === 0) return domainNumber;
      await addRecords(sql, { domainNumber, ids });
      await noteAdded(sql, { epoch, domainNumber }, toUuid(ids.subarray(-16)));
      return after;
    },
    async span(sql, epochs) {
      if (await isBegun(sql, epochs.first)) return false;
      await addRecords(sql, epochs);
      return true;
    },
  };
}

const toUuid = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

export function createFacets(
  db: Database,
  precursor: string,
  size = createPieceSize(usualLimit),
): (signal: AbortSignal) => Promise<void> {
  const derivation = createFacetDerivation(precursor, db.generation, size);
  return async (signal) => {
    // Displays first, so that facets up to the mark include them. More arrive meanwhile, so a round takes the displays
    // that it finds and derives the epochs that were closed before.
    const through = await db.read((sql) => doneWith(sql, precursor));
    const newest = await db.read(newestDisplays);
    let swept: Progress = 'more';
    while (swept === 'more' && !signal.aborted)
      swept = await size.watch(() => sweepDisplays(db, newest, size.records()));
    if (swept === 'done') await deriveAll(db, derivation, signal, through);
  };
}

async function whileMore(signal: AbortSignal, work: () => Promise<Progress>): Promise<Progress> {
  let step: Progress = 'more';
  while (step === 'more' && !signal.aborted) step = await work();
  return step;
}

/** Under the derivation's mark, so that one process at a time changes facets. */
const sweepDisplays = (db: Database, newest: number | null, limit: number) =>
  withMark(db, facetsName, async (sql) =>
    newest !== null && (await addDisplays(sql, newest, limit)) ? 'more' : 'done',
  );

interface DomainEpoch {
  epoch: number;
  domainNumber: number;
}

/** The last record that was added of a domain's epoch that is added in pieces; the nil UUID for none. */
async function addedThrough(sql: Sql, { epoch, domainNumber }: DomainEpoch): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select id from facet_progress where epoch = ${epoch} and domain_number = ${domainNumber}`;
  return row?.id ?? nil;
}

/** Whether a part of the epoch has been added in pieces, so that it cannot be added whole. */
async function isBegun(sql: Sql, epoch: number): Promise<boolean> {
  const begun = await sql`select from facet_progress where epoch = ${epoch}`;
  return begun.length > 0;
}

async function noteAdded(sql: Sql, { epoch, domainNumber }: DomainEpoch, id: string): Promise<void> {
  await sql`
    insert into facet_progress (epoch, domain_number, id) values (${epoch}, ${domainNumber}, ${id})
    on conflict (single) do update set
      epoch = excluded.epoch, domain_number = excluded.domain_number, id = excluded.id`;
}
