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

/** The same database, where `how` decides when each piece of work is done, and by which. */
export const through = (db: Database, how: <T>(ask: (by: Database) => Promise<T>) => Promise<T>): Database => ({
  ...db,
  read: (work, reading) => how((by) => by.read(work, reading)),
  write: (work, deadline) => how((by) => by.write(work, deadline)),
  transaction: (work, deadline) => how((by) => by.transaction(work, deadline)),
  run: (work, deadline) => how((by) => by.run(work, deadline)),
});

/** The same database, and how often it was asked. */
export function counting(db: Database): { db: Database; asked: () => number } {
  let count = 0;
  const counted = through(db, (ask) => {
    count += 1;
    return ask(db);
  });
  return { db: counted, asked: () => count };
}
