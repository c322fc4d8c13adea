/**
 * The records of one visitor, as the visitors' index finds them. Of each it holds eight bytes: the visitor's hash mixed with
 * the domain's number, and the time of the id in units of some 16 s. Whole, they would be three times as long, and a record
 * changes a page of this index that hardly any other record changes. So a statement asks for these bytes, and for what
 * they stand for.
 */
import type { Fragment, Reads, Sql } from '#libs/base/db/database';

interface VisitorOfDomain {
  /** its number */
  domain: Fragment | number | null;
  visitorId: string;
}

/** For `records`. */
export const isVisitor = (sql: Sql, visitor: VisitorOfDomain): Fragment => sql`
  ${hasKeyOf(sql, visitor)} and visitor_id = ${visitor.visitorId}`;

/**
 * The same of all visitors of the domain that share the hash. The domain's number is asked for in a form that no index has:
 * of an index of some rows Postgres uses no statistics, and would look up all ids of the domain beside the visitor's.
 */
export const hasKeyOf = (sql: Sql, { domain, visitorId }: VisitorOfDomain): Fragment => sql`
  domain_number + 0 = ${domain} and hashtext(visitor_id) # domain_number = hashtext(${visitorId}) # ${domain}`;

/** The same records as `id >= from and id < below`, and some more: each side is left out where it is undefined. */
export const isAround = (
  sql: Sql,
  { from, below }: { from?: Fragment | string; below?: Fragment | string },
): Fragment => sql`
  ${from === undefined ? sql`true` : sql`${unit(sql)} >= ${unitOf(sql, from)}`}
  and ${below === undefined ? sql`true` : sql`${unit(sql)} <= ${unitOf(sql, below)}`}`;

/**
 * In the order of ids, of which the index has the first part. By the id alone, Postgres would read all of a visitor's records
 * to sort them, or all of the domain's.
 */
export const byTime = (sql: Sql, direction: 'asc' | 'desc'): Fragment =>
  direction === 'asc' ? sql`${unit(sql)}, id` : sql`${unit(sql)} desc, id desc`;

/**
 * Reads pages `byTime`. Postgres expects few records of any visitor, and sorting few is as good as reading them in order;
 * of one who has a million, it would sort them all for each page that it plans for this visitor, as it does for the first
 * five of a connection.
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

/** Of any id; a record's own time always fits. */
const unitOf = (sql: Sql, id: Fragment | string): Fragment =>
  sql`least(milliseconds_of(${id}::uuid) >> 14, 2147483647)::integer`;
