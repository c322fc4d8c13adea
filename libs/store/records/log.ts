/**
 * The log: pages of records, newest first. The day counters tell on which days a page lies, so a deep page skips whole
 * days by arithmetic and steps over ids only within a day, from its nearer end or, where the day is a busy one that is
 * over, from a bookmark. Counters and records change in one statement and are read in one, so totals and pages agree.
 */
import { dayOf } from '#libs/contract/calendar';
import type { FullRecord } from '#libs/contract/responses';
import type { Decision } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import type { Sql } from '../sql.ts';

export interface LogQuery {
  organizationId: string;
  domainId: string;
  /** first and last UTC day, inclusive */
  from?: string | undefined;
  to?: string | undefined;
  decision?: Decision | undefined;
  visitorId?: string | undefined;
  bot?: boolean | undefined;
  limit: number;
  /** how many of the newest to skip, or the id after which to continue */
  offset?: number | undefined;
  after?: string | undefined;
}

export interface LogPage {
  total: number;
  /** up to `limit` */
  records: FullRecord[];
  /** whether older ones follow */
  more: boolean;
}

type Row = Omit<FullRecord, 'decidedAt' | 'receivedAt'> & { receivedAt: Date };

const columns = (sql: Sql) => sql`
  r.id, r.domain_id as "domainId", r.decision, r.received_at as "receivedAt", r.visitor_id as "visitorId",
  r.preferences, r.source, r.banner_version as "bannerVersion", r.policy_version as "policyVersion", r.language,
  r.page_url as "pageUrl", r.country, r.ip, r.user_agent as "userAgent", r.tc_string as "tcString",
  r.gpp_string as "gppString", r.gpc, r.metadata, r.bot`;

const toRecord = (row: Row): FullRecord => ({
  id: row.id,
  domainId: row.domainId,
  decision: row.decision,
  decidedAt: new Date(timeOf(row.id)).toISOString(),
  receivedAt: row.receivedAt.toISOString(),
  visitorId: row.visitorId,
  preferences: row.preferences,
  source: row.source,
  bannerVersion: row.bannerVersion,
  policyVersion: row.policyVersion,
  language: row.language,
  pageUrl: row.pageUrl,
  country: row.country,
  ip: row.ip,
  userAgent: row.userAgent,
  tcString: row.tcString,
  gppString: row.gppString,
  gpc: row.gpc,
  metadata: row.metadata,
  bot: row.bot,
});

/** One row more than asked for tells whether older records follow. */
function toPage(rows: (Row & { total: number })[], limit: number): LogPage {
  const found = rows.filter((row) => row.id !== null);
  return { total: rows[0]?.total ?? 0, records: found.slice(0, limit).map(toRecord), more: found.length > limit };
}

export async function readPage(sql: Sql, query: LogQuery): Promise<LogPage> {
  const rows = query.visitorId === undefined ? await pageByDays(sql, query) : await pageOfVisitor(sql, query);
  return toPage(rows, query.limit);
}

/** In the statement's own text: a plan for any value could not use the index that only withdrawals have. */
const isDecision = (sql: Sql, decision: Decision) =>
  ({
    accept_all: sql`decision = 'accept_all'`,
    reject_all: sql`decision = 'reject_all'`,
    custom: sql`decision = 'custom'`,
    withdraw: sql`decision = 'withdraw'`,
  })[decision];

const noLowerDay = '0000-00-00';
const noUpperDay = '9999-12-31';

