/** The monthly partitions of `records`: created ahead, and dropped whole once past retention. */

import type { Database, Sql } from '#libs/base/db/database';
import { isBlocked } from '#libs/base/db/errors';
import { isThroughPooler, type Pool } from '#libs/base/db/pooled';
import { asOwner, ownerToBe } from '#libs/base/db/roles/as-owner';
import { withShortLocks } from '#libs/base/db/short-locks';
import { addMonths, firstDay, lowestIdAt, monthOf, startOf } from '#libs/base/terms/calendar';

/** Milliseconds that a month's detaching may take, where no statement's timeout ends it sooner. */
const detachPatience = 9_000;

const monthsAhead = 2;

/** From last month to two months ahead. `now`: Unix milliseconds. */
export async function makeMonths(db: Database, now: number): Promise<void> {
  for (let ahead = -1; ahead <= monthsAhead; ahead += 1) {
    await db.write((sql) => makeMonth(sql, addMonths(monthOf(now), ahead)));
  }
}

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

/** Whether retention has dropped the records of this month. */
export async function isDropped(sql: Sql, month: string): Promise<boolean> {
  const rows = await sql`select from record_months where month = ${month} and dropped_at is not null`;
  return rows.length > 0;
}

/**
 * The months that are hidden, but whose records are still there: a reader was in the way of the last attempt. First the
 * one that is half detached, because Postgres detaches no other before it.
 */
export async function listHiddenMonths(sql: Sql): Promise<string[]> {
  const rows = await sql<{ month: string }[]>`
    select month from record_months
    left join pg_inherits
      on inhparent = 'records'::regclass and inhrelid = to_regclass('records_' || replace(month, '-', '_'))
    where dropped_at is not null and to_regclass('records_' || replace(month, '-', '_')) is not null
    order by inhdetachpending desc nulls last, month`;
  return rows.map((row) => row.month);
}

/**
 * Drops a month without a lock that readers or writers of the log would wait for. It is hidden from the log first; then
 * its partition is detached, which waits for every transaction that may still read it. Where that takes longer than the
 * statement's timeout, the result is false, and the next call continues from there.
 */
export async function dropMonth(pool: Pool, month: string): Promise<boolean> {
  const partition = partitionOf(month);
  await hideMonth(pool, month);
  try {
    const owner = await ownerToBe(pool);
    if (owner === undefined) await remove(pool, pool, partition);
    else if (isThroughPooler(pool)) await removeInTransaction(pool, owner, partition);
    else await asOwner(pool, owner, (own) => remove(own, pool, partition));
    return true;
  } catch (error) {
    if (isBlocked(error)) return false;
    throw error;
  }
}

/** The table that holds a month's records. */
export const partitionOf = (month: string): string => `records_${month.replace('-', '_')}`;

/**
 * A condition for records of the month, by their ids: only the owner may read a partition by its name. The ids are
 * literals, so that no plan reads another month.
 */
export function isOfMonth(sql: Sql, month: string) {
  const [first, below] = [month, addMonths(month, 1)].map((each) => lowestIdAt(startOf(firstDay(each))));
  return sql.unsafe(`id >= '${first}'::uuid and id < '${below}'::uuid`);
}

/** `pending`: half detached; undefined where it is not attached. */
async function attachmentOf(sql: Sql, partition: string): Promise<'attached' | 'pending' | undefined> {
  const [attached] = await sql<{ isPending: boolean }[]>`
    select inhdetachpending as "isPending" from pg_inherits
    where inhparent = 'records'::regclass and inhrelid = to_regclass(${partition})`;
  return attached && (attached.isPending ? 'pending' : 'attached');
}

/**
 * `sql`: with the owner's rights; `sql`: with the owner's rights; `other`: another connection, which cancels the detaching
 * if it takes too long.
 */
async function remove(sql: Sql, other: Sql, partition: string): Promise<void> {
  const attachment = await attachmentOf(sql, partition);
  if (attachment === 'pending') await sql`alter table records detach partition ${sql(partition)} finalize`;
  else if (attachment) await detach(sql, other, partition);
  await sql`drop table if exists ${sql(partition)}`;
}

/**
 * Postgres does not allow this statement inside a transaction, so behind a pooler no timeout can be set for it: another
 * connection cancels it. That connection looks for `session_user`, because pg_stat_activity shows the session's user, not
 * the role set with `set role`.
 */
async function detach(sql: Sql, other: Sql, partition: string): Promise<void> {
  const statement = `alter table records detach partition ${partition} concurrently`;
  const cancel = () =>
    void other`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = session_user and query = ${statement} and state = 'active'`.catch(
      () => {},
    );
  const timer = setTimeout(cancel, detachPatience);
  await sql.unsafe(statement).finally(() => clearTimeout(timer));
}

/**
 * Behind a pooler a role can be set only within a transaction, which `concurrently` does not allow. So the lock is
 * requested repeatedly, each time for a moment, since readers and writers wait behind the request.
 */
async function removeInTransaction(sql: Pool, owner: string, partition: string): Promise<void> {
  const attachment = await attachmentOf(sql, partition);
  const how = attachment === 'pending' ? ' finalize' : '';
  const statements = [
    `set local role ${owner}`,
    ...(attachment ? [`alter table records detach partition ${partition}${how}`] : []),
    `drop table if exists ${partition}`,
  ];
  await withShortLocks(sql, statements, detachPatience);
}

/** From now on the log no longer shows this month. */
export const hideMonth = (sql: Sql, month: string) => sql`
  update record_months set dropped_at = now() where month = ${month} and dropped_at is null`;

/** Months that are not dropped, oldest first, with the epoch through which their personal fields are gone. */
export const listBlankedThrough = (sql: Sql) => sql<{ month: string; blankedThrough: number }[]>`
  select month, blanked_through as "blankedThrough" from record_months where dropped_at is null order by month`;

/** Whether records of the month were stored after it was blanked, for instance by an import. */
export async function hasPersonal(sql: Sql, month: string, blankedThrough: number): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from records where ${isOfMonth(sql, month)} and epoch > ${blankedThrough}) as found`;
  return row?.found ?? false;
}

/** From now on the month's records have no personal fields but for those that came after the epoch `through`. */
export const noteBlanked = (sql: Sql, month: string, through: number) => sql`
  update record_months set blanked_through = ${through} where month = ${month}`;
