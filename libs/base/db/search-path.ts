/** Finds tables that this login does not see because its `search_path` leads elsewhere. */
import type postgres from 'postgres';
import type { Log } from '../ops/process-log.ts';
import type { Reads, Sql } from './database.ts';
import { isForbidden, isSchemaMissing } from './errors.ts';
import { rights } from './roles/rights.ts';

/** Every database of ours has it. Other tools use tables of the same name. */
const firstMigration = '20261123000001';

/** The first schema on the path with our migrations; undefined if there is none. */
export async function findSchema(sql: Sql | postgres.Sql): Promise<string | undefined> {
  const candidates = await sql<{ schema: string }[]>`
    select schema from unnest(current_schemas(false)) with ordinality as path (schema, place)
    where to_regclass(quote_ident(schema) || '.schema_migrations') is not null order by place`;
  for (const { schema } of candidates) {
    const migration = sql`select from ${sql(schema)}.schema_migrations where version::text = ${firstMigration}`;
    const isOurs = await migration.then(
      ({ count }) => count > 0,
      (error) => {
        if (!isForbidden(error) && !isSchemaMissing(error)) throw error;
        return false;
      },
    );
    if (isOurs) return schema;
  }
  return undefined;
}

/** Describes where the tables are; undefined if the login finds them or there are none. */
export async function tablesElsewhere(sql: Sql | postgres.Sql) {
  const schema = (await findSchema(sql)) ?? null;
  const [found] = await sql<{ schema: string; path: string; login: string }[]>`
    select relnamespace::regnamespace::text as schema, current_setting('search_path') as path,
      quote_ident(current_user) as login
    from pg_class
    where to_regclass(quote_ident(relname)) is distinct from pg_class.oid and case
      when ${schema}::text is null then relname = 'administrative_acts' and to_regclass('administrative_acts') is null
      else relname in ${sql(Object.keys(rights))} and relnamespace::regnamespace::text = quote_ident(${schema})
    end and relkind in ('r', 'p')
    limit 1`;
  return (
    found &&
    `the tables are in the schema ${found.schema}, and the search_path of this login is ${found.path || 'empty'}: ` +
      `alter role ${found.login} set search_path = ${found.schema}`
  );
}

/** Once, when a process starts and if Postgres responds by then; `/readyz` reports it at any time. */
export async function reportTablesElsewhere(db: Reads, log: Pick<Log, 'error'>): Promise<void> {
  const elsewhere = await db.read(tablesElsewhere).catch(() => undefined);
  if (elsewhere) log.error({ event: 'tables_elsewhere' }, elsewhere);
}
