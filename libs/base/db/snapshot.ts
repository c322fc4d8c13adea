/** Statements that belong together. Their `sql` is used as any connection is, but for `begin`, which the driver's type lacks here. */
import type { Database, Sql } from './database.ts';

/** All of it or nothing. `deadline`: milliseconds, as for `db.run`. */
export const inTransaction = <T>(db: Database, work: (sql: Sql) => Promise<T>, deadline?: number): Promise<T> =>
  db.run((sql) => sql.begin((transaction) => work(transaction as unknown as Sql)) as Promise<T>, deadline);

/** Reads that must agree with each other: all statements of `work` see the database as of one moment. */ export const inSnapshot =
  <T>(sql: Sql, work: (snapshot: Sql) => Promise<T>): Promise<T> =>
    sql.begin('isolation level repeatable read read only', (snapshot) =>
      work(snapshot as unknown as Sql),
    ) as Promise<T>;
