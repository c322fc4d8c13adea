/** Counts the records that name each notice, once each: what recording itself would have to lock a row for. */

import type { Database } from '#libs/base/db/database';
import { type Derivation, deriveNext } from '#libs/record/derivations';
import { nextDomains } from '#libs/record/epoch-records';
import { createPieceSize } from '#libs/record/piece-size';
import { countedThrough, countNotices, noteCounted } from './counts.ts';

export const noticeCounting = 'notices';

/** Records in one transaction, and notices: anyone may make up hashes. */
const usualLimit = 20_000;

export const createNoticeDerivation = (size = createPieceSize(usualLimit)): Derivation => ({
  name: noticeCounting,
  size,
  async piece(sql, epoch, after) {
    const limit = size.records();
    const domains = await nextDomains(sql, epoch, after, limit);
    const [first, last] = [domains[0], domains.at(-1)];
    if (!first || !last) return undefined;
    const { domainNumber, records } = first;
    const place = { epoch, domainNumber };
    // one that was begun when pieces were smaller goes on where it is, however few its records are
    const counted = await countedThrough(sql, place);
    const isAlone = records > limit || counted > 0;
    const through = await countNotices(sql, {
      epoch,
      domainNumbers: isAlone ? [domainNumber] : domains.map((domain) => domain.domainNumber),
      after: counted,
      limit,
    });
    if (!isAlone) return last.domainNumber;
    if (through === undefined) return domainNumber;
    await noteCounted(sql, place, through);
    return after;
  },
});

export function createNoticeCounting(db: Database): (signal: AbortSignal) => Promise<void> {
  const derivation = createNoticeDerivation();
  return async (signal) => {
    while (!signal.aborted && (await deriveNext(db, derivation)) === 'more');
  };
}
