/** Work in a transaction that a test holds. */
import type { Database, Sql } from '#libs/base/db/database';

/** The same database, but for all its work being done in this transaction. */
export function inTransaction(db: Database, transaction: Sql): Database {
  const inside = <T>(work: (sql: Sql) => Promise<T>) => work(transaction);
  const run = () => Promise.reject(new Error('a transaction has no pool'));
  return { ...db, read: inside, write: inside, transaction: inside, run };
}

/** Whatever `work` changes is undone. */
export const rolledBack = <T>(db: Database, work: (inside: Database) => Promise<T>): Promise<T> =>
  db.transaction(async (sql) => {
    const result = await work(inTransaction(db, sql));
    await sql`rollback`;
    return result;
  });
