/**
 * The log of a domain: pages of records, newest first. The day counters say on which days a page lies. A deep page skips
 * whole days by arithmetic, and steps over ids only within one day. Records and their counters are stored in one statement,
 * and a page reads both in one snapshot: totals and pages agree.
 *
 * Counters are read first, so that the statement that reads records names the range of ids: Postgres then plans, locks and
 * opens the few months in that range, however many there are.
 */

import type { Sql } from '#libs/base/db/database';
import { lowestIdAt } from '#libs/base/terms/calendar';
import type { Decision } from '#libs/base/terms/terms';
import { columns, joinLog, type Row } from '#libs/proof/positions';
import { joinReferences } from '#libs/record/references';
import { byTime, isAround, isVisitor } from '#libs/record/visitor-rows';
import { type Filter, firstDay, lastDay } from './pages/counts.ts';
import { type LogPage, toPage } from './pages/log-page.ts';
import { type Slices, slicesAfter, slicesAt } from './pages/slices.ts';
import { readVisitorPage } from './pages/visitor-page.ts';

export interface LogQuery extends Filter {
  limit: number;
  /** how many of the newest to skip; ignored with `after` */
  offset?: number | undefined;
  /** the id after which to continue */
  after?: string | undefined;
}

/**
 * Call this in a snapshot, because a page takes several statements. `onBusyVisitor`: the visitor has so many records
 * that the worker should count them (`noteBusyVisitor`).
 */
export async function readPage(
  sql: Sql,
  query: LogQuery,
  onBusyVisitor: (visitorId: string) => void = () => {},
): Promise<LogPage> {
  const { visitorId } = query;
  const readCounted = () => readCountedPage(sql, query);
  if (visitorId === undefined) return readCounted();
  return readVisitorPage(sql, { ...query, visitorId }, { readCounted, onBusy: () => onBusyVisitor(visitorId) });
}

/** A page of records that counters count. It reads one record more, to learn whether another page follows. */
async function readCountedPage(sql: Sql, { limit, offset = 0, after, ...filter }: LogQuery): Promise<LogPage> {
  const take = limit + 1;
  if ((filter.from ?? firstDay) > (filter.to ?? lastDay)) return toPage(0, [], limit);
  // a generic plan expects few records per visitor, and would sort all of a busy visitor's
  if (filter.visitorId !== undefined) await sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`;
  const found = after ? await slicesAfter(sql, filter, { after, take }) : await slicesAt(sql, filter, { offset, take });
  return toPage(found.total, await readSlices(sql, filter, found, take), limit);
}

/** All slices lie between the parameters `from` and `below`, so Postgres skips the partitions of all other months. */
function readSlices(sql: Sql, filter: Filter, { domainNumber, slices }: Slices, take: number): Promise<Row[]> {
  const { visitorId } = filter;
  const inSlice = { from: sql`slice.from`, below: sql`slice.below` };
  const ofVisitor = (id: string) => sql`
    and ${isVisitor(sql, { domain: domainNumber, visitorId: id })} and ${isAround(sql, inSlice)}`;
  const byId = { asc: sql`id`, desc: sql`id desc` };
  const from = slices.reduce((least, slice) => (slice.from < least ? slice.from : least), highestId);
  const below = slices.reduce((most, slice) => (slice.below > most ? slice.below : most), lowestId);
  const matching = (direction: 'asc' | 'desc') => sql`
    select id from records
    where domain_number = ${domainNumber} and id >= ${from} and id < ${below} and id >= slice.from and id < slice.below
      ${byDecisionAndBot(sql, filter)} ${visitorId === undefined ? sql`` : ofVisitor(visitorId)}
    order by ${visitorId === undefined ? byId[direction] : byTime(sql, direction)}
    offset slice.skip`;
  return sql<Row[]>`
    with ids as materialized (
      select page.id
      from json_to_recordset(${JSON.stringify(slices)}::text::json)
        as slice ("from" uuid, below uuid, skip bigint, take bigint, "oldestFirst" boolean)
      cross join lateral (
        (${matching('desc')} limit case when slice."oldestFirst" then 0 else slice.take end)
        union all
        (${matching('asc')} limit case when slice."oldestFirst" then slice.take else 0 end)
      ) as page
      order by page.id desc limit ${take}
    )
    select ${columns(sql)}
    from ids
    -- one by one, by key: a generic plan expects few records in the range, and would read all of a busy domain's
    cross join lateral (
      select * from records
      where domain_number = ${domainNumber} and id = ids.id and id >= ${from} and id < ${below} offset 0
    ) as r
    ${joinReferences(sql)} ${joinLog(sql)}
    order by r.id desc`;
}

const lowestId = lowestIdAt(0);
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Inlined, not a parameter: a generic plan could not use the partial indexes on withdrawals and crawlers. */
export function byDecisionAndBot(sql: Sql, { decision, bot }: Pick<Filter, 'decision' | 'bot'>) {
  const ofDecision: Record<Decision, ReturnType<Sql>> = {
    accept_all: sql`and decision = 'accept_all'`,
    reject_all: sql`and decision = 'reject_all'`,
    custom: sql`and decision = 'custom'`,
    withdraw: sql`and decision = 'withdraw'`,
  };
  return sql`
    ${decision ? ofDecision[decision] : sql``}
    ${bot === undefined ? sql`` : bot ? sql`and bot` : sql`and not bot`}`;
}
