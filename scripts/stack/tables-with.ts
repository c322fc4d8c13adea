/** The tables that have a text anywhere in a row, system catalogues included. */
import type { Database } from '#libs/base/db/database';

export async function tablesWith(db: Pick<Database, 'run'>, needle: string): Promise<string[]> {
  const tables = await db.run(
    (sql) => sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'
      union all select 'pg_statistic'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await db.run((sql) =>
      sql.unsafe(`select count(*)::int as count from ${name} as t where t::text like '%${needle}%'`),
    );
    if (row?.count) found.push(name);
  }
  return found;
}
