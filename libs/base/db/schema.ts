/** The migrations of this build, and whether the database has all of them. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { within } from '../timers.ts';
import type { Reads, Sql } from './database.ts';
import { isForbidden, isSchemaMissing } from './errors.ts';
import { rights } from './roles/rights.ts';
import { tablesElsewhere } from './search-path.ts';

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));

/** Oldest first. Read once, since a later build in the same folder may bring more that this process does not need. */
export const migrations = readdirSync(migrationsFolder)
  .sort()
  .map((file) => ({ file, version: file.replace(/_.*/, '') }));
export const versions = migrations.map(({ version }) => version);

/**
 * `old`: migrations of this build are missing; `elsewhere`: this login does not find the tables; `forbidden`: `app` lacks
 * rights; `readOnly`: nothing can be stored; `unknown`: no response within `patience` milliseconds. `patience` limits the
 * wait instead of the deadline of `run`: that would replace the pool and abort all calls in progress.
 */
export async function lookAtSchema(
  db: Reads,
  patience: number,
  app: 'api' | 'worker',
): Promise<'current' | 'old' | 'elsewhere' | 'forbidden' | 'readOnly' | 'unknown'> {
  try {
    const state = db.read(async (sql) => {
      if (await tablesElsewhere(sql)) return 'elsewhere';
      const rows = await sql<{ version: string }[]>`select version from schema_migrations`;
      const applied = new Set(rows.map(({ version }) => version));
      if (!versions.every((version) => applied.has(version))) return 'old';
      if (!(await hasRights(sql, app))) return 'forbidden';
      return (await isReadOnly(sql)) ? 'readOnly' : 'current';
    });
    return await within(patience, state);
  } catch (error) {
    if (isForbidden(error)) return 'forbidden';
    return isSchemaMissing(error) ? 'old' : 'unknown';
  }
}

/** As on a standby, or by a default of the login, the database or the server: some hosts set it when the disk is full. */
export async function isReadOnly(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ setting: string }[]>`select current_setting('transaction_read_only') as setting`;
  return row?.setting === 'on';
}

/** Whether the login has the rights that rights.ts lists. */
async function hasRights(sql: Sql, app: 'api' | 'worker'): Promise<boolean> {
  const needed = Object.entries(rights).flatMap(([table, of]) =>
    of[app].map((right) => {
      const [, verb = right, column = ''] = /^(\w+)\((\w+)\)$/.exec(right) ?? [];
      return { table, verb, column };
    }),
  );
  const [lacking] = await sql`
    select from unnest(
      ${needed.map(({ table }) => table)}::text[], ${needed.map(({ verb }) => verb)}::text[],
      ${needed.map(({ column }) => column)}::text[]
    ) as needed ("table", verb, "column")
    join pg_class on pg_class.oid = to_regclass("table")
    where not case
      when "column" = '' then has_table_privilege(pg_class.oid, verb)
      else has_column_privilege(pg_class.oid, "column", verb)
    end
    limit 1`;
  return lacking === undefined;
}
