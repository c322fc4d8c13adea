/** How many records of a log match a filter, by month and day: of the domain, its crawlers, or a busy visitor. */

import type { Sql } from '#libs/base/db/database';
import { cover, isMonth, monthOfDay, type Span } from '#libs/base/terms/calendar';
import type { Decision } from '#libs/base/terms/terms';
import { domainNumberOf } from '#libs/record/references';

export interface Filter {
  organizationId: string;
  domainId: string;
  /** first and last UTC day, inclusive */
  from?: string | undefined;
  to?: string | undefined;
  decision?: Decision | undefined;
  bot?: boolean | undefined;
  /** a busy visitor, whose records are counted */
  visitorId?: string | undefined;
}

export const firstDay = '1970-01-01';
export const lastDay = '9999-12-31';

/** The months with matching records: how many match (`n`), and how many match in later months (`newer`). */
export const matchingMonths = (sql: Sql, filter: Filter) => {
  const { from = firstDay, to = lastDay } = filter;
  const parts = cover(from, to).map((span) =>
    isMonth(span.from) ? wholeMonths(sql, filter, span) : edge(sql, filter, span),
  );
  const counted = parts.reduce((list, part) => sql`${list} union all ${part}`);
  return sql`
    select month, n, (sum(n) over (order by month desc) - n)::bigint as newer from (${counted}) as counted where n > 0`;
};

const wholeMonths = (sql: Sql, filter: Filter, { from, to }: Span) => sql`
  select month, matching.n
  from record_months join counters on ${ofDomain(sql, filter)} and period = month ${matching(sql, filter)}
  where dropped_at is null and month between ${from} and ${to}`;

/** The days of a month that is not wanted as a whole. */
const edge = (sql: Sql, filter: Filter, { from, to }: Span) => sql`
  select month, sum(matching.n)::bigint as n
  from record_months
  join counters on ${ofDomain(sql, filter)} and period between ${from} and ${to} and length(period) = 10
  ${matching(sql, filter)}
  where dropped_at is null and month = ${monthOfDay(from)}
  group by month`;

/** The days of these months with matching records: how many match (`n`), and how many match on later days (`newer`). */
export const daysIn = (sql: Sql, filter: Filter, months: ReturnType<Sql>) => sql`
  select day, day::timestamp at time zone 'UTC' as starts, n,
    (newer + sum(n) over (partition by month order by day desc) - n)::bigint as newer
  from (
    select month, newer, period as day, matching.n
    from (${months}) as months
    join counters on ${ofDomain(sql, filter)} and period between month || '-01' and month || '-31'
    ${matching(sql, filter)}
    where period between ${filter.from ?? firstDay} and ${filter.to ?? lastDay}
  ) as counted
  where n > 0`;

/** Restricted to the organization, so that another one's counters are never read. */
const ofDomain = (sql: Sql, { organizationId, domainId }: Filter) =>
  sql`counters.organization_id = ${organizationId} and counters.domain_id = ${domainId}`;

/** The number of a period's records in `counters` that match, as `matching.n`. */
function matching(sql: Sql, { domainId, decision, bot, visitorId }: Filter) {
  const count = decision
    ? sql`counted.${sql(decision)}`
    : sql`counted.accept_all + counted.reject_all + counted.custom + counted.withdraw`;
  const all = sql`(select ${count} as n from (select counters.*) as counted)`;
  const ofCrawlers = sql`
    (
      select ${count} as n from crawler_counters as counted
      where counted.domain_number = ${domainNumberOf(sql, domainId)} and counted.period = counters.period
    )`;
  const ofVisitor = sql`
    (
      select sum(${count})::bigint as n from visitor_counters as counted
      where counted.domain_number = ${domainNumberOf(sql, domainId)} and counted.visitor_id = ${visitorId ?? null}
        and counted.period = counters.period ${bot === undefined ? sql`` : sql`and counted.bot = ${bot}`}
    )`;
  if (visitorId !== undefined) return sql`cross join lateral ${ofVisitor} as matching`;
  if (bot === undefined) return sql`cross join lateral ${all} as matching`;
  if (bot) return sql`cross join lateral ${ofCrawlers} as matching`;
  return sql`
    cross join lateral (
      select known.n - coalesce(${ofCrawlers}, 0) as n from ${all} as known
    ) as matching`;
}
