/** Work in a transaction that a test holds. */
import type { Database, Sql } from '#libs/base/db/database';

/** The same database, but for all its work being done in this transaction. */
export function inTransaction(db: Database, transaction: Sql): Database {
  const inside = <T>(work: (sql: Sql) => Promise<T>) => work(transaction);
  const run = () => Promise.reject(new Error('a transaction has no pool'));
  return { ...db, read: inside, write: inside, transaction: inside, run };
}

/** Rolls back all changes of `work`. */
export const rolledBack = <T>(db: Database, work: (inside: Database) => Promise<T>): Promise<T> =>
  db.transaction(async (sql) => {
    const result = await work(inTransaction(db, sql));
    await sql`rollback`;
    return result;
  });

/** Rows of `records` and entries of its indexes that the work reads. Of a transaction alone: other connections tell seconds later what they have read. */
export const rowsRead = (pool: Database, work: (inside: Database) => Promise<unknown>): Promise<number> =>
  rolledBack(pool, async (inside) => {
    const readSoFar = async () => {
      const [row] = await inside.read(
        (sql) => sql<{ count: number }[]>`
          select coalesce(sum(pg_stat_get_xact_tuples_returned(oid)), 0)::int as count
          from pg_class where relname like 'records%'`,
      );
      return row?.count ?? 0;
    };
    const before = await readSoFar();
    await work(inside);
    return (await readSoFar()) - before;
  });
