/** Transactions by the tables that they have locked, which each does before it begins to read. */
import { setTimeout } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';

/** milliseconds */
const lookEvery = 50;

/** Of those that use any of these tables now, or write to one, or have rows of it that they may write to. */
export async function holdersOf(sql: Sql, tables: string[], how: 'use' | 'write'): Promise<string[]> {
  const rows = await sql<{ transaction: string }[]>`
    select distinct virtualtransaction as transaction from pg_locks
    where relation = any(array(select to_regclass(name)::oid from unnest(${tables}::text[]) as name))
      and pid is distinct from pg_backend_pid() and (${how === 'use'} or mode in ('RowShareLock', 'RowExclusiveLock'))
      and database = (select oid from pg_database where datname = current_database())`;
  return rows.map((row) => row.transaction);
}

/** Waits until those that hold such locks now have ended. False where some of them take longer than `patience` milliseconds. */
export async function untilReleased(
  db: Database,
  tables: string[],
  how: 'use' | 'write',
  patience: number,
): Promise<boolean> {
  const began = performance.now();
  let left = await db.write((sql) => holdersOf(sql, tables, how));
  while (left.length > 0) {
    if (performance.now() - began > patience) return false;
    await setTimeout(lookEvery);
    const now = new Set(await db.write((sql) => holdersOf(sql, tables, how)));
    left = left.filter((transaction) => now.has(transaction));
  }
  return true;
}
