/**
 * Counts the records that name each notice, in all and on each day, once their epoch is closed: recording itself would have
 * to lock a row for it.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { type Derivation, deriveNext } from '#libs/epochs/derivations';
import { createPieceSize, patiently } from '#libs/epochs/piece-size';
import { nextDomains } from '#libs/epochs/slices';

export const noticeCounting = 'notices';

/** Records in one transaction, and notices: anyone may make up hashes. */
const usualLimit = 20_000;

export const createNoticeDerivation = (size = createPieceSize(usualLimit)): Derivation => ({
  name: noticeCounting,
  size,
  async piece(sql, epoch, after) {
    const limit = size.records();
    const next = await nextDomains(sql, epoch, after, limit);
    const [first] = next.domains;
    if (!first) return undefined;
    const { domainNumber, records } = first;
    const current = { epoch, domainNumber };
    // one that was begun when pieces were smaller goes on where it is, however few its records are
    const counted = await countedThrough(sql, current);
    const isAlone = records > limit || counted > 0;
    const numbers = isAlone ? [domainNumber] : next.domains.map((domain) => domain.domainNumber);
    const ofDomains = sql`epoch = ${epoch} and domain_number = any (${numbers})`;
    const count = () => countNotices(sql, ofDomains, { after: counted, limit });
    // of one alone all records are read, also for few notices
    const through = await (isAlone ? patiently(sql, size, count) : count());
    if (!isAlone) return next.through;
    if (through === undefined) return domainNumber;
    await noteCounted(sql, current, through);
    return after;
  },
  async span(sql, { first, last }) {
    if (await isBegun(sql, first)) return false;
    await countNotices(sql, sql`epoch between ${first} and ${last}`, { after: 0, limit: null });
    return true;
  },
});

export function createNoticeCounting(db: Database): (signal: AbortSignal) => Promise<void> {
  const derivation = createNoticeDerivation();
  return async (signal) => {
    while (!signal.aborted && (await deriveNext(db, derivation)) === 'more');
  };
}

/**
 * Adds the records of `which` to the notices that they name, of those beyond number `after` the first `limit`, or all (null).
 * Returns the last of them if there may be more.
 */
async function countNotices(
  sql: Sql,
  which: ReturnType<Sql['unsafe']>,
  { after, limit }: { after: number; limit: number | null },
): Promise<number | undefined> {
  const [row] = await sql<{ counted: number; last: number | null }[]>`
    with counted as materialized (
      select notice_number as number, domain_number, count(*) as records, count(*) filter (where not bot) as of_visitors
      from records
      where ${which} and notice_number > ${after}
      group by 1, 2 order by 1 limit ${limit}
    ),
    added as (
      update notices set records = notices.records + counted.records
      from counted where notices.number = counted.number
      returning counted.*, kept_at
    ),
    of_day as (
      insert into notice_days as d (domain_number, day, notice_number, records)
      select domain_number, (clock_timestamp() at time zone 'UTC')::date, notice_number, sum(of_visitors)
      from (
        select domain_number, number as notice_number, of_visitors from added where kept_at is null
        union all
        select domain_number, 0, of_visitors from added
      ) as named
      where of_visitors > 0
      group by 1, 3 order by 1, 3
      on conflict (domain_number, notice_number, day) do update set records = d.records + excluded.records
    )
    select count(*) as counted, max(number) as last from counted`;
  return row && row.counted === limit && row.last !== null ? row.last : undefined;
}

/** A domain's epoch whose notices are counted in several pieces. */
interface DomainEpoch {
  epoch: number;
  domainNumber: number;
}

/** The notice up to which it is counted, 0 for none. */
async function countedThrough(sql: Sql, { epoch, domainNumber }: DomainEpoch): Promise<number> {
  const [row] = await sql<{ through: number }[]>`
    select notice_number as through from notice_counting
    where epoch = ${epoch} and domain_number = ${domainNumber}`;
  return row?.through ?? 0;
}

/** Whether one domain's part of the epoch was counted in pieces, and may not be counted whole. */
async function isBegun(sql: Sql, epoch: number): Promise<boolean> {
  const begun = await sql`select from notice_counting where epoch = ${epoch}`;
  return begun.length > 0;
}

async function noteCounted(sql: Sql, { epoch, domainNumber }: DomainEpoch, through: number): Promise<void> {
  await sql`
    insert into notice_counting (epoch, domain_number, notice_number) values (${epoch}, ${domainNumber}, ${through})
    on conflict (single) do update set
      epoch = excluded.epoch, domain_number = excluded.domain_number, notice_number = excluded.notice_number`;
}
