/** Slices: the records of closed epochs in the order in which they are derived, which is by epoch, domain and id. */
import type { Database, Fragment, Sql } from '#libs/base/db/database';
import { cachePerServer } from '#libs/base/db/per-server-cache';
import { type PieceSize, withLongTimeout } from './piece-size.ts';

/** before all ids */
export const nil = '00000000-0000-0000-0000-000000000000';

/** How far a derivation has come. */
export interface Mark {
  /** the last epoch that is completely done */
  epoch: number;
  /** in epoch `epoch + 1`: the last domain that is completely done; 0 for none */
  domainNumber: number;
  /** in domain `domainNumber + 1` of that epoch: the last record that is done; `nil` for none */
  id: string;
}

/** The records of epochs `first` to `last`: all of them, or only those that the optional fields select. */
export interface RecordRange {
  first: number;
  last: number;
  /** only of these domains, in order */
  domainNumbers?: number[];
  /** only these ids, of the only domain in `domainNumbers`: 16 bytes each, in order */
  ids?: Buffer;
}

export interface Slice extends RecordRange {
  /** where the derivation is once it has handled them */
  end: Mark;
  /**
   * where the derivation is if it skips these domains altogether. Differs from `end` only if `ids` stops before the
   * domain's last record: it is then past that domain
   */
  endIfSkipped: Mark;
}

export interface Slicing {
  size: PieceSize;
  /** Whether a slice may have several epochs. Each slice has a fixed cost, however few its records are. */
  acrossEpochs?: boolean;
  /**
   * Lists the ids of a domain that has more records in an epoch than fit into one slice, so that it can be split. Without
   * it, such a domain is a single oversized slice.
   */
  nextIds?: IdLister;
  /**
   * Returns the id of the last record already handled in this domain and epoch (`nil` for none). Without it, the mark's id
   * is used.
   */
  reached?(sql: Sql, epoch: number, domainNumber: number): Promise<string>;
}

const afterEpoch = (epoch: number): Mark => ({ epoch, domainNumber: 0, id: nil });

/**
 * The slice that follows a mark, up to epoch `through`. It is empty if the epoch after the mark, or the next domain in it,
 * has no records left.
 */
export async function nextSlice(sql: Sql, mark: Mark, through: number, slicing: Slicing): Promise<Slice> {
  const { size, acrossEpochs, nextIds, reached } = slicing;
  const epoch = mark.epoch + 1;
  const limit = size.maxRecords();
  if (acrossEpochs && mark.domainNumber === 0 && mark.id === nil) {
    const last = await lastOfSpan(sql, epoch, through, limit);
    if (last !== undefined) return { first: epoch, last, end: afterEpoch(last), endIfSkipped: afterEpoch(last) };
  }
  const next = await nextDomains(sql, epoch, mark.domainNumber, limit);
  const [first] = next.domains;
  if (first && nextIds) {
    const { domainNumber, records } = first;
    const ofMark = domainNumber === mark.domainNumber + 1 ? mark.id : nil;
    const after = reached ? await reached(sql, epoch, domainNumber) : ofMark;
    if (records > limit || after !== nil) {
      const ids = await nextIds(sql, { epoch, domainNumber, after }, limit);
      const past = { ...mark, domainNumber, id: nil };
      const isRest = ids.length < limit * 16;
      const end = isRest ? past : { ...mark, domainNumber: domainNumber - 1, id: ids.toString('hex', ids.length - 16) };
      return { first: epoch, last: epoch, domainNumbers: [domainNumber], ids, end, endIfSkipped: past };
    }
  }
  const end = next.through === undefined ? afterEpoch(epoch) : { ...mark, domainNumber: next.through, id: nil };
  const domainNumbers = next.domains.map(({ domainNumber }) => domainNumber);
  return { first: epoch, last: epoch, domainNumbers, end, endIfSkipped: end };
}

