/**
 * Deletes documents. A page's key is public, so a document that was put with it is on trial for 30 days: it is kept for
 * good if enough records have named it. Each day counts the same, however many records it has, so that a flood does
 * not decide. A hash that a record has named keeps its row, to which records and the log refer.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';

/** hours after which a document that no record names is deleted */
const unnamedFor = 24;
/** Hours for which a deleted document's row stays, so that every process learns of it. */
export const droppedFor = 1;
/** rows in one statement */
const slice = 1_000;

/** days from the put to the decision, and days for which daily counts are stored */
const trial = { days: 30, storedDays: 32 };
/**
 * What a notice needs to stay: `part` of the domain's records that name any notice, averaged over the days with such
 * records, which at most 100 notices can have. Where records are few, one is already more than 1%, so it also needs
 * `largerPart`, or this many `records`.
 */
const enough = { part: 0.01, largerPart: 0.1, records: 10 };
/** documents judged in one statement, each of which reads 30 days of counts */
const batchSize = 200;

const withoutDocument = (sql: Sql) => sql`
  document = null, language = null, version = null, documented_at = null, kept_at = null,
  dropped_at = clock_timestamp()`;

/**
 * Deletes documents that no record named within `unnamedFor` hours, and their rows an hour later. Skips locked rows: a
 * record is just naming them. Returns how many documents.
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

/** Keeps the documents that have passed their trial, and deletes the others. Returns how many were deleted. */
export async function judgeNotices(db: Database, here = new Date()): Promise<number> {
  let dropped = 0;
  for (let judged = batchSize; judged === batchSize; ) {
    const [row] = await db.write((sql) => judgeSome(sql, here));
    judged = row?.judged ?? 0;
    dropped += row?.dropped ?? 0;
  }
  await inSlices(
    db,
    (sql) => sql`
    delete from notice_days where ctid = any(array(
      select ctid from notice_days where day < (${earlierNow(sql, here)} at time zone 'UTC')::date - ${trial.storedDays}::integer
      limit ${slice}
    ))`,
  );
  return dropped;
}

const judgeSome = (sql: Sql, here: Date) => sql<{ judged: number; dropped: number }[]>`
  with due as materialized (
    select number, domain_number, (documented_at at time zone 'UTC')::date as since from notices
    where documented_at < ${earlierNow(sql, here)} - ${trial.days} * interval '1 day' and kept_at is null
    order by documented_at limit ${batchSize} for update skip locked
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
