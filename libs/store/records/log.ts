/**
 * The log of a domain: pages of records, newest first. The day counters say on which days a page lies. A deep page
 * skips whole days by arithmetic, and steps over ids only within one day. Persisting changes counters and records in
 * one statement, and each statement here reads both, so totals and pages agree.
 */
import { addDays, dayOf, startOf } from '#libs/contract/calendar';
import type { Decision } from '#libs/contract/terms';
import { lowestIdAt, timeOf } from '#libs/contract/uuid';
import type { Sql } from '../sql.ts';
import { columns, type LogPage, type Row, toPage } from './full-record.ts';

interface Filter {
  organizationId: string;
  domainId: string;
  /** first and last UTC day, inclusive */
  from?: string | undefined;
  to?: string | undefined;
  decision?: Decision | undefined;
  bot?: boolean | undefined;
}

export interface LogQuery extends Filter {
  visitorId?: string | undefined;
  limit: number;
  /** how many of the newest to skip; without effect where `after` is given */
  offset?: number | undefined;
  /** the id after which to continue */
  after?: string | undefined;
}

export async function readPage(sql: Sql, query: LogQuery): Promise<LogPage> {
  const { visitorId, after, offset = 0, limit, ...filter } = query;
  // one more than a page holds tells whether another one follows
  const take = limit + 1;
  if (visitorId !== undefined) return toPage(await visitorPage(sql, filter, { visitorId, after, offset, take }), limit);
  if (after !== undefined) return toPage(await pageAfter(sql, filter, { after, take }), limit);
  return toPage(await pageAt(sql, filter, { offset, take }), limit);
}

const firstDay = '1970-01-01';
const lastDay = '9999-12-31';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * The page after the `offset` newest records. In a day it is reached from the day's newer or older end, whichever is
 * nearer; in a busy day that is over, from the last bookmark before it.
 */
function pageAt(sql: Sql, filter: Filter, { offset, take }: { offset: number; take: number }) {
  const { domainId } = filter;
  const hasBookmarks = filter.decision === undefined && filter.bot === undefined;
  return sql<Row[]>`
    with days as materialized (${matchingDays(sql, filter)}),
    parts as (
      select day, n,
        id_at(starts) as first_id,
        id_at(starts + interval '1 day') as next_day_id,
        greatest(${offset}::bigint - newer, 0) as skip,
        least(n, ${offset + take}::bigint - newer) - greatest(${offset}::bigint - newer, 0) as take
      from days
      where newer < ${offset + take}::bigint and newer + n > ${offset}::bigint
    ),
    ways as (
      select parts.take, first_id, next_day_id,
        coalesce(bookmark.id, next_day_id) as start_id,
        skip - coalesce(bookmark.newer, 0) as newer_to_skip,
        n - skip - parts.take as older_to_skip
      from parts
      left join lateral (
        select newer, id from bookmarks
        where ${hasBookmarks} and domain_id = ${domainId} and bookmarks.day = parts.day and records = n
          and newer <= skip
        order by newer desc limit 1
      ) as bookmark on true
    ),
    ids as materialized (
      select page.id
      from ways
      cross join lateral (
        (
          select id from records
          where domain_id = ${domainId} and id >= first_id and id < start_id ${ofKind(sql, filter)}
          order by id desc
          offset newer_to_skip limit case when newer_to_skip <= older_to_skip then ways.take else 0 end
        )
        union all
        (
          select id from records
          where domain_id = ${domainId} and id >= first_id and id < next_day_id ${ofKind(sql, filter)}
          order by id
          offset older_to_skip limit case when newer_to_skip > older_to_skip then ways.take else 0 end
        )
      ) as page
    )
    select counted.total, ${columns(sql)}
    from (select coalesce(sum(n), 0)::bigint as total from days) as counted
    left join (ids join records r on r.domain_id = ${domainId} and r.id = ids.id) on true
    order by r.id desc`;
}

/**
 * The page after the record `after`. Older days are left out once the days between surely fill the page; of the
 * record's own day it is not known how many are older, so it counts as none.
 */
