/** The monthly partitions of `records`: created ahead, and dropped whole once past retention. */
import type { Sql } from '../sql.ts';

/** True where the month had no partition yet. */
export async function makeMonth(sql: Sql, month: string): Promise<boolean> {
  const [row] = await sql<{ made: boolean }[]>`select make_record_month(${month}) as made`;
  return row?.made ?? false;
}

export async function listMonths(sql: Sql): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`select month from record_months where dropped_at is null order by month`;
  return rows.map((row) => row.month);
}

/** The months that were dropped, oldest first. */
export async function listDroppedMonths(sql: Sql): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    select month from record_months where dropped_at is not null order by month`;
  return rows.map((row) => row.month);
}

/** Waits at most two seconds for readers' locks, then fails. The next round tries again. */
export async function dropMonth(sql: Sql, month: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`set local lock_timeout = '2s'`;
    await transaction`drop table ${transaction(`records_${month.replace('-', '_')}`)}`;
    await transaction`delete from bookmarks where left(day, 7) = ${month}`;
    await transaction`update record_months set dropped_at = now() where month = ${month}`;
  });
}
