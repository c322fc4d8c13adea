/** The records of closed epochs, domain by domain: the pieces of which derivations are made. */
import type { Database, Sql } from '#libs/base/db/database';
import { cachePerServer } from '#libs/base/db/per-server-cache';
import { type PieceSize, patiently } from './piece-size.ts';

/** before all ids */
export const nil = '00000000-0000-0000-0000-000000000000';

interface DomainRecords {
  domainNumber: number;
  records: number;
}

interface NextDomains {
  domains: DomainRecords[];
  /** the number of the last of them; undefined where no domain of the epoch is left */
  through: number | undefined;
}

/**
 * The next domains after `after` that have records in `epoch`, whole ones, with at most `limit` records in all; or a
 * single one with more, whose number of records is then not its real one but `limit + 1`.
 */
export async function nextDomains(sql: Sql, epoch: number, after: number, limit: number): Promise<NextDomains> {
  const found = await sql<DomainRecords[]>`
    select domain_number as "domainNumber", records from next_domains(${epoch}, ${after}, ${limit + 1})`;
  const total = found.reduce((sum, { records }) => sum + records, 0);
  if (total <= limit) return { domains: found, through: undefined };
  // of the last one there may be more
  const domains = found.length > 1 ? found.slice(0, -1) : found;
  return { domains, through: domains.at(-1)?.domainNumber };
}

/** Ids of one domain and epoch that are kept at once, 16 bytes each. */
const kept = 1_000_000;

interface DomainIds {
  epoch: number;
  domainNumber: number;
  /** the last id before the ones that are wanted; `nil` for none */
  after: string;
}

/**
 * For a domain with too many records in an epoch for one piece: the next ids, in order, 16 bytes each and at most `limit`.
 * They are listed once, since a closed epoch stays as it is; anew where some before them are asked for, as after a log was
 * cut back. Fewer than `limit` are the last ones. `most`: that are kept at once.
 */
export function createIdLister(generation: Database['generation'], size: PieceSize, most = kept) {
  const listed = cachePerServer(generation, () => ({ epoch: -1, domainNumber: -1, from: '', ids: Buffer.alloc(0) }));
  return async (sql: Sql, { epoch, domainNumber, after }: DomainIds, limit: number): Promise<Buffer> => {
    const rest = listed();
    const key = after.replaceAll('-', '');
    const isKnown = rest.epoch === epoch && rest.domainNumber === domainNumber && rest.from <= key;
    let ids = isKnown ? idsAfter(rest.ids, Buffer.from(key, 'hex')) : Buffer.alloc(0);
    // what is kept may end before the epoch does
    if (ids.length < limit * 16)
      ids = await patiently(sql, size, () => listIds(sql, { epoch, domainNumber, after }, most));
    Object.assign(rest, { epoch, domainNumber, from: key, ids });
    return ids.subarray(0, limit * 16);
  };
}

function idsAfter(ids: Buffer, key: Buffer): Buffer {
  let [low, high] = [0, ids.length / 16];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids.compare(key, 0, 16, middle * 16, middle * 16 + 16) <= 0) low = middle + 1;
    else high = middle;
  }
  return ids.subarray(low * 16);
}

/** No index has these in order: all that are left of the epoch are read. */
async function listIds(sql: Sql, { epoch, domainNumber, after }: DomainIds, most: number): Promise<Buffer> {
  const [row] = await sql<{ ids: Buffer | null }[]>`
    select string_agg(uuid_send(id), '' order by id) as ids
    from (
      select id from records where epoch = ${epoch} and domain_number = ${domainNumber} and id > ${after}
      order by id limit ${most}
    ) as r`;
  return row?.ids ?? Buffer.alloc(0);
}
