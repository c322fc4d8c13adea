/**
 * What is due, by the clock of Postgres: the only one that all processes share. It may have been wrong itself when a time
 * was noted, so one that lies further ahead than it can counts as reached. `clock_timestamp()` itself would keep Postgres
 * from looking a time up in an index.
 */
import type { Sql } from './database.ts';

type Fragment = ReturnType<Sql>;

/** Whether the time was reached. `longest`: the milliseconds that it is ahead at most when it is noted. */
export const hasPassed = (sql: Sql, time: Fragment, longest: number): Fragment => sql`
  (${time} <= statement_timestamp() or ${time} > statement_timestamp() + ${longest} * interval '1 ms')`;

/**
 * Now, for what goes for good by its age: the earlier of Postgres' clock and of `here`, this process', since either may
 * have stepped ahead just now.
 */
export const earlierNow = (sql: Sql, here: Date): Fragment => sql`least(statement_timestamp(), ${here}::timestamptz)`;

/** So many milliseconds from now. */
export const fromNow = (sql: Sql, milliseconds: number): Fragment => sql`
  (statement_timestamp() + ${milliseconds} * interval '1 ms')`;

/** `YYYY-MM` */
export const thisMonth = (sql: Sql): Fragment => sql`to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM')`;