function pageByDays(sql: Sql, query: LogQuery) {
  const { organizationId, domainId, decision, bot, from = noLowerDay, to = noUpperDay, after } = query;
  const take = query.limit + 1;
  const offset = query.offset ?? 0;
  const counted = decision ? sql`${sql(decision)}` : sql`accept_all + reject_all + custom + withdraw`;
  const ofDecision = decision ? sql`and ${isDecision(sql, decision)}` : sql``;
  const ofBots = bot === undefined ? sql`` : bot ? sql`and bot` : sql`and not bot`;
  // counters do not tell crawlers apart; their records are few and counted from an index of their own
  const count = bot === undefined ? counted : bot ? sql`coalesce(bots.n, 0)` : sql`${counted} - coalesce(bots.n, 0)`;
  const joinBots =
    bot === undefined
      ? sql``
      : sql`
        left join (
          select to_char(date '1970-01-01' + (milliseconds_of(id) / 86400000)::int, 'YYYY-MM-DD') as period, count(*) as n
          from records where domain_id = ${domainId} and bot ${ofDecision}
          group by 1
        ) as bots using (period)`;
  const dayEnds = sql`id_at(starts + interval '1 day')`;
  const inDay = (before: typeof dayEnds) => sql`
    domain_id = ${domainId} and id >= id_at(starts) and id < ${before} ${ofDecision} ${ofBots}`;
  const hasBookmarks = decision === undefined && bot === undefined;
  const ids = after
    ? sql`
        select older.id
        from (
          select starts, coalesce(sum(n) filter (where period < ${dayOf(timeOf(after))}) over newer, 0) as before
          from days where period <= ${dayOf(timeOf(after))}
          window newer as (order by period desc rows between unbounded preceding and 1 preceding)
        ) as day
        cross join lateral (
          select id from records where ${inDay(dayEnds)} and id < ${after} order by id desc limit ${take}
        ) as older
        where day.before < ${take}
        order by older.id desc limit ${take}`
    : sql`
        select page.id
        from (
          select period, starts, n, greatest(${offset}::bigint - before, 0) as skip,
            least(n, ${offset}::bigint + ${take}::bigint - before) - greatest(${offset}::bigint - before, 0) as take
          from days where before < ${offset}::bigint + ${take}::bigint and before + n > ${offset}::bigint
        ) as day
        left join lateral (
          select newer, id from bookmarks
          where ${hasBookmarks} and domain_id = ${domainId} and bookmarks.day = period and records = n and newer <= skip
          order by newer desc limit 1
        ) as bookmark on true
        cross join lateral (
          select skip - coalesce(newer, 0) as newer_to_skip, n - skip - day.take as older_to_skip
        ) as steps
        cross join lateral (
          (select id from records where ${inDay(sql`coalesce(bookmark.id, ${dayEnds})`)}
           order by id desc
           offset newer_to_skip limit case when newer_to_skip <= older_to_skip then day.take else 0 end)
          union all
          (select id from records where ${inDay(dayEnds)}
           order by id
           offset older_to_skip limit case when newer_to_skip > older_to_skip then day.take else 0 end)
        ) as page`;
  return sql<(Row & { total: number })[]>`
    with days as materialized (
      select period, period::timestamp at time zone 'UTC' as starts, ${count} as n,
        (sum(${count}) over (order by period desc) - (${count}))::bigint as before
      from counters ${joinBots}
      where organization_id = ${organizationId} and domain_id = ${domainId} and length(period) = 10 and ${count} > 0
        and period between ${from} and ${to} and left(period, 7) in (select month from record_months where dropped_at is null)
    ),
    ids as materialized (${ids})
    select (select coalesce(sum(n), 0)::bigint from days) as total, ${columns(sql)}
    from (select) as always
    left join (ids join records r on r.domain_id = ${domainId} and r.id = ids.id) on true
    order by r.id desc`;
}

function pageOfVisitor(sql: Sql, query: LogQuery) {
  const { organizationId, domainId, visitorId, decision, bot, from, to, after } = query;
  const matches = sql`
    organization_id = ${organizationId} and domain_id = ${domainId} and visitor_id = ${visitorId ?? ''}
    ${decision ? sql`and ${isDecision(sql, decision)}` : sql``} ${bot === undefined ? sql`` : sql`and bot = ${bot}`}
    ${from ? sql`and id >= id_at(${from}::timestamp at time zone 'UTC')` : sql``}
    ${to ? sql`and id < id_at((${to}::timestamp + interval '1 day') at time zone 'UTC')` : sql``}`;
  return sql<(Row & { total: number })[]>`
    with ids as materialized (
      select id from records where ${matches} ${after ? sql`and id < ${after}` : sql``}
      order by id desc offset ${after ? 0 : (query.offset ?? 0)} limit ${query.limit + 1}
    )
    select (select count(*) from records where ${matches}) as total, ${columns(sql)}
    from (select) as always
    left join (ids join records r on r.domain_id = ${domainId} and r.id = ids.id) on true
    order by r.id desc`;
}

/** Records of all the organization's domains from `from` to `to` (UTC days, inclusive), newest first. */
export async function readOrganizationPage(
  sql: Sql,
  query: {
    organizationId: string;
    from: string;
    to: string;
    limit: number;
    /** the record after which to continue; several domains may have one with the same id */
    after?: { id: string; domainId: string } | undefined;
  },
): Promise<LogPage> {
  const { organizationId, from, to, limit, after } = query;
  const rows = await sql<(Row & { total: number })[]>`
    with newest as materialized (
      select * from records
      where organization_id = ${organizationId} and id >= id_at(${from}::timestamp at time zone 'UTC')
        and id < id_at((${to}::timestamp + interval '1 day') at time zone 'UTC')
        ${after ? sql`and (id, domain_id) < (${after.id}, ${after.domainId})` : sql``}
      order by id desc, domain_id desc limit ${limit + 1}
    )
    select
      (select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::bigint from counters
       where organization_id = ${organizationId} and domain_id = '' and length(period) = 10
         and period between ${from} and ${to}) as total,
      ${columns(sql)}
    from (select) as always left join newest r on true
    order by r.id desc, r.domain_id desc`;
  return toPage(rows, limit);
}
