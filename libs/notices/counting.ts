/**
 * Counts the records that name each notice once their epoch is closed, in all and, without bots, by the day of counting.
 * Counting while records are stored would have to lock the notice's row.
 */
import type { Database, Sql } from '#libs/base/db/database';
import { type Derivation, deriveAll } from '#libs/epochs/derivations';
import { createPieceSize, withLongTimeout } from '#libs/epochs/piece-size';
import { type RecordRange, recordsIn } from '#libs/epochs/slices';

export const noticeCounting = 'notices';

/** Records in one transaction, and so its notices too: anyone can make up hashes, so each record may name another one. */
const usualLimit = 20_000;

/** A domain's records are not divided: those of all slices would be read for each. */
export const createNoticeDerivation = (size = createPieceSize(usualLimit)): Derivation => ({
  name: noticeCounting,
  size,
  acrossEpochs: true,
  derive: (sql, slice) => withLongTimeout(sql, size, () => countNotices(sql, slice)),
});

export function createNoticeCounting(db: Database): (signal: AbortSignal) => Promise<void> {
  const derivation = createNoticeDerivation();
  return (signal) => deriveAll(db, derivation, signal);
}

/**
 * Workers of 0.1.0 count a large domain in order of notice number, and store the last one in `notice_counting`; notices up
 * to that one are skipped here. Remove this and the table in the next release.
 */
async function countNotices(sql: Sql, records: RecordRange): Promise<undefined> {
  await sql`
    with counted as materialized (
      select notice_number as number, domain_number, count(*) as records, count(*) filter (where not bot) as of_visitors
      from ${recordsIn(sql, records)} as r
      where notice_number is not null and not exists (
        select from notice_counting as c
        where c.epoch = r.epoch and c.domain_number = r.domain_number and r.notice_number <= c.notice_number
      )
      group by 1, 2 order by 1
    ),
    added as (
      update notices set records = notices.records + counted.records
      from counted where notices.number = counted.number
      returning counted.*, kept_at
    )
    insert into notice_days as d (domain_number, day, notice_number, records)
    select domain_number, (clock_timestamp() at time zone 'UTC')::date, notice_number, sum(of_visitors)
    from (
      select domain_number, number as notice_number, of_visitors from added where kept_at is null
      union all
      select domain_number, 0, of_visitors from added
    ) as named
    where of_visitors > 0
    group by 1, 3 order by 1, 3
    on conflict (domain_number, notice_number, day) do update set records = d.records + excluded.records`;
}
