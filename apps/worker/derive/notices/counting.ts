/** Counts the records that name each notice, once each: what recording itself would have to lock a row for. */
import { type Derivation, deriveNext } from '#libs/store/epochs/derivations';
import { nextDomains } from '#libs/store/logs/unsealed';
import { countedThrough, countNotices, noteCounted } from '#libs/store/notices/counting';
import type { Database } from '#libs/store/sql';

export const noticeCounting = 'notices';

/** Records in one transaction, and notices: anyone may make up hashes. */
const usualLimit = 20_000;

export const createNoticeDerivation = (limit = usualLimit): Derivation => ({
  name: noticeCounting,
  async piece(sql, epoch, after) {
    const domains = await nextDomains(sql, epoch, after, limit);
    const last = domains.at(-1);
    if (!last) return undefined;
    const { domainNumber, records } = last;
    const place = { epoch, domainNumber };
    const isLarge = records > limit;
    const through = await countNotices(sql, {
      epoch,
      domainNumbers: domains.map((domain) => domain.domainNumber),
      after: isLarge ? await countedThrough(sql, place) : 0,
      limit,
    });
    if (!isLarge || through === undefined) return domainNumber;
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
