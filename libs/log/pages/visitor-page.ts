/**
 * A page of one visitor's records, which have an index of their own. A person has few: all are read and counted at
 * once. A visitor with more, such as an id that a site sends for everybody, is reported as busy; once the worker has
 * counted their records, the pages are found by counters, like those of the whole log.
 */

import type { Sql } from '#libs/base/db/database';
import { addDays, lowestIdAt, startOf, timeOf } from '#libs/base/terms/calendar';
import { columns, joinLog, type Row } from '#libs/proof/positions';
import { domainNumberOf, joinReferences } from '#libs/record/references';
import { byTime, hasKeyOf, isAround, isVisitor } from '#libs/record/visitor-rows';
import { type Filter, firstDay, lastDay } from './counts.ts';
import { type LogPage, toPage } from './log-page.ts';

interface VisitorQuery extends Filter {
  visitorId: string;
  limit: number;
  offset?: number | undefined;
  after?: string | undefined;
}

/** Records of one visitor on one domain. A person makes a few in a year. */
const busyFrom = 1_000;

export async function readVisitorPage(
  sql: Sql,
  query: VisitorQuery,
  { readCounted, onBusy }: { readCounted: () => Promise<LogPage>; onBusy: () => void },
): Promise<LogPage> {
  const { limit, from = firstDay, to = lastDay } = query;
  const state = await findState(sql, query);
  if (state.isCounted) return readCounted();
  // without the months before the domain's first record and after its last
  const first = startOf(state.first > from ? state.first : from);
  const last = startOf(addDays(state.last < to ? state.last : to, 1));
  const range = { domainNumber: state.domainNumber, from: lowestIdAt(first), below: lowestIdAt(last) };
  const few = await readFew(sql, query, range);
  if ((few[0]?.read ?? 0) <= busyFrom) return toPage(few[0]?.total ?? 0, few, limit);
  onBusy();
  const many = await readMany(sql, query, range);
  return toPage(many[0]?.total ?? 0, many, limit);
}

interface State {
  domainNumber: number | null;
  isCounted: boolean;
  first: string;
  last: string;
}

/** Whether the visitor's records are counted, and the days of the domain's first and last record. */
async function findState(sql: Sql, { organizationId, domainId, visitorId }: VisitorQuery) {
  const edge = (order: 'asc' | 'desc') => sql`
    (
      select period from counters
      where organization_id = ${organizationId} and domain_id = ${domainId} and length(period) = 10
      order by period ${order === 'asc' ? sql`asc` : sql`desc`} limit 1
    )`;
  const [state] = await sql<State[]>`
    select
      ${domainNumberOf(sql, domainId)} as "domainNumber",
      exists (
        select from busy_visitors
        where domain_number = ${domainNumberOf(sql, domainId)} and visitor_id = ${visitorId} and counted_at is not null
      ) as "isCounted",
      coalesce(${edge('asc')}, ${lastDay}) as first, coalesce(${edge('desc')}, ${firstDay}) as last`;
  return state ?? { domainNumber: null, isCounted: false, first: lastDay, last: firstDay };
}

/** The range of ids in which the visitor may have records. */
interface Range {
  domainNumber: number | null;
  from: string;
  below: string;
}

/**
 * Reads whole records: looking them up by id afterwards would open every month again. Reads them in no order: to find the
 * newest, Postgres would sort all records of a busy visitor. Matches the hash alone, so that many ids with the same hash
 * make the visitor busy rather than the page slow.
 */
const readFew = (sql: Sql, query: VisitorQuery, range: Range) => sql<(Row & { total: number; read: number })[]>`
  with own as materialized (
    select * from records
    where ${hasKeyOf(sql, ofDomain(query, range))} and ${inRange(sql, query, range)} limit ${sql.unsafe(String(busyFrom + 1))}
  ),
  matching as materialized (select * from own where visitor_id = ${query.visitorId} and ${byDecisionAndBot(sql, query)})
  select counted.total, counted.read, ${columns(sql)}
  from (select (select count(*) from own) as read, (select count(*) from matching) as total) as counted
  left join (
    select * from matching ${afterPosition(sql, query)}
  ) as r on true
  ${joinReferences(sql)} ${joinLog(sql)}
  order by r.id desc`;

const readMany = (sql: Sql, query: VisitorQuery, range: Range) => sql<(Row & { total: number })[]>`
  with ids as materialized (
    select id from (select id from records where ${ofVisitor(sql, query, range)} and ${byDecisionAndBot(sql, query)}) as matching
    ${afterPosition(sql, query)}
  )
  select counted.total, ${columns(sql)}
  from (
    select count(*) as total from records where ${ofVisitor(sql, query, range)} and ${byDecisionAndBot(sql, query)}
  ) as counted
  left join (ids join records r on r.domain_number = ${range.domainNumber} and r.id = ids.id) on true
  ${joinReferences(sql)} ${joinLog(sql)}
  order by r.id desc`;

const ofVisitor = (sql: Sql, query: VisitorQuery, range: Range) => sql`
  ${isVisitor(sql, ofDomain(query, range))} and ${inRange(sql, query, range)}`;

const ofDomain = ({ visitorId }: VisitorQuery, { domainNumber }: Range) => ({ domain: domainNumber, visitorId });

/** One generic plan serves all visitors, so the bounds by year are inlined: they keep most months out of that plan. */
const inRange = (sql: Sql, { organizationId, domainId }: VisitorQuery, { from, below }: Range) => sql`
  (select organization_id from domains where id = ${domainId}) = ${organizationId}
  and id >= ${from} and id < ${below} and ${isAround(sql, { from, below })}
  and id >= ${sql.unsafe(`'${startOfYear(timeOf(from))}'::uuid`)}
  and id < ${sql.unsafe(`'${startOfYear(timeOf(below), 1)}'::uuid`)}`;

const startOfYear = (time: number, later = 0): string =>
  lowestIdAt(Date.UTC(new Date(time).getUTCFullYear() + later, 0));

const byDecisionAndBot = (sql: Sql, { decision, bot }: VisitorQuery) => sql`
  ${decision === undefined ? sql`true` : sql`decision = ${decision}`}
  and ${bot === undefined ? sql`true` : sql`bot = ${bot}`}`;

const afterPosition = (sql: Sql, { after, offset = 0, limit }: VisitorQuery) => sql`
  ${after === undefined ? sql`` : sql`where id < ${after}`}
  order by ${byTime(sql, 'desc')} offset ${after === undefined ? offset : 0} limit ${limit + 1}`;
