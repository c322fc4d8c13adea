/** When the time-stamping authority is asked: by one worker at a time, and less and less often while it fails. */

import type { Sql } from '#libs/base/db/database';
import { isReached } from '#libs/base/db/due';

/** Milliseconds to the next day, and until all installations have asked on it. */
const longest = 25 * 60 * 60 * 1_000;

export interface Try {
  /** tries that have failed before this one */
  failures: number;
  /** when the next one is due, should this one fail */
  nextTryAt: Date;
}

/**
 * Takes the try that is due, if one is: undefined for everyone else. After a failure
 * the next is due in a minute, then two, four and so on up to an hour. While there is no checkpoint none is due.
 */
export async function takeTry(sql: Sql): Promise<Try | undefined> {
  await sql`
    insert into timestamp_tries (next_try_at, succeeded_at)
    select clock_timestamp(), clock_timestamp() where not exists (select from timestamp_tries)
    on conflict do nothing`;
  const [taken] = await sql<Try[]>`
    update timestamp_tries set
      failures = failures + 1,
      succeeded_at = least(succeeded_at, clock_timestamp()),
      next_try_at = clock_timestamp() + least(interval '1 hour', interval '1 minute' * 2 ^ least(failures, 6))
    where ${isReached(sql, sql`next_try_at`, longest)}
      and exists (select from logs where ended_at is null and checkpoint_size > 0)
    returning failures - 1 as failures, next_try_at as "nextTryAt"`;
  return taken;
}

/** `after`: milliseconds of the next UTC day before the next try is due. */
export async function endTries(sql: Sql, after: number): Promise<void> {
  await sql`
    update timestamp_tries set failures = 0, succeeded_at = clock_timestamp(),
      next_try_at = (date_trunc('day', clock_timestamp() at time zone 'UTC') + interval '1 day') at time zone 'UTC'
        + ${after} * interval '1 ms'`;
}

/** Seconds since the last success, or since the first time-stamp was wanted; 0 while there is no checkpoint. */
export async function timestampAge(sql: Sql): Promise<number> {
  const [row] = await sql<{ age: number }[]>`
    select greatest(0, extract(epoch from clock_timestamp() - succeeded_at))::float8 as age
    from timestamp_tries
    where exists (select from logs where ended_at is null and checkpoint_size > 0)`;
  return row?.age ?? 0;
}
