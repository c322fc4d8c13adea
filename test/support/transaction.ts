/** Work in a transaction that a test holds. */
import type postgres from 'postgres';
import type { Database, Sql } from '#libs/base/db/database';

/** The same database, but for all its work being done in this transaction, also what would begin one of its own. */
export function inTransaction(db: Database, transaction: postgres.TransactionSql): Database {
  const own = (...given: Parameters<Sql>) => (transaction as unknown as Sql)(...given);
  type Inside = (sql: unknown) => Promise<unknown>;
  const begin = (first: string | Inside, second?: Inside) => {
    const inside = second ?? first;
    if (typeof inside === 'string') throw new Error('there is no work for a transaction');
    return inside(transaction);
  };
  const sql = Object.assign(own, transaction, { begin }) as unknown as Sql;
  return { ...db, run: (work) => work(sql) };
}

/** Whatever `work` changes is undone. */
export const rolledBack = <T>(db: Database, work: (inside: Database) => Promise<T>): Promise<T> =>
  db
    .run((sql) =>
      sql.begin(async (transaction) => {
        const result = await work(inTransaction(db, transaction));
        await transaction`rollback`;
        return { result };
      }),
    )
    .then(({ result }) => result);
