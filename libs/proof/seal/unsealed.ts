/** Records that have no position yet, as their entries are made of them. */

import type { Sql } from '#libs/base/db/database';
import type { SealedRecord } from '../tree/entry.ts';

/** A record as its entry is made of it, with numbers in place of its domain, user agent and notice. */
export type Unsealed = Omit<SealedRecord, 'domainId' | 'decidedAt' | 'preferences' | 'userAgent' | 'notice'> & {
  domainNumber: number;
  /** as Postgres writes it */
  preferences: string | null;
  userAgentNumber: number | null;
  noticeNumber: number | null;
};

/**
 * Times and preferences as text: to parse and write one takes as long as to hash an entry. User agents and notices by
 * number: few stand in nearly all records.
 */
const columns = (sql: Sql) => sql`
  r.domain_number as "domainNumber", r.id, r.decision, r.received_at::text as "receivedAt",
  r.imported_at::text as "importedAt", r.source, r.gpc, r.bot, r.visitor_id as "visitorId", r.preferences::text,
  r.banner_version as "bannerVersion", r.policy_version as "policyVersion", r.language, r.page_url as "pageUrl",
  r.country, r.ip, r.user_agent_number as "userAgentNumber", r.notice_number as "noticeNumber", r.variant,
  r.tc_string as "tcString", r.gpp_string as "gppString", r.metadata`;

/** In the order of their positions: by domain, then id. */
export const readEpoch = (sql: Sql, epoch: number, domainNumbers: number[]): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from records r
  where r.epoch = ${epoch} and r.domain_number = any (${domainNumbers})
  order by r.domain_number, r.id`;

/** One domain's records with these ids (16 bytes each), in their order. */
export const readById = (sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  order by at`;
