/** The records of closed epochs, domain by domain: the pieces of which derivations are made. */
import type { Sql } from '../sql.ts';

/** before all ids */
export const nil = '00000000-0000-0000-0000-000000000000';

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
