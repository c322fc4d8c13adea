/** Finds records that have no position although their epoch is sealed. */
import type { Database, Sql } from '#libs/base/db/database';

/** The part of a domain's records that must have positions. */
interface SealedSoFar {
  domainNumber: number;
  /** all records up to this epoch */
  sealedThrough: number;
  /** and those of the next epoch up to this record */
  lastEpoch: number;
  lastId: string;
  /** records before this id do not count */
  since: string;
}

/** records per statement */
const pageSize = 20_000;

const hasToBeThere = (sql: Sql, { sealedThrough, lastEpoch, lastId }: SealedSoFar) => sql`
  (epoch <= ${sealedThrough} or (epoch, id) <= (${lastEpoch}::integer, ${lastId}::uuid))`;

const page = (sql: Sql, { domainNumber }: SealedSoFar, after: string) => sql`
  (
    select id, epoch from records where domain_number = ${domainNumber} and id > ${after}
    order by id limit ${pageSize}
  ) as r`;

/** The number of records that must have a position. */
export async function countSealed(db: Database, sealed: SealedSoFar): Promise<number> {
  let [count, after]: [number, string | null] = [0, sealed.since];
  while (after !== null) {
    const from: string = after;
    const [row] = await db.read(
      (sql) => sql<{ count: number; last: string | null }[]>`
        select count(*) filter (where ${hasToBeThere(sql, sealed)}) as count,
          (array_agg(id order by id desc))[1] as last
        from ${page(sql, sealed, from)}`,
    );
    count += row?.count ?? 0;
    after = row?.last ?? null;
  }
  return count;
}

/** Ids of records without a position, at most `limit`. */
export async function listWithoutPosition(db: Database, sealed: SealedSoFar, limit: number): Promise<string[]> {
  const lacking: string[] = [];
  let after: string | null = sealed.since;
  while (after !== null && lacking.length < limit) {
    const from: string = after;
    const [row] = await db.read(
      (sql) => sql<{ ids: string[]; last: string | null }[]>`
        select
          coalesce(json_agg(id order by id) filter (where ${hasToBeThere(sql, sealed)} and not exists (
            select from (
              select ids from log_runs
              where domain_number = ${sealed.domainNumber} and (last_epoch, last_id) >= (r.epoch, r.id)
              order by last_epoch, last_id limit 1
            ) as run
            where place_among(run.ids, r.id) is not null
          )), '[]') as ids,
          (array_agg(id order by id desc))[1] as last
        from ${page(sql, sealed, from)}`,
    );
    lacking.push(...(row?.ids ?? []));
    after = row?.last ?? null;
  }
  return lacking.slice(0, limit);
}
