/**
 * Closes epochs. A transaction that stores records stamps the open epoch's number on them; once the epoch is closed, no
 * further record can have that number, so its records can be derived. Closing takes two steps: new transactions stamp the
 * next number, then we wait for those that still stamp this one.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { isBlocked, isForbidden } from '#libs/base/db/errors';
import type { Log } from '#libs/base/ops/process-log';

/**
 * `in the way`: a transaction that stores records, or that called `holdEpoch`, kept the epoch open for longer than
 * `patience`.
 */
type Closing = 'closed' | 'not yet' | 'in the way';

interface Timing {
  /** milliseconds that must have passed since the last epoch was closed */
  pace: number;
  /** milliseconds to wait for transactions that still keep the epoch open */
  patience: number;
}

/**
 * Closes the open epoch, unless another process is doing so or the last one was closed too recently. Transactions that
 * store records do not wait for it, except the first time after the migration that added `filling`.
 */
export async function closeEpoch(db: Database, timing: Timing): Promise<Closing> {
  if (!(await db.write((sql) => beginClosing(sql, timing)))) return 'not yet';
  try {
    return await db.transaction((sql) => endClosing(sql, timing));
  } catch (error) {
    if (isBlocked(error)) return 'in the way';
    throw error;
  }
}

/**
 * Sets `filling`, the number that new transactions stamp, to the next one. While `filling` is null (before the first
 * closing after the migration that added it), it changes nothing. Returns false if another process is closing the epoch, or
 * the last one was closed too recently. If a clock that was ahead gave an epoch a closing time in the future, that time is
 * set to now.
 */
async function beginClosing(sql: Sql, { pace }: Timing): Promise<boolean> {
  const [turn] = await sql<{ isDue: boolean }[]>`
    with turn as materialized (
      select pg_try_advisory_xact_lock(hashtext('assent.close_epoch')) and not exists (
        select from closed_epochs
        where closed_at > clock_timestamp() - ${pace} * interval '1 ms' and closed_at <= clock_timestamp()
      ) as is_due
    ),
    aged as (
      update closed_epochs set closed_at = clock_timestamp() from turn where is_due and closed_at > clock_timestamp()
    ),
    begun as (update epochs set filling = open + 1 from turn where is_due and filling <= open)
    select is_due as "isDue" from turn`;
  return turn?.isDue ?? false;
}

/**
 * Milliseconds to wait in the first closing after the migration that added `filling` (it is still null). That closing takes
 * the lock of all epochs, and every transaction that stores records queues behind it, so the wait is short.
 */
const migrationPatience = 200;

async function endClosing(sql: Sql, { patience }: Timing): Promise<Closing> {
  const [epoch] = await sql<{ open: number; filling: number | null; isMine: boolean }[]>`
    select open, filling, pg_try_advisory_xact_lock(hashtext('assent.close_epoch')) as "isMine" from epochs`;
  if (!epoch) throw new Error('there is no open epoch');
  const { open, filling, isMine } = epoch;
  // transactions begun before the migration hold only the lock of all epochs, not that of this epoch
  const isFirst = filling === null;
  if (!isMine || (!isFirst && filling <= open)) return 'not yet';
  await sql`
    select set_config('lock_timeout', ${String(isFirst ? Math.min(patience, migrationPatience) : patience)}, true),
      ${isFirst ? sql`pg_advisory_xact_lock(hashtext('assent.epoch'))` : sql`pg_advisory_xact_lock(hashtext('assent.epoch'), ${open}::integer)`}`;
  // another process may have closed it before the lock was ours
  const closed = await sql`
    with closed as (
      update epochs set open = open + 1, filling = coalesce(filling, open + 1) where open = ${open} returning open - 1 as epoch
    )
    insert into closed_epochs (epoch) select epoch from closed`;
  return closed.count === 1 ? 'closed' : 'not yet';
}

interface InTheWay {
  pid: number;
  /** the process's name for its connections */
  name: string;
  /** seconds since its transaction began */
  seconds: number;
  /**
   * It has committed, and waits only for a synchronous standby. If it were ended, others would see a commit that the
   * standby may lack.
   */
  waitsForStandby: boolean;
}

/** The transactions that keep the open epoch from being closed, oldest first. */
export const listInTheWay = (sql: Sql): Promise<InTheWay[]> => sql<InTheWay[]>`
  select activity.pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds,
    coalesce(wait_event = 'SyncRep', false) as "waitsForStandby"
  from pg_locks join pg_stat_activity as activity using (pid)
  where locktype = 'advisory' and mode = 'ShareLock' and granted
    and pg_locks.database = (select oid from pg_database where datname = current_database())
    and case (select filling is null from epochs)
      when true then pg_locks.objsubid = 1 and (classid::bigint << 32 | objid::bigint) = hashtext('assent.epoch')
      else pg_locks.objsubid = 2 and classid::bigint = (hashtext('assent.epoch')::bigint & 4294967295)
        and objid::bigint = (select open from epochs)
    end
  order by xact_start`;

/**
 * Ends a connection. Returns false if Postgres forbids it: the connection is a superuser's (an operator's command, say),
 * and we are not a superuser.
 */
async function endConnection(sql: Sql, pid: number): Promise<boolean> {
  try {
    await sql`select pg_terminate_backend(${pid})`;
    return true;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw error;
  }
}

/** milliseconds */
const closingPatience = { first: 200, most: 5_000 };

interface ClosingParts {
  db: Database;
  log: Pick<Log, 'warn' | 'error'>;
  /** milliseconds that an epoch stays open at least */
  pace: number;
  /** Seconds after which a connection of ours that is still in the way is ended. */
  endAfterSeconds?: number;
}

/** Returns a function, to be called once a second, that closes the open epoch on time and returns whether it closed one. */
export function createClosing({ db, log, pace, endAfterSeconds: longest = 30 }: ClosingParts): () => Promise<boolean> {
  let wait = closingPatience.first;
  return async () => {
    const closing = await closeEpoch(db, { pace, patience: wait });
    if (closing === 'closed') wait = closingPatience.first;
    if (closing !== 'in the way') return closing === 'closed';
    wait = Math.min(wait * 2, closingPatience.most);
    const inTheWay = await db.read(listInTheWay);
    log.warn(
      { event: 'epoch_stays_open', inTheWay },
      'an epoch could not be closed: a transaction that keeps it open is taking long',
    );
    for (const { pid, name, seconds, waitsForStandby } of inTheWay) {
      if (seconds < longest || waitsForStandby || !name.startsWith('assent-')) continue;
      if (await db.write((sql) => endConnection(sql, pid)))
        log.error({ event: 'connection_ended', pid, name, seconds }, 'ended a connection that kept an epoch open');
    }
    return false;
  };
}