/** For a `from` clause. The rows are left unsorted: Postgres would sort such wide rows on disk. */
export function recordsIn(sql: Sql, { first, last, domainNumbers, ids }: RecordRange): Fragment {
  if (!domainNumbers) return sql`(select * from records where epoch between ${first} and ${last})`;
  if (!ids) return sql`(select * from records where epoch = ${first} and domain_number = any (${domainNumbers}))`;
  return sql`(
    select records.* from generate_series(1, ${ids.length}, 16) as at
    join records on domain_number = any (${domainNumbers})
      and records.id = encode(substr(${ids}::bytea, at, 16), 'hex')::uuid
  )`;
}

/**
 * The last epoch, at most `through`, such that all epochs from `first` to that one hold at most `limit` records together;
 * undefined if `first` alone holds more.
 */
export async function lastOfSpan(sql: Sql, first: number, through: number, limit: number): Promise<number | undefined> {
  const [row] = await sql<{ last: number }[]>`select last_of_span(${first}, ${through}, ${limit}) as last`;
  return row && row.last >= first ? row.last : undefined;
}

interface DomainRecords {
  domainNumber: number;
  records: number;
}

interface NextDomains {
  domains: DomainRecords[];
  /** the number of the last of these domains; undefined if they are the last of the epoch */
  through: number | undefined;
}

/** domains in a slice: each has a fixed cost */
const mostDomains = 4_096;

/**
 * The next domains after `after`, each complete, with at most `limit` records together. If the first alone has more, only
 * that one is returned, with `records` set to `limit + 1`.
 */
export async function nextDomains(sql: Sql, epoch: number, after: number, limit: number): Promise<NextDomains> {
  const found = await sql<DomainRecords[]>`
    select domain_number as "domainNumber", records from next_domains(${epoch}, ${after}, ${limit + 1})`;
  const total = found.reduce((sum, { records }) => sum + records, 0);
  if (total <= limit && found.length <= mostDomains) return { domains: found, through: undefined };
  // the last domain may have more records than were counted
  const domains = found.slice(0, Math.min(Math.max(1, found.length - 1), mostDomains));
  return { domains, through: domains.at(-1)?.domainNumber };
}

/** ids of one domain and epoch that are held in memory */
const mostHeldIds = 1_000_000;

interface DomainIds {
  epoch: number;
  domainNumber: number;
  /** the last id before the ones that are wanted; `nil` for none */
  after: string;
}

export type IdLister = (sql: Sql, wanted: DomainIds, limit: number) => Promise<Buffer>;

/**
 * Lists the next ids of a domain's epoch, in order, 16 bytes each. Fewer than `limit` means that these are the last. The
 * ids are cached, since a closed epoch does not change. They are read from Postgres again if ids before the cached ones are
 * wanted (sealing does so after a log was cut back), or if fewer than `limit` of the cached ones come after `after`.
 */
export function createIdLister(generation: Database['generation'], size: PieceSize, most = mostHeldIds): IdLister {
  const held = cachePerServer(generation, () => ({ epoch: -1, domainNumber: -1, from: '', ids: Buffer.alloc(0) }));
  return async (sql, { epoch, domainNumber, after }, limit) => {
    const rest = held();
    const key = after.replaceAll('-', '');
    const isHeld = rest.epoch === epoch && rest.domainNumber === domainNumber && rest.from <= key;
    let ids = isHeld ? idsAfter(rest.ids, Buffer.from(key, 'hex')) : Buffer.alloc(0);
    // those in memory may end before the epoch does
    if (ids.length < limit * 16)
      ids = await withLongTimeout(sql, size, () => listIds(sql, { epoch, domainNumber, after }, most));
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

/**
 * No index holds the ids in order, so Postgres reads all that are left of the domain's epoch and sorts them, even for a
 * few.
 */
async function listIds(sql: Sql, { epoch, domainNumber, after }: DomainIds, most: number): Promise<Buffer> {
  const [row] = await sql<{ ids: Buffer | null }[]>`
    select string_agg(uuid_send(id), '' order by id) as ids
    from (
      select id from records where epoch = ${epoch} and domain_number = ${domainNumber} and id > ${after}
      order by id limit ${most}
    ) as r`;
  return row?.ids ?? Buffer.alloc(0);
}
