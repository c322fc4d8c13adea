/**
 * Tombstones: who was erased. Later records of these visitors lose their personal fields once their epoch is closed.
 * Records are checked against them by hash, so the cost of a check does not grow with the number of erasures. A tombstone
 * counts for as long as its row exists, so that a clock that is ahead for a moment hides none.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { earlierNow } from '#libs/base/db/postgres-time';
import { chunksOf } from '#libs/base/group-by';
import type { ScopeNumbers } from '#libs/tenants/visitors';

/** Days: a record may come up to 30 days after its decision. */
const lastsDays = 32;

/** Whether `time` is before the tombstone's end. After that, the same visitor id counts as a new visitor. */
export const isWithin = ({ erasedAt }: Pick<Tombstone, 'erasedAt'>, time: number): boolean =>
  time < Date.parse(erasedAt) + lastsDays * 86_400_000;
/** rows that one statement changes */
const slice = 5_000;

/**
 * Stores the open epoch with the tombstone. All records of earlier epochs are already committed, so the erasure finds them
 * itself; blanking only has to check this epoch and later ones. `now`: this process's time. The later of it and Postgres'
 * time counts, so that a clock that is behind does not end the tombstone early.
 */
export async function addTombstone(
  sql: Sql,
  { organizationNumber, domainNumber }: ScopeNumbers,
  hash: Uint8Array,
  now = new Date(),
) {
  await sql`
    insert into tombstones (hash, organization_number, domain_number, epoch, until)
    select ${Buffer.from(hash)}::bytea, ${organizationNumber}::integer, ${domainNumber}::integer, open,
      greatest(clock_timestamp(), ${now}) + ${lastsDays} * interval '1 day'
    from epochs
    on conflict (organization_number, domain_number, hash) do update set
      until = excluded.until, erased_at = clock_timestamp(), searched_at = null, rejected_searched_at = null,
      remembered_at = null`;
}

/** Which of these tombstones exist, each with the first epoch that it concerns. */
export const listKnown = (
  sql: Sql,
  { organizationNumber, domainNumber }: ScopeNumbers,
  tombstones: Pick<Tombstone, 'hash'>[],
) => sql<{ hash: string; epoch: number }[]>`
  select encode(hash, 'hex') as hash, epoch from tombstones
  where organization_number = ${organizationNumber} and domain_number = ${domainNumber}
    and hash = ${anyOf(
      sql,
      tombstones.map(({ hash }) => hash),
    )}`;

/**
 * Puts back tombstones that a restored backup may lack. This never extends a tombstone; ones that have ended are skipped.
 */
export const restoreTombstones = (
  sql: Sql,
  { organizationNumber, domainNumber }: ScopeNumbers,
  tombstones: Pick<Tombstone, 'hash' | 'erasedAt'>[],
) => sql`
  insert into tombstones (hash, organization_number, domain_number, epoch, until)
  select decode(hash, 'hex'), ${organizationNumber}::integer, ${domainNumber}::integer, open, until
  from epochs, (
    select hash, max("erasedAt") + ${lastsDays} * interval '1 day' as until
    from json_to_recordset(${JSON.stringify(tombstones)}::text::json) as t (hash text, "erasedAt" timestamptz)
    group by hash
  ) as restored
  where until > ${earlierNow(sql, new Date())}
  on conflict (organization_number, domain_number, hash) do update set
    until = greatest(tombstones.until, excluded.until), erased_at = clock_timestamp(), searched_at = null,
    rejected_searched_at = null, remembered_at = null`;

/** The first epoch whose records may be of an erased visitor; undefined if there is none. */
export async function firstConcerned(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number }[]>`select epoch from tombstones order by epoch limit 1`;
  return row?.epoch;
}

/** As an array, so that Postgres always uses the index. */
const anyOf = (sql: Sql, hashes: string[]) => sql`
  any(array(select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash))`;

/**
 * Which of these hashes (hex) are of erased visitors, each with the numbers of the domains; 0 stands for all of the
 * organization's.
 */
export async function findErased(sql: Sql, hashes: string[]): Promise<Map<string, Set<number>>> {
  const erased = new Map<string, Set<number>>();
  if (hashes.length === 0) return erased;
  const rows = await sql<{ hash: string; domainNumber: number }[]>`
    select encode(hash, 'hex') as hash, domain_number as "domainNumber" from tombstones
    where hash = ${anyOf(sql, hashes)}`;
  for (const { hash, domainNumber } of rows) erased.set(hash, (erased.get(hash) ?? new Set()).add(domainNumber));
  return erased;
}

/** Ordered, so that Postgres always uses the index. */
const isAnybodyErased = (sql: Sql, domainNumber: ReturnType<Sql>) => sql`
  exists (
    select from (
      select from tombstones
      where organization_number = o.number and domain_number = ${domainNumber}
      order by hash limit 1
    ) as one
  )`;

export interface ConcernedDomain {
  domainNumber: number;
  organizationId: string;
}

/** Which of these domains have an erased visitor, ordered by number. */
export const listConcerned = (sql: Sql, domainNumbers: number[]): Promise<ConcernedDomain[]> => sql<ConcernedDomain[]>`
  select domains.number as "domainNumber", organization_id as "organizationId"
  from domains join organizations o on o.id = organization_id
  where domains.number = any(${domainNumbers})
    and (${isAnybodyErased(sql, sql`0`)} or ${isAnybodyErased(sql, sql`domains.number`)})
  order by 1`;

