/** Tombstones: who was erased. What comes of them later loses its personal fields once its epoch is closed. */
import type { Sql } from '../sql.ts';
import { allDomains, type ScopeNumbers } from './scope.ts';

/** Days: a record may come up to 30 days after its decision. */
const lastsDays = 32;

export interface Tombstone extends ScopeNumbers {
  organizationId: string;
  /** hex */
  hash: string;
}

/** The open epoch is read after the tombstone is there for all others: only records of it and of later ones can lack it. */
export async function addTombstone(sql: Sql, { organizationNumber, domainNumber }: ScopeNumbers, hash: Uint8Array) {
  await sql`
    insert into tombstones (hash, organization_number, domain_number, epoch, until)
    select ${Buffer.from(hash)}::bytea, ${organizationNumber}::integer, ${domainNumber}::integer, open,
      clock_timestamp() + ${lastsDays} * interval '1 day'
    from epochs
    on conflict (organization_number, domain_number, hash) do update set
      until = excluded.until, erased_at = clock_timestamp(), searched_at = null, remembered_at = null`;
}

/** The first epoch whose records may be of somebody who was erased; undefined where nobody was. */
export async function firstConcerned(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ epoch: number | null }[]>`
    select min(epoch) as epoch from tombstones where until > clock_timestamp()`;
  return row?.epoch ?? undefined;
}

export const listTombstones = (sql: Sql): Promise<Tombstone[]> => sql<Tombstone[]>`
  select o.id as "organizationId", organization_number as "organizationNumber", domain_number as "domainNumber",
    encode(hash, 'hex') as hash
  from tombstones join organizations o on o.number = organization_number
  where until > clock_timestamp()`;

export interface ErasedDomain {
  domainNumber: number;
  domainId: string;
  organizationId: string;
  /** of erased visitors, hex */
  hashes: Set<string>;
}

/** The domains that tombstones are about, in the order of their numbers. */
export async function listErasedDomains(sql: Sql): Promise<ErasedDomain[]> {
  const tombstones = await listTombstones(sql);
  if (tombstones.length === 0) return [];
  const whole = tombstones.filter(({ domainNumber }) => domainNumber === allDomains);
  const domains = await sql<{ domainNumber: number; domainId: string; organizationId: string }[]>`
    select number as "domainNumber", id as "domainId", organization_id as "organizationId" from domains
    where number = any(${tombstones.map(({ domainNumber }) => domainNumber)})
      or organization_id = any(${whole.map(({ organizationId }) => organizationId)})
    order by number`;
  const byScope = new Map<string, Set<string>>();
  for (const { organizationId, domainNumber, hash } of tombstones) {
    const key = domainNumber === allDomains ? organizationId : domainNumber;
    byScope.set(String(key), (byScope.get(String(key)) ?? new Set()).add(hash));
  }
  return domains.map((domain) => ({
    ...domain,
    hashes: new Set([
      ...(byScope.get(domain.organizationId) ?? []),
      ...(byScope.get(String(domain.domainNumber)) ?? []),
    ]),
  }));
}

/** Those that were not searched for in queues and rejected records yet. */
export async function listUnsearched(sql: Sql): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from tombstones where searched_at is null and until > clock_timestamp()`;
  return rows.map(({ hash }) => hash);
}

/** More of them came: there may be more in queues, and what was queued is in Redis' append-only file. */
export const searchAgain = (sql: Sql, hashes: string[]) => sql`
  update tombstones set searched_at = null where encode(hash, 'hex') = any(${hashes})`;

export const noteSearched = (sql: Sql, hashes: string[]) => sql`
  update tombstones set searched_at = clock_timestamp()
  where encode(hash, 'hex') = any(${hashes}) and searched_at is null`;

export interface ErasedVisitor {
  organizationId: string;
  domainId: string | null;
  hash: string;
  /** RFC 3339 */
  erasedAt: string;
}

/** All, or only those that Redis was not told of yet. */
export async function listErased(sql: Sql, { untold = false } = {}): Promise<ErasedVisitor[]> {
  const rows = await sql<(Omit<ErasedVisitor, 'erasedAt'> & { erasedAt: Date })[]>`
    select o.id as "organizationId", domains.id as "domainId", encode(hash, 'hex') as hash, erased_at as "erasedAt"
    from tombstones
    join organizations o on o.number = organization_number
    left join domains on domains.number = domain_number
    where not ${untold} or remembered_at is null`;
  return rows.map((row) => ({ ...row, erasedAt: row.erasedAt.toISOString() }));
}

export const noteRemembered = (sql: Sql, tombstones: ErasedVisitor[]) => sql`
  update tombstones set remembered_at = clock_timestamp()
  where encode(hash, 'hex') = any(${tombstones.map(({ hash }) => hash)}) and remembered_at is null`;

export const deleteOldTombstones = (sql: Sql) => sql`delete from tombstones where until <= clock_timestamp()`;
