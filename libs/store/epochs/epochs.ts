/**
 * Epochs: closed sets of stored records. Who persists stamps the open epoch's number on its rows; once it is closed no
 * further record can have that number, and whatever is derived from its records may begin.
 */
import { isInTheWay } from '../errors.ts';
import type { Database, Sql } from '../sql.ts';

/** `in the way`: a transaction that stores records lasted longer than `patience`. */
export type Closing = 'closed' | 'not yet' | 'in the way';

/**
 * Closes the open epoch, unless another process is about to, or the last one was closed less than `every` milliseconds
 * ago. Whoever persists meanwhile waits, hence the `patience` (milliseconds).
 */
export function closeEpoch(db: Database, { every, patience }: { every: number; patience: number }): Promise<Closing> {
  return db.run((sql) =>
    sql.begin(async (transaction): Promise<Closing> => {
      const [turn] = await transaction<{ isDue: boolean; isAhead: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtext('assent.close_epoch')) and not exists (
          select from closed_epochs
          where closed_at > clock_timestamp() - ${every} * interval '1 ms' and closed_at <= clock_timestamp()
        ) as "isDue", exists (select from closed_epochs where closed_at > clock_timestamp()) as "isAhead"`;
      if (!turn?.isDue) return 'not yet';
      // the clock was ahead, and no age is known: each counts from now on
      if (turn.isAhead)
        await transaction`
          update closed_epochs set closed_at = clock_timestamp() where closed_at > clock_timestamp()`;
      await transaction`select set_config('lock_timeout', ${String(patience)}, true)`;
      try {
        await transaction.savepoint((lock) => lock`select pg_advisory_xact_lock(hashtext('assent.epoch'))`);
      } catch (error) {
        if (isInTheWay(error)) return 'in the way';
        throw error;
      }
      await transaction`
        with closed as (update epochs set open = open + 1 returning open - 1 as epoch)
        insert into closed_epochs (epoch) select epoch from closed`;
      return 'closed';
    }),
  );
}

export interface InTheWay {
  pid: number;
  /** the process's name for its connections */
  name: string;
  /** seconds since its transaction began */
  seconds: number;
  /** It has committed, and waits for a synchronous standby. To end it would let others take that for done. */
  waitsForStandby: boolean;
}

/** The transactions that keep the open epoch from being closed, oldest first. */
export const listInTheWay = (sql: Sql): Promise<InTheWay[]> => sql<InTheWay[]>`
  select activity.pid, application_name as name, extract(epoch from clock_timestamp() - xact_start)::float8 as seconds,
    coalesce(wait_event = 'SyncRep', false) as "waitsForStandby"
  from pg_locks join pg_stat_activity as activity using (pid)
  where locktype = 'advisory' and mode = 'ShareLock' and granted and pg_locks.objsubid = 1
    and pg_locks.database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = hashtext('assent.epoch')
  order by xact_start`;

export async function endConnection(sql: Sql, pid: number): Promise<void> {
  await sql`select pg_terminate_backend(${pid})`;
}

/** The newest closed epoch, 0 for none. */
export async function lastClosedEpoch(sql: Sql): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`select open - 1 as epoch from epochs`;
  return row?.epoch ?? 0;
}

/** Seconds since the oldest closed epoch was closed that is newer than `epoch`; 0 where there is none. */
export async function secondsBehind(sql: Sql, epoch: number): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select greatest(0, extract(epoch from clock_timestamp() - closed_at))::float8 as seconds
    from closed_epochs where epoch > ${epoch} order by epoch limit 1`;
  return row?.seconds ?? 0;
}

/** Forgets when epochs before `epoch` were closed, but for the last one. */
export async function forgetEpochs(sql: Sql, epoch: number): Promise<void> {
  await sql`delete from closed_epochs where epoch < ${epoch} and epoch < (select open - 1 from epochs)`;
}
