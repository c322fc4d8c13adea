/** Records that have no position yet, epoch by epoch and domain by domain. */
import { type OwnRecord, type OwnRow, ownColumns, toOwnRecord } from '../records/full-record.ts';
import { joinNames } from '../records/names.ts';
import type { Sql } from '../sql.ts';

export interface Unsealed {
  domainNumber: number;
  record: OwnRecord;
}

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
    select domain_number as "domainNumber", count(*)::int as records
    from (
      select domain_number from records where epoch = ${epoch} and domain_number > ${after}
      order by domain_number limit ${limit + 1}
    ) as next
    group by 1 order by 1`;
  const total = domains.reduce((sum, { records }) => sum + records, 0);
  // of the last one there may be more
  return total > limit && domains.length > 1 ? domains.slice(0, -1) : domains;
}

/** In the order of their positions: by domain, then id. */
export async function readEpoch(sql: Sql, epoch: number, domainNumbers: number[]): Promise<Unsealed[]> {
  const rows = await sql<(OwnRow & { domainNumber: number })[]>`
    select r.domain_number as "domainNumber", ${ownColumns(sql)}
    from records r ${joinNames(sql)}
    where r.epoch = ${epoch} and r.domain_number = any(${domainNumbers})
    order by r.domain_number, r.id`;
  return rows.map(({ domainNumber, ...row }) => ({ domainNumber, record: toOwnRecord(row) }));
}

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
export async function readById(sql: Sql, domainNumber: number, ids: Uint8Array): Promise<Unsealed[]> {
  const rows = await sql<OwnRow[]>`
    select ${ownColumns(sql)}
    from generate_series(1, ${ids.length}, 16) as at
    join records r on r.domain_number = ${domainNumber}
      and r.id = encode(substr(${Buffer.from(ids)}::bytea, at, 16), 'hex')::uuid
    ${joinNames(sql)}
    order by at`;
  return rows.map((row) => ({ domainNumber, record: toOwnRecord(row) }));
}

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
