/** Connections of a test's own, beside those that the file has. */
import type postgres from 'postgres';
import { createDatabase, type Database, type DatabaseOptions } from '#libs/base/db/database';
import { atEnd } from './at-end.ts';

/** Ends with the file, if not before. */
export function openPool(url: string, options: Partial<DatabaseOptions> = {}): Database {
  const limits = { statementTimeout: 20_000, deadline: 25_000 };
  const db = createDatabase({ url, max: 2, ...limits, prepare: true, name: 'test', ...options });
  atEnd(() => db.close());
  return db;
}

/** Runs one statement, and resolves to its rows: `` sql<{ id: string }>`select id from records` ``. */
export type Statement = ReturnType<typeof statementsOn>;

export const statementsOn =
  (db: Database) =>
  <Row extends object = postgres.Row>(text: TemplateStringsArray, ...values: postgres.ParameterOrFragment<never>[]) =>
    db.run((sql) => sql<Row[]>(text, ...values));

/** The same database, and how often it was asked. */
export function counting(db: Database): { db: Database; asked: () => number } {
  let count = 0;
  const run: Database['run'] = (work) => {
    count += 1;
    return db.run(work);
  };
  return { db: { ...db, run }, asked: () => count };
}
