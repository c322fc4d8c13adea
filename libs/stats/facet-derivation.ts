/**
 * Facets: statistics by country, banner version and whatever else records have in common, several epochs at once where
 * their records are few.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { type Derivation, deriveNext, doneWith, type Progress, withMark } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister, nextDomains, nil } from '#libs/epochs/slices';
import { addDisplays, newestDisplays } from './derive/add-displays.ts';
import { addRecords } from './derive/add-records.ts';
import { facetsName } from './facets.ts';

/** records in one transaction, and rows of displays */
const usualLimit = 20_000;

/**
 * `precursor`: the derivation that has to be done with an epoch before its records are added up; `generation`: changes where
 * another server may lack what was added.
 */
export function createFacetDerivation(
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
      // one that was begun when pieces were smaller goes on where it is, however few its records are
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
    // Displays first, so that once the mark moves what was shown before is in as well. They keep coming: a round takes
    // those that it finds, and then derives what was closed before it looked for them.
    const through = await db.read((sql) => doneWith(sql, precursor));
    const newest = await db.read(newestDisplays);
    const sweep = () => size.watch(() => sweepDisplays(db, newest, size.records()));
    if ((await whileMore(signal, sweep)) !== 'done') return;
    await whileMore(signal, () => deriveNext(db, derivation, through));
  };
}

async function whileMore(signal: AbortSignal, work: () => Promise<Progress>): Promise<Progress> {
  let step: Progress = 'more';
  while (step === 'more' && !signal.aborted) step = await work();
  return step;
}

/** Under the same mark: facets are changed by one process at a time. */
const sweepDisplays = (db: Database, newest: number | null, limit: number) =>
  withMark(db, facetsName, async (sql) =>
    newest !== null && (await addDisplays(sql, newest, limit)) ? 'more' : 'done',
  );

interface DomainEpoch {
  epoch: number;
  domainNumber: number;
}

/** How far one domain's epoch is that is added in several pieces: the record up to which it is added, the nil UUID for none. */
async function addedThrough(sql: Sql, { epoch, domainNumber }: DomainEpoch): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select id from facet_progress where epoch = ${epoch} and domain_number = ${domainNumber}`;
  return row?.id ?? nil;
}

/** Whether one domain's part of the epoch was added in pieces, and may not be added whole. */
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
