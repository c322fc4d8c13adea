/** Reads that must agree with each other: all statements of `work` see the database as of one moment. */
import type { Sql } from './sql.ts';

export const inSnapshot = <T>(sql: Sql, work: (snapshot: Sql) => Promise<T>): Promise<T> =>
  // the driver's type of a transaction lacks what no read needs
  sql.begin('isolation level repeatable read read only', (snapshot) => work(snapshot as unknown as Sql)) as Promise<T>;
