/** The documents of notices: kept once under their hash, and never changed. */
import type { Notice } from '#libs/contract/notice';
import type { Database, Sql } from '../sql.ts';

/** `full`: the domain has had its new ones for today. */
export type Put = 'new' | 'known' | 'full';

/** `bound`: new ones of a domain in a UTC day; null for none. The domain has to exist. */
export async function putNotice(
  sql: Sql,
  domainId: string,
  { hash, document, language, version }: Notice,
  bound: number | null,
): Promise<Put> {
  const [row] = await sql<{ put: Put }[]>`
    select put_notice(
      ${domainId}, decode(${hash}, 'hex'), ${Buffer.from(document)}, ${language}, ${version}, ${bound}
    ) as put`;
  if (!row) throw new Error('put_notice answered nothing');
  return row.put;
}

export async function findNotice(sql: Sql, domainId: string, hash: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ document: Buffer }[]>`
    select document from notices
    where domain_number = (select number from domains where id = ${domainId}) and hash = decode(${hash}, 'hex')
      and documented_at is not null`;
  return row?.document;
}

export interface NoticeText {
  /** its hash */
  notice: string;
  /** the document */
  text: string;
}

/** The documents of these that are held; the others are left out. */
export const findNoticeTexts = (sql: Sql, wanted: { notice: string; domainId: string }[]): Promise<NoticeText[]> =>
  sql<NoticeText[]>`
    select w.notice, convert_from(document, 'UTF8') as text
    from json_to_recordset(${JSON.stringify(wanted)}::text::json) as w (notice text, "domainId" text)
    join notices n on n.domain_number = (select number from domains where id = w."domainId")
      and n.hash = decode(w.notice, 'hex')
    where document is not null`;

export interface ListedNotice {
  number: number;
  notice: string;
  language: string | null;
  version: string | null;
  firstSeenAt: Date;
  /** of closed epochs */
  records: number;
}

/** Those whose document is held, newest first; `after` is the number of the last one of the page before. */
export const listNotices = (
  sql: Sql,
  { domainId, limit, after }: { domainId: string; limit: number; after?: number | undefined },
): Promise<ListedNotice[]> => sql<ListedNotice[]>`
  select number, encode(hash, 'hex') as notice, language, version, first_seen_at as "firstSeenAt", records
  from notices
  where domain_number = (select number from domains where id = ${domainId}) and documented_at is not null
    and number < ${after ?? 2 ** 31 - 1}
  order by number desc limit ${limit}`;

/** hours for which a document is kept that no record names */
const unnamedFor = 24;
/** Hours for which the row of a dropped one stays, so that every process learns of it. */
export const droppedFor = 1;
/** rows in one statement */
const slice = 1_000;

/**
 * Drops the documents that no record has named in time. Rows that are locked are being named, and are passed over.
 * Returns how many.
 */
export async function dropUnnamedNotices(db: Database): Promise<number> {
  const dropped = await inSlices(
    db,
    (sql) => sql`
    update notices
    set document = null, language = null, version = null, documented_at = null, dropped_at = clock_timestamp()
    where number in (
      select number from notices
      where named_at is null and documented_at < clock_timestamp() - ${unnamedFor} * interval '1 hour'
      limit ${slice} for update skip locked
    )`,
  );
  await inSlices(
    db,
    (sql) => sql`
    delete from notices where number in (
      select number from notices
      where named_at is null and documented_at is null
        and dropped_at < clock_timestamp() - ${droppedFor} * interval '1 hour'
      limit ${slice} for update skip locked
    )`,
  );
  return dropped;
}

async function inSlices(db: Database, change: (sql: Sql) => Promise<{ count: number }>): Promise<number> {
  let changed = 0;
  for (let last = slice; last === slice; changed += last) last = (await db.run(change)).count;
  return changed;
}
