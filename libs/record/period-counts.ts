/** What statements share that count records by period and decision, as every table of counters does. */
import type { Sql } from '#libs/base/db/database';

/** For each record two rows: `level.period` is the UTC day and the month of its id. */
export const joinPeriods = (sql: Sql) => sql`
  cross join lateral (
    select to_char(date '1970-01-01' + (milliseconds_of(id) / 86400000)::int, 'YYYY-MM-DD') as day
  ) as decided
  cross join lateral (values (decided.day), (left(decided.day, 7))) as level (period)`;

export const countDecisions = (sql: Sql) => sql`
  count(*) filter (where decision = 'accept_all') as accept_all,
  count(*) filter (where decision = 'reject_all') as reject_all,
  count(*) filter (where decision = 'custom') as custom,
  count(*) filter (where decision = 'withdraw') as withdraw`;

/** For the `do update` of counters `c`. */
export const addExcluded = (sql: Sql) => sql`
  accept_all = c.accept_all + excluded.accept_all,
  reject_all = c.reject_all + excluded.reject_all,
  custom = c.custom + excluded.custom,
  withdraw = c.withdraw + excluded.withdraw`;