/** A place that is searched for what is left of a tombstone's visitor, once per erasure. */
type SearchedIn = 'queues' | 'rejected';

const searched = { queues: 'searched_at', rejected: 'rejected_searched_at' } as const;

/** Identifies a tombstone. */
interface TombstonePlace extends ScopeNumbers {
  hash: string;
}

/** A tombstone as of one erasure. If the visitor is erased again, work done for the earlier erasure does not count. */
interface TombstoneVersion extends TombstonePlace {
  /** when it was noted, to the microsecond, as Postgres writes it */
  notedAt: string;
}

const erasureColumns = (sql: Sql) => sql`
  organization_number as "organizationNumber", domain_number as "domainNumber", encode(hash, 'hex') as hash,
  erased_at::text as "notedAt"`;

/** By their hashes first, which have an index. */
const isOneOf = (sql: Sql, erasures: TombstoneVersion[]) => {
  const hashes = erasures.map(({ hash }) => hash);
  return sql`
    hash = ${anyOf(sql, hashes)} and (organization_number, domain_number, hash, erased_at) in (
      select organization_number, domain_number, decode(hash, 'hex'), noted_at::timestamptz
      from unnest(
        ${erasures.map(({ organizationNumber }) => organizationNumber)}::integer[],
        ${erasures.map(({ domainNumber }) => domainNumber)}::integer[], ${hashes}::text[],
        ${erasures.map(({ notedAt }) => notedAt)}::text[]
      ) as erasure (organization_number, domain_number, hash, noted_at)
    )`;
};

export const listUnsearched = (sql: Sql, place: SearchedIn): Promise<TombstoneVersion[]> => sql<TombstoneVersion[]>`
  select ${erasureColumns(sql)} from tombstones where ${sql(searched[place])} is null`;

export async function noteSearched(db: Database, place: SearchedIn, erasures: TombstoneVersion[]): Promise<void> {
  for (const some of chunksOf(erasures, slice)) {
    await db.write(
      (sql) => sql`
        update tombstones set ${sql(searched[place])} = clock_timestamp()
        where ${isOneOf(sql, some)} and ${sql(searched[place])} is null`,
    );
  }
}

/** Further records of these visitors arrived, so queues and Redis' append-only file may hold more: search again. */
export const searchAgain = (sql: Sql, hashes: string[]) => sql`
  update tombstones set searched_at = null where hash = ${anyOf(sql, hashes)}`;

/** A tombstone as Redis and the file store it. */
export interface Tombstone {
  organizationId: string;
  /** null: all domains of the organization */
  domainId: string | null;
  /** hex */
  hash: string;
  /** RFC 3339 */
  erasedAt: string;
}

const firstPlace: TombstonePlace = { organizationNumber: 0, domainNumber: 0, hash: '' };

export type StoredTombstone = Tombstone & TombstoneVersion;
type Row = Omit<StoredTombstone, 'erasedAt'> & { erasedAt: Date };

const columns = (sql: Sql) => sql`
  o.id as "organizationId", domains.id as "domainId", until - ${lastsDays} * interval '1 day' as "erasedAt",
  ${erasureColumns(sql)}
  from tombstones
  join organizations o on o.number = organization_number
  left join domains on domains.number = domain_number`;

const toTombstone = ({ erasedAt, ...row }: Row): StoredTombstone => ({ ...row, erasedAt: erasedAt.toISOString() });

/** All tombstones, `pageSize` in one statement. */
export async function* listTombstones(db: Database, pageSize: number): AsyncGenerator<StoredTombstone[]> {
  for (let after: TombstonePlace | undefined = firstPlace; after; ) {
    const { organizationNumber, domainNumber, hash }: TombstonePlace = after;
    const rows: Row[] = await db.read(
      (sql) => sql<Row[]>`
        select ${columns(sql)}
        where (organization_number, domain_number, hash)
          > (${organizationNumber}::integer, ${domainNumber}::integer, decode(${hash}, 'hex'))
        order by organization_number, domain_number, hash limit ${pageSize}`,
    );
    yield rows.map(toTombstone);
    after = rows.length < pageSize ? undefined : rows.at(-1);
  }
}

/** Tombstones that are not yet in Redis. */
export async function listUnremembered(sql: Sql, limit: number): Promise<StoredTombstone[]> {
  const rows = await sql<Row[]>`select ${columns(sql)} where remembered_at is null limit ${limit}`;
  return rows.map(toTombstone);
}

export const noteRemembered = (sql: Sql, erasures: TombstoneVersion[]) => sql`
  update tombstones set remembered_at = clock_timestamp() where ${isOneOf(sql, erasures)} and remembered_at is null`;

export async function deleteOldTombstones(db: Database, here = new Date()): Promise<void> {
  for (let deleted = slice; deleted === slice; ) {
    const { count } = await db.write(
      (sql) => sql`
        delete from tombstones
        where ctid = any(array(select ctid from tombstones where until <= ${earlierNow(sql, here)} limit ${slice} for update))`,
    );
    deleted = count;
  }
}
