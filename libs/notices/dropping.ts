/**
 * Documents that go. The key of a page is public, so what was put with it is on trial for 30 days: it stays for good if
 * enough records have named it. A flood must not decide that, so each day counts the same, whatever its number of records.
 * A hash that a record has named keeps its row, which records and the log refer to.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';

/** hours for which a document is kept that no record names */
const unnamedFor = 24;
/** Hours for which the row of a dropped one stays, so that every process learns of it. */
export const droppedFor = 1;
/** rows in one statement */
const slice = 1_000;

/** days from the put to the judgement, and for which the records of a day are kept */
const trial = { days: 30, kept: 32 };
/**
 * Its part of the domain's records that name a notice, on the average of the days that have some: at most 100 can have as
 * much. Of few records a hundredth is less than one, so either a larger part or some records are needed as well.
 */
const enough = { part: 0.01, largerPart: 0.1, records: 10 };
/** documents that are judged in one statement, each by its 30 days */
const together = 200;

const withoutDocument = (sql: Sql) => sql`
  document = null, language = null, version = null, documented_at = null, kept_at = null,
  dropped_at = clock_timestamp()`;

/**
 * Drops the documents that no record has named in time. Rows that are locked are being named, and are passed over.
 * Returns how many.
 */
export async function dropUnnamedNotices(db: Database, here = new Date()): Promise<number> {
  const dropped = await inSlices(
    db,
    (sql) => sql`
    update notices set ${withoutDocument(sql)}
    where number in (
      select number from notices
      where named_at is null and documented_at < ${earlierNow(sql, here)} - ${unnamedFor} * interval '1 hour'
      limit ${slice} for update skip locked
    )`,
  );
  await inSlices(
    db,
    (sql) => sql`
    delete from notices where number in (
      select number from notices
      where named_at is null and documented_at is null
        and dropped_at < ${earlierNow(sql, here)} - ${droppedFor} * interval '1 hour'
      limit ${slice} for update skip locked
    )`,
  );
  return dropped;
}

/** Keeps the documents that have passed their trial, and drops the others. Returns how many were dropped. */
export async function judgeNotices(db: Database, here = new Date()): Promise<number> {
  let dropped = 0;
  for (let judged = together; judged === together; ) {
    const [row] = await db.write((sql) => judgeSome(sql, here));
    judged = row?.judged ?? 0;
    dropped += row?.dropped ?? 0;
  }
  await inSlices(
    db,
    (sql) => sql`
    delete from notice_days where ctid = any(array(
      select ctid from notice_days where day < (${earlierNow(sql, here)} at time zone 'UTC')::date - ${trial.kept}::integer
      limit ${slice}
    ))`,
  );
  return dropped;
}

const judgeSome = (sql: Sql, here: Date) => sql<{ judged: number; dropped: number }[]>`
  with due as materialized (
    select number, domain_number, (documented_at at time zone 'UTC')::date as since from notices
    where documented_at < ${earlierNow(sql, here)} - ${trial.days} * interval '1 day' and kept_at is null
    order by documented_at limit ${together} for update skip locked
  ),
  judged as materialized (
    select due.number, part >= ${enough.part} and (part >= ${enough.largerPart} or records >= ${enough.records}) as stays
    from due cross join lateral (
      select coalesce(sum(own.records), 0) as records,
        coalesce(avg(coalesce(own.records, 0)::float8 / whole.records), 0) as part
      from notice_days whole
      left join notice_days own on own.domain_number = whole.domain_number and own.day = whole.day
        and own.notice_number = due.number
      where whole.domain_number = due.domain_number and whole.notice_number = 0 and whole.day >= since
    ) as named
  ),
  kept as (
    update notices set kept_at = clock_timestamp() where number in (select number from judged where stays)
  ),
  dropped as (
    update notices set ${withoutDocument(sql)} where number in (select number from judged where not stays)
  )
  select count(*)::int as judged, (count(*) filter (where not stays))::int as dropped from judged`;

async function inSlices(db: Database, change: (sql: Sql) => Promise<{ count: number }>): Promise<number> {
  let changed = 0;
  for (let last = slice; last === slice; changed += last) last = (await db.write(change)).count;
  return changed;
}
