/** Records that have no position yet, epoch by epoch and domain by domain. */
import type { SealedRecord } from '#libs/merkle/entry';
import type { Sql } from '../sql.ts';

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

export interface DomainRecords {
  domainNumber: number;
  records: number;
}

/**
 * The next domains after `after` that have records in `epoch`, whole ones, with at most `limit` records in all; or a
 * single one with more, whose number of records is then not its real one but `limit + 1`.
 */
export async function nextDomains(sql: Sql, epoch: number, after: number, limit: number): Promise<DomainRecords[]> {
  const domains = await sql<DomainRecords[]>`
    select domain_number as "domainNumber", records from next_domains(${epoch}, ${after}, ${limit + 1})`;
  const total = domains.reduce((sum, { records }) => sum + records, 0);
  // of the last one there may be more
  return total > limit && domains.length > 1 ? domains.slice(0, -1) : domains;
}

/** In the order of their positions: by domain, then id. */
export const readEpoch = (sql: Sql, epoch: number, domainNumbers: number[]): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from records r
  where r.epoch = ${epoch} and r.domain_number = any (${domainNumbers})
  order by r.domain_number, r.id`;

/** Of one domain's records in `epoch` the ids after `after`, in order, 16 bytes each; at most `limit`. */
export async function listIds(
  sql: Sql,
  { epoch, domainNumber, after, limit }: { epoch: number; domainNumber: number; after: string; limit: number },
): Promise<Buffer> {
  const [row] = await sql<{ ids: Buffer | null }[]>`
    select string_agg(uuid_send(id), '' order by id) as ids
    from (
      select id from records where epoch = ${epoch} and domain_number = ${domainNumber} and id > ${after}
      order by id limit ${limit}
    ) as r`;
  return row?.ids ?? Buffer.alloc(0);
}

/** One domain's records with these ids (16 bytes each), in their order. */
export const readById = (sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Unsealed[]> => sql<Unsealed[]>`
  select ${columns(sql)}
  from generate_series(1, ${ids.length}, 16) as at
  join records r on r.domain_number = ${domainNumber}
    and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
  order by at`;

/** The first epoch from `from` on, up to `through`, in which this domain has records. */
export async function nextEpochOf(
  sql: Sql,
  { domainNumber, from, through }: { domainNumber: number; from: number; through: number },
): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number | null }[]>`
    select min(epoch) as epoch from records
    where domain_number = ${domainNumber} and epoch >= ${from} and epoch <= ${through}`;
  return row?.epoch ?? undefined;
}
