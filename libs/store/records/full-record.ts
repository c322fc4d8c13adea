/** A record as the log shows it: its columns, the row and a page of rows. */
import type { FullRecord } from '#libs/contract/record';
import { timeOf } from '#libs/contract/uuid';
import type { Sql } from '../sql.ts';

export interface LogPage {
  total: number;
  /** up to `limit` */
  records: FullRecord[];
  /** whether older ones follow */
  more: boolean;
}

/** In an answer that also has a total, the only row of an empty page is null but for that. */
export type Row = OwnRow & Pick<FullRecord, 'log' | 'position'>;

export type OwnRow = Omit<FullRecord, 'decidedAt' | 'receivedAt' | 'erasedAt' | 'log' | 'position'> & {
  receivedAt: Date;
  importedAt: Date | null;
  erasedAt: Date | null;
};

/** The columns of `records r`, joined by `joinNames` and `joinLog` (names.ts). */
export const columns = (sql: Sql) => sql`${ownColumns(sql)}, place.log, place.position`;

/** Those that a record had from the start, joined by `joinNames` alone. */
export const ownColumns = (sql: Sql) => sql`
  r.id, domains.id as "domainId", r.decision, r.received_at as "receivedAt", r.visitor_id as "visitorId",
  r.preferences, r.source, r.banner_version as "bannerVersion", r.policy_version as "policyVersion", r.language,
  r.page_url as "pageUrl", r.country, r.ip, user_agents.text as "userAgent", r.tc_string as "tcString",
  r.gpp_string as "gppString", r.gpc, r.metadata, encode(notices.hash, 'hex') as notice, r.variant, r.bot,
  r.erased_at as "erasedAt", r.imported_at as "importedAt"`;

/** One row more than `limit` tells whether older records follow. */
export function toPage(total: number, rows: Row[], limit: number): LogPage {
  const found = rows.filter((row) => row.id !== null);
  return { total, records: found.slice(0, limit).map(toRecord), more: found.length > limit };
}

export const toRecord = (row: Row): FullRecord => ({ ...toShown(row), log: row.log, position: row.position });

/** When it was imported stands in its entry alone; answers do not say it. */
export const importedAtOf = ({ importedAt }: OwnRow): string | null => importedAt?.toISOString() ?? null;

/** What a record's entry is made of: a record without its place in the log. */
export type OwnRecord = Omit<FullRecord, 'log' | 'position'> & { importedAt: string | null };

export const toOwnRecord = (row: OwnRow): OwnRecord => ({ ...toShown(row), importedAt: importedAtOf(row) });

const toShown = (row: OwnRow): Omit<FullRecord, 'log' | 'position'> => ({
  id: row.id,
  domainId: row.domainId,
  decision: row.decision,
  decidedAt: new Date(timeOf(row.id)).toISOString(),
  receivedAt: row.receivedAt.toISOString(),
  visitorId: row.visitorId,
  preferences: row.preferences,
  source: row.source,
  bannerVersion: row.bannerVersion,
  policyVersion: row.policyVersion,
  language: row.language,
  pageUrl: row.pageUrl,
  country: row.country,
  ip: row.ip,
  userAgent: row.userAgent,
  tcString: row.tcString,
  gppString: row.gppString,
  gpc: row.gpc,
  metadata: row.metadata,
  notice: row.notice,
  variant: row.variant,
  bot: row.bot,
  erasedAt: row.erasedAt?.toISOString() ?? null,
});
