/** Entries that are not a record's, notices and erasures: their texts, by position. */
import type { Sql } from '#libs/base/db/database';
import type { LogName } from './runs.ts';

/** Stands for their id in a run, in hex. No record has it. */
export const textId = 'f'.repeat(32);

export interface LogText extends LogName {
  position: number;
  /** the notice, if it is one's entry */
  noticeNumber: number | null;
  text: string;
}

export async function addTexts(sql: Sql, texts: LogText[]): Promise<void> {
  if (texts.length === 0) return;
  await sql`
    insert into log_texts (domain_number, log, position, notice_number, text)
    select "domainNumber", log, position, "noticeNumber", text
    from json_to_recordset(${JSON.stringify(texts)}::text::json) as t (
      "domainNumber" integer, log integer, position bigint, "noticeNumber" integer, text text
    )`;
}

export interface NoticeInLog extends LogName {
  noticeNumber: number;
}

/** The entries of `wanted` that are in their log. */
export const listNoticesIn = (sql: Sql, wanted: NoticeInLog[]): Promise<NoticeInLog[]> => sql<NoticeInLog[]>`
  select domain_number as "domainNumber", t.log, notice_number as "noticeNumber"
  from json_to_recordset(${JSON.stringify(wanted)}::text::json)
    as w ("domainNumber" integer, log integer, "noticeNumber" integer)
  join log_texts t on domain_number = w."domainNumber" and t.log = w.log and notice_number = w."noticeNumber"`;

/** Removes the texts from position `from` from a log. Returns them in order. */
export async function takeTexts(sql: Sql, { domainNumber, log }: LogName, from: number): Promise<string[]> {
  const rows = await sql<{ position: number; text: string }[]>`
    delete from log_texts where domain_number = ${domainNumber} and log = ${log} and position >= ${from}
    returning position, text`;
  return rows.sort((one, other) => one.position - other.position).map(({ text }) => text);
}
