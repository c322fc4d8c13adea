/**
 * Times by the clock of Postgres, the only one that all processes share. Not `clock_timestamp()`: Postgres could not use an
 * index for it.
 */
import type { Sql } from './database.ts';

type Fragment = ReturnType<Sql>;

/**
 * Whether the time has passed. `longest`: how many milliseconds it can be in the future when it is stored. A later one was
 * stored while the clock was wrong, so it counts as past.
 */
export const hasPassed = (sql: Sql, time: Fragment, longest: number): Fragment => sql`
  (${time} <= statement_timestamp() or ${time} > statement_timestamp() + ${longest} * interval '1 ms')`;

/**
 * Now, for deleting by age: the earlier of Postgres' clock and this process' (`here`), since either may just have stepped
 * ahead.
 */
export const earlierNow = (sql: Sql, here: Date): Fragment => sql`least(statement_timestamp(), ${here}::timestamptz)`;

export const fromNow = (sql: Sql, milliseconds: number): Fragment => sql`
  (statement_timestamp() + ${milliseconds} * interval '1 ms')`;

/** `YYYY-MM` */
export const thisMonth = (sql: Sql): Fragment => sql`to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM')`;
