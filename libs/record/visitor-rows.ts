/**
 * Finds the records of one visitor in the visitors' index. It holds eight bytes a record: the visitor's hash mixed with the
 * domain's number, and the time of the id in units of about 16 s. The key is short to keep the index small, since nearly
 * every new record writes to a different page of it. It does not identify the visitor, so a statement compares the key, to
 * use the index, and then the full values.
 */
import type { Fragment, Reads, Sql } from '#libs/base/db/database';

interface VisitorOfDomain {
  /** the domain's number */
  domain: Fragment | number | null;
  visitorId: string;
}

/** The condition on `records`. */
export const isVisitor = (sql: Sql, visitor: VisitorOfDomain): Fragment => sql`
  ${hasKeyOf(sql, visitor)} and visitor_id = ${visitor.visitorId}`;

/**
 * The same for all visitors of the domain that share the hash. The domain's number is compared in a form that no index
 * covers: otherwise Postgres would also scan an index for all ids of the domain.
 */
export const hasKeyOf = (sql: Sql, { domain, visitorId }: VisitorOfDomain): Fragment => sql`
  domain_number + 0 = ${domain} and hashtext(visitor_id) # domain_number = hashtext(${visitorId}) # ${domain}`;

/** A superset of the records with `id >= from and id < below`. Either side may be undefined. */
export const isAround = (
  sql: Sql,
  { from, below }: { from?: Fragment | string; below?: Fragment | string },
): Fragment => sql`
  ${from === undefined ? sql`true` : sql`${unit(sql)} >= ${unitOf(sql, from)}`}
  and ${below === undefined ? sql`true` : sql`${unit(sql)} <= ${unitOf(sql, below)}`}`;

/**
 * Sorts by the id's time unit, which is in the index, then by id: the same order as by id alone. Ordered by the id alone,
 * Postgres would read and sort all records of the visitor or of the domain.
 */
export const byTime = (sql: Sql, direction: 'asc' | 'desc'): Fragment =>
  direction === 'asc' ? sql`${unit(sql)}, id` : sql`${unit(sql)} desc, id desc`;

/**
 * Reads pages `byTime`. Postgres expects few records per visitor, so it finds sorting no dearer than reading in order. With
 * a custom plan, as in a connection's first five executions, it would sort a visitor's million records for every page.
 */
export const readByTime = <T>(db: Reads, work: (sql: Sql) => Promise<T>): Promise<T> =>
  db.read(
    async (sql) => {
      await sql`select set_config('enable_sort', 'off', true)`;
      return work(sql);
    },
    { snapshot: true },
  );

const unit = (sql: Sql): Fragment => sql`(milliseconds_of(id) >> 14)::integer`;

/** Takes any id; the time of a record's id always fits. */
const unitOf = (sql: Sql, id: Fragment | string): Fragment =>
  sql`least(milliseconds_of(${id}::uuid) >> 14, 2147483647)::integer`;
