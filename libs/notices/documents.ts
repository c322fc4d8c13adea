/** The documents of notices: stored once under their hash, and never changed. */
import type { Sql } from '#libs/base/db/database';
import { addDays } from '#libs/base/terms/calendar';
import type { models } from '#libs/base/terms/terms';
import type { Perform } from '#libs/tenants/audited-change';
import { Refused } from '#libs/tenants/change-errors';
import type { Notice } from './contract.ts';

/**
 * `kept`: it was known, and is now kept for good; `full`: the domain has used up its new notices for today, and this one
 * cannot replace any of them: none has fewer records counted today and yesterday.
 */
export type PutResult = 'new' | 'known' | 'kept' | 'full';

/**
 * `bound`: new notices of a domain in a UTC day; null: no limit. With null it is kept for good once a record names it; an
 * expected notice has no limit either, and is kept at once. The domain has to exist.
 */
export async function putNotice(
  sql: Sql,
  domainId: string,
  { hash, document, language, version }: Notice,
  bound: number | null,
): Promise<PutResult> {
  const [row] = await sql<{ put: PutResult }[]>`
    select put_notice(
      ${domainId}, decode(${hash}, 'hex'), ${Buffer.from(document)}, ${language}, ${version}, ${bound}
    ) as put`;
  if (!row) throw new Error('put_notice returned nothing');
  return row.put;
}

/**
 * Stores a notice that a domain's managers put, without the limits for pages. It is dropped if no record names it within 24
 * hours.
 */
export const putManagedNotice = (perform: Perform, domainId: string, notice: Notice): Promise<PutResult> =>
  perform(async (sql, note) => {
    const [domain] = await sql`select from domains where id = ${domainId}`;
    if (!domain) throw new Refused(`no domain ${domainId}`);
    const put = await putNotice(sql, domainId, notice, null);
    if (put !== 'known')
      await note({ act: 'notice.put', subject: domainId, domainId, details: { notice: notice.hash } });
    return put;
  });

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

/** The stored documents of these notices. */
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
  variant: string | null;
  model: (typeof models)[number] | null;
  firstSeenAt: Date;
  /** of closed epochs */
  records: number;
}

interface Which {
  domainId: string;
  limit: number;
  /** the number of the last notice of the previous page */
  after?: number | undefined;
  /** first seen until the end of this UTC day */
  to?: string | undefined;
  /** only the one with this hash */
  notice?: string | undefined;
}

/**
 * Notices with a stored document, newest first. The widget writes the variant or the model at the document's end, where SQL
 * finds it without parsing JSON. It searches only the notices of the page.
 */
export const listNotices = (sql: Sql, { domainId, limit, after, to, notice }: Which): Promise<ListedNotice[]> => sql<
  ListedNotice[]
>`
  select number, encode(hash, 'hex') as notice, language, version,
    substring(right(convert_from(document, 'UTF8'), 80) from ',"variant":"([A-Za-z0-9_.:-]{1,64})"[}]$') as variant,
    substring(right(convert_from(document, 'UTF8'), 80) from ',"model":"(opt_out|none)"[}]$') as model,
    first_seen_at as "firstSeenAt", records
  from (
    select number, hash, document, language, version, first_seen_at, records from notices
    where domain_number = (select number from domains where id = ${domainId}) and documented_at is not null
      and number < ${after ?? 2 ** 31 - 1}
      and ${to === undefined ? sql`true` : sql`first_seen_at < ${`${addDays(to, 1)}T00:00:00Z`}::timestamptz`}
      and ${notice === undefined ? sql`true` : sql`hash = decode(${notice}, 'hex')`}
    order by number desc limit ${limit}
  ) as listed
  order by number desc`;

/** A notice's first use, as in the log. */
export interface SeenNotice {
  number: number;
  /** its hash, 64 hex digits */
  notice: string;
  /** RFC 3339, UTC, with milliseconds */
  firstSeenAt: string;
}

export async function findSeenNotices(sql: Sql, numbers: number[]): Promise<Map<number, SeenNotice>> {
  if (numbers.length === 0) return new Map();
  const rows = await sql<SeenNotice[]>`
    select number, encode(hash, 'hex') as notice,
      to_char(first_seen_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "firstSeenAt"
    from notices where number = any(${numbers})`;
  return new Map(rows.map((row) => [row.number, row]));
}
