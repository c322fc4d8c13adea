/** A record as it is shown, but for its place in a log, which is joined above. */

import type { Sql } from '#libs/base/db/database';
import { timeOf } from '#libs/base/terms/uuid';
import type { FullRecord } from './contract.ts';

type Shown = Omit<FullRecord, 'log' | 'position'>;

export type Row = Omit<Shown, 'decidedAt' | 'receivedAt' | 'erasedAt'> & {
  receivedAt: Date;
  importedAt: Date | null;
  erasedAt: Date | null;
};

/** What a record's entry is made of. */
export type OwnRecord = Shown & { importedAt: string | null };

/** Of `records r`, joined by `joinNames` (joined-names.ts). */
export const columns = (sql: Sql) => sql`
  r.id, domains.id as "domainId", r.decision, r.received_at as "receivedAt", r.visitor_id as "visitorId",
  r.preferences, r.source, r.banner_version as "bannerVersion", r.policy_version as "policyVersion", r.language,
  r.page_url as "pageUrl", r.country, r.ip, user_agents.text as "userAgent", r.tc_string as "tcString",
  r.gpp_string as "gppString", r.gpc, r.metadata, encode(notices.hash, 'hex') as notice, r.variant, r.bot,
  r.erased_at as "erasedAt", r.imported_at as "importedAt"`;

/** When it was imported stands in its entry alone; answers do not say it. */
export const importedAtOf = ({ importedAt }: Row): string | null => importedAt?.toISOString() ?? null;

export const toOwnRecord = (row: Row): OwnRecord => ({ ...toShown(row), importedAt: importedAtOf(row) });

export const toShown = (row: Row): Shown => ({
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
