/**
 * Where a page of the log is: on which days its records are, and where in these days, from counters alone. Counters of
 * months lead to the months of the page, so counters of days are read only for these.
 */

import type { Sql } from '#libs/base/db/database';
import { dayOf, monthOfDay, timeOf } from '#libs/base/terms/calendar';
import { domainNumberOf } from '#libs/record/references';
import { daysIn, type Filter, matchingMonths } from './counts.ts';

/** A range of ids within one day, and which of its matching records belong to the page. */
interface Slice {
  from: string;
  below: string;
  skip: number;
  take: number;
  /** the end from which to skip and take */
  oldestFirst: boolean;
}

export interface Slices {
  domainNumber: number;
  total: number;
  slices: Slice[];
}

/** The page after the `offset` newest records. A day is entered from its newer or older end, whichever is nearer. */
export async function slicesAt(
  sql: Sql,
  filter: Filter,
  { offset, take }: { offset: number; take: number },
): Promise<Slices> {
  const [found] = await sql<Slices[]>`
    with months as materialized (${matchingMonths(sql, filter)}),
    days as (
      ${daysIn(sql, filter, sql`select * from months where newer < ${offset + take}::bigint and newer + n > ${offset}::bigint`)}
    ),
    parts as (
      select n, id_at(starts) as first_id, id_at(starts + interval '1 day') as next_day_id,
        greatest(${offset}::bigint - newer, 0) as skip,
        least(n, ${offset + take}::bigint - newer) - greatest(${offset}::bigint - newer, 0) as take
      from days
      where newer < ${offset + take}::bigint and newer + n > ${offset}::bigint
    ),
    ends as (select *, n - skip - take as older_to_skip from parts)
    select
      ${domainNumberOf(sql, filter.domainId)} as "domainNumber",
      (select coalesce(sum(n), 0)::bigint from months) as total,
      (
        select coalesce(json_agg(json_build_object(
          'from', first_id, 'below', next_day_id, 'skip', least(skip, older_to_skip), 'take', take,
          'oldestFirst', skip > older_to_skip
        )), '[]')
        from ends
      ) as slices`;
  return found ?? { domainNumber: 0, total: 0, slices: [] };
}

/**
 * The page after the record `after`. Older days are left out once the days before them surely fill the page. How many
 * records of `after`'s own day are older than it is unknown, so that day counts as none.
 */
export async function slicesAfter(
  sql: Sql,
  filter: Filter,
  { after, take }: { after: string; take: number },
): Promise<Slices> {
  const day = dayOf(timeOf(after));
  const [found] = await sql<Slices[]>`
    with months as materialized (${matchingMonths(sql, filter)}),
    older_months as (
      select *, coalesce(sum(n) filter (where month < ${monthOfDay(day)}) over newer_months, 0) as passed
      from months
      where month <= ${monthOfDay(day)}
      window newer_months as (order by month desc rows between unbounded preceding and 1 preceding)
    ),
    days as (${daysIn(sql, filter, sql`select * from older_months where passed < ${take}::bigint`)}),
    older_days as (
      select starts, coalesce(sum(n) filter (where day < ${day}) over newer_days, 0) as passed
      from days
      where day <= ${day}
      window newer_days as (order by day desc rows between unbounded preceding and 1 preceding)
    )
    select
      ${domainNumberOf(sql, filter.domainId)} as "domainNumber",
      (select coalesce(sum(n), 0)::bigint from months) as total,
      (
        select coalesce(json_agg(json_build_object(
          'from', id_at(starts), 'below', least(id_at(starts + interval '1 day'), ${after}::uuid),
          'skip', 0, 'take', ${take}::bigint, 'oldestFirst', false
        )), '[]')
        from older_days
        where passed < ${take}::bigint
      ) as slices`;
  return found ?? { domainNumber: 0, total: 0, slices: [] };
}
