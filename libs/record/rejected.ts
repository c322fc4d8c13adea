/** Records that Postgres refused, kept with the error until they are replayed. */

import { type Sql, writeSomething } from '#libs/base/db/database';
import type { NewRecord } from './contract.ts';

export interface RejectedRecord {
  id: number;
  rejectedAt: Date;
  errorCode: string;
  error: string;
  /** the record as JSON */
  record: string;
}

export interface Rejection {
  record: NewRecord;
  errorCode: string;
  error: string;
}

/**
 * Keeps all of them, once each, but for those of domains that were deleted. Ordered, so that two batches with the same
 * records cannot deadlock.
 */
export const keepRejected = (sql: Sql, rejections: Rejection[]) => sql`
  with kept as (
    insert into rejected_records (error_code, error, record)
    select "errorCode", error, record
    from json_to_recordset(${JSON.stringify(rejections.map(toRow))}::text::json)
      as rejected ("errorCode" text, error text, record text, "domainId" text)
    where "domainId" not in (select id from deleted_ids)
    order by record_hash(record)
    on conflict do nothing
    returning id
  )
  select 1 where case when exists (select from kept) then true else ${writeSomething(sql)} end`;

/** How many of these records are kept here. */
export async function countRejected(sql: Sql, records: NewRecord[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from unnest(${records.map(textOf)}::text[]) as given (record)
    join rejected_records on record_hash(rejected_records.record) = record_hash(given.record)`;
  return row?.n ?? 0;
}

const toRow = ({ record, ...rest }: Rejection) => ({ ...rest, record: textOf(record), domainId: record.domainId });

/** The fields in one order, so that the same record is always the same text. */
const textOf = (record: NewRecord): string => JSON.stringify(Object.fromEntries(Object.entries(record).sort()));

/** Newest first; `after` is the id of the last one of the page before. */
export const listRejected = (sql: Sql, { limit, after }: { limit: number; after?: number | undefined }) => sql<
  RejectedRecord[]
>`
  select id, rejected_at as "rejectedAt", error_code as "errorCode", error, record
  from rejected_records
  where id < ${after ?? Number.MAX_SAFE_INTEGER}
  order by id desc limit ${limit}`;

export const deleteRejected = (sql: Sql, ids: number[]) => sql`delete from rejected_records where id = any(${ids})`;

/** Oldest first. `onlyNew`: only those that were not searched for erased visitors yet. */
export const listRejectedAfter = (
  sql: Sql,
  { after, onlyNew, limit }: { after: number; onlyNew: boolean; limit: number },
) => sql<Pick<RejectedRecord, 'id' | 'record'>[]>`
  select id, record from rejected_records
  where id > ${after} ${onlyNew ? sql`and searched_at is null` : sql``}
  order by id limit ${limit}`;

export const noteRejectedSearched = (sql: Sql, page: { id: number }[]) => sql`
  update rejected_records set searched_at = clock_timestamp()
  where id = any(${page.map(({ id }) => id)}::bigint[]) and searched_at is null`;

/**
 * Replaces a rejected record by its copy without personal fields. If that copy is already listed, deletes the row instead.
 * The error is replaced too, because it may quote the record.
 */
export const replaceRejected = (sql: Sql, id: number, record: NewRecord) => sql`
  with known as (
    select ${textOf(record)}::text as record
  ),
  replaced as (
    update rejected_records set record = known.record, error = 'refused before its visitor was erased'
    from known
    where id = ${id}
      and not exists (select from rejected_records where record_hash(rejected_records.record) = record_hash(known.record))
    returning id
  )
  delete from rejected_records where id = ${id} and not exists (select from replaced)`;