function pageAfter(sql: Sql, filter: Filter, { after, take }: { after: string; take: number }) {
  const { domainId } = filter;
  const day = dayOf(timeOf(after));
  return sql<Row[]>`
    with days as materialized (${matchingDays(sql, filter)}),
    older_days as (
      select starts,
        coalesce(sum(n) filter (where day < ${day}) over newer_days, 0) as passed
      from days
      where day <= ${day}
      window newer_days as (order by day desc rows between unbounded preceding and 1 preceding)
    ),
    ids as materialized (
      select page.id
      from older_days
      cross join lateral (
        select id from records
        where domain_id = ${domainId} and id >= id_at(starts) and id < id_at(starts + interval '1 day')
          and id < ${after} ${ofKind(sql, filter)}
        order by id desc limit ${take}
      ) as page
      where passed < ${take}
      order by page.id desc limit ${take}
    )
    select counted.total, ${columns(sql)}
    from (select coalesce(sum(n), 0)::bigint as total from days) as counted
    left join (ids join records r on r.domain_id = ${domainId} and r.id = ids.id) on true
    order by r.id desc`;
}

/** A page of one visitor's records. They have an index of their own, which also counts them. */
function visitorPage(
  sql: Sql,
  filter: Filter,
  { visitorId, after, offset, take }: { visitorId: string; after: string | undefined; offset: number; take: number },
) {
  const { organizationId, domainId, decision, bot, from = firstDay, to = lastDay } = filter;
  const ofVisitor = sql`
    organization_id = ${organizationId} and domain_id = ${domainId} and visitor_id = ${visitorId}
    and id >= ${lowestIdAt(startOf(from))} and id < ${lowestIdAt(startOf(addDays(to, 1)))}
    ${ofKind(sql, { decision })} ${bot === undefined ? sql`` : sql`and bot = ${bot}`}`;
  return sql<Row[]>`
    with ids as materialized (
      select id from records
      where ${ofVisitor} and id < ${after ?? highestId}
      order by id desc offset ${after ? 0 : offset} limit ${take}
    )
    select counted.total, ${columns(sql)}
    from (select count(*) as total from records where ${ofVisitor}) as counted
    left join (ids join records r on r.domain_id = ${domainId} and r.id = ids.id) on true
    order by r.id desc`;
}

/** The days with matching records: how many (`n`), how many newer ones in later days, and the day's bounds as ids. */
const matchingDays = (sql: Sql, filter: Filter) => sql`
  select day, day::timestamp at time zone 'UTC' as starts, n, (sum(n) over (order by day desc) - n)::bigint as newer
  from (${countByDay(sql, filter)}) as counted
  where n > 0`;

/** Counters do not tell crawlers apart. Their records are few, and are counted with an index of their own. */
function countByDay(sql: Sql, { organizationId, domainId, decision, bot, from = firstDay, to = lastDay }: Filter) {
  const all = sql`
    select period as day, ${decision ? sql(decision) : sql`accept_all + reject_all + custom + withdraw`} as n
    from counters
    where organization_id = ${organizationId} and domain_id = ${domainId} and length(period) = 10
      and period between ${from} and ${to}
      and left(period, 7) in (select month from record_months where dropped_at is null)`;
  if (bot === undefined) return all;
  const crawlers = sql`
    select to_char(date '1970-01-01' + (milliseconds_of(id) / 86400000)::int, 'YYYY-MM-DD') as day, count(*) as n
    from records
    where domain_id = ${domainId} ${ofKind(sql, { decision, bot: true })}
    group by 1`;
  return sql`
    select day, ${bot ? sql`coalesce(crawlers.n, 0)` : sql`total.n - coalesce(crawlers.n, 0)`} as n
    from (${all}) as total left join (${crawlers}) as crawlers using (day)`;
}

/** In the statement's own text, not as parameters: a plan for any value could not use the indexes of one value only. */
function ofKind(sql: Sql, { decision, bot }: Pick<Filter, 'decision' | 'bot'>) {
  const ofDecision = {
    accept_all: sql`and decision = 'accept_all'`,
    reject_all: sql`and decision = 'reject_all'`,
    custom: sql`and decision = 'custom'`,
    withdraw: sql`and decision = 'withdraw'`,
  };
  return sql`
    ${decision ? ofDecision[decision] : sql``}
    ${bot === undefined ? sql`` : bot ? sql`and bot` : sql`and not bot`}`;
}
