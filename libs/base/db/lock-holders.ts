/** Uses locks to find the transactions that may write to given tables: each takes its lock before it begins to read. */
import { setTimeout } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';

/** milliseconds */
const lookEvery = 50;

/** The virtual ids of transactions that write to any of these tables now, or have locked rows in order to. */
async function writersOf(sql: Sql, tables: string[]): Promise<string[]> {
  const rows = await sql<{ transaction: string }[]>`
    select distinct virtualtransaction as transaction from pg_locks
    where relation = any(array(select to_regclass(name)::oid from unnest(${tables}::text[]) as name))
      and pid is distinct from pg_backend_pid() and mode in ('RowShareLock', 'RowExclusiveLock')
      and database = (select oid from pg_database where datname = current_database())`;
  return rows.map((row) => row.transaction);
}

/**
 * Waits until the transactions that write to these tables now have ended. False if one takes longer than `patience`
 * milliseconds.
 */
export async function untilWritersEnd(db: Database, tables: string[], patience: number): Promise<boolean> {
  const began = performance.now();
  let left = await db.write((sql) => writersOf(sql, tables));
  while (left.length > 0) {
    if (performance.now() - began > patience) return false;
    await setTimeout(lookEvery);
    const now = new Set(await db.write((sql) => writersOf(sql, tables)));
    left = left.filter((transaction) => now.has(transaction));
  }
  return true;
}
