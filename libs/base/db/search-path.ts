/** Tables that are there, where this login does not look: for it the database is empty. */
import type postgres from 'postgres';
import type { Log } from '../ops/process-log.ts';
import type { Reads, Sql } from './database.ts';

/** Says where they are; undefined where the login finds them, or there are none. */
export async function tablesElsewhere(sql: Sql | postgres.Sql) {
  const [found] = await sql<{ schema: string; path: string; login: string }[]>`
    select relnamespace::regnamespace::text as schema, current_setting('search_path') as path,
      quote_ident(current_user) as login
    from pg_class
    where relname = 'administrative_acts' and relkind = 'r' and to_regclass('administrative_acts') is null
    limit 1`;
  return (
    found &&
    `the tables are in the schema ${found.schema}, and the search_path of this login is ${found.path || 'empty'}: ` +
      `alter role ${found.login} set search_path = ${found.schema}`
  );
}

/** For a process that starts, where Postgres answers by then; `/readyz` says it at any time. */
export async function tellOfTablesElsewhere(db: Reads, log: Pick<Log, 'error'>): Promise<void> {
  const elsewhere = await db.read(tablesElsewhere).catch(() => undefined);
  if (elsewhere) log.error({ event: 'tables_elsewhere' }, elsewhere);
}
