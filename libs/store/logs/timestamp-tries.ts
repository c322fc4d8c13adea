/** When the time-stamping authority is asked: by one worker at a time, and less and less often while it fails. */
import type { Sql } from '../sql.ts';

export interface Try {
  /** tries that have failed before this one */
  failures: number;
  /** when the next one is due, should this one fail */
  nextTryAt: Date;
}

/**
 * Takes the try that is due at this time (milliseconds since 1970), if one is: undefined for everyone else. After a failure
 * the next is due in a minute, then two, four and so on up to an hour. While there is no checkpoint none is due.
 */
export async function takeTry(sql: Sql, at: number): Promise<Try | undefined> {
  const now = new Date(at);
  await sql`
    insert into timestamp_tries (next_try_at, succeeded_at)
    select ${now}::timestamptz, ${now}::timestamptz where not exists (select from timestamp_tries)
    on conflict do nothing`;
  const [taken] = await sql<Try[]>`
    update timestamp_tries set
      failures = failures + 1,
      next_try_at = ${now}::timestamptz + least(interval '1 hour', interval '1 minute' * 2 ^ least(failures, 6))
    where next_try_at <= ${now}::timestamptz
      and exists (select from logs where ended_at is null and checkpoint_size > 0)
    returning failures - 1 as failures, next_try_at as "nextTryAt"`;
  return taken;
}

export async function endTries(sql: Sql, at: number, nextTryAt: number): Promise<void> {
  await sql`
    update timestamp_tries set failures = 0, succeeded_at = ${new Date(at)}, next_try_at = ${new Date(nextTryAt)}`;
}

/** Seconds since the last success, or since the first time-stamp was wanted; 0 while there is no checkpoint. */
export async function timestampAge(sql: Sql, at: number): Promise<number> {
  const [row] = await sql<{ age: number }[]>`
    select greatest(0, extract(epoch from ${new Date(at)}::timestamptz - succeeded_at))::float8 as age
    from timestamp_tries
    where exists (select from logs where ended_at is null and checkpoint_size > 0)`;
  return row?.age ?? 0;
}
