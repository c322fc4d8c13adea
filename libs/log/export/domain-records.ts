/**
 * The records of a domain for an export, oldest first, page by page: each page is a short statement by key, because a
 * cursor or a long snapshot would slow down recording. Records of epochs after the one that is open at the start are
 * left out, so that an export ends however fast records come.
 */

import type { Reads, Sql } from '#libs/base/db/database';
import { addDays, firstDay, lastDay, lowestIdAt, startOf } from '#libs/base/terms/calendar';
import type { ExportFormat } from '#libs/base/terms/terms';
import { runOf } from '#libs/proof/positions';
import { domainNumberOf, joinReferences } from '#libs/record/references';
import { byTime, isAround, isVisitor, readByTime } from '#libs/record/visitor-rows';
import { byDecisionAndBot } from '../domain-page.ts';
import { type Filter, firstDay as firstOfAll, lastDay as lastOfAll, matchingMonths } from '../pages/counts.ts';
import { lineEnds, lineOf } from './lines.ts';

/** records in one page */
const pageSize = 1_000;
/** records that one statement reads at most, even if few of them match */
const scanned = 20_000;

interface ExportPage {
  /** UTF-8, as Postgres sent it: as a string it would be copied twice more */
  text: Buffer;
  count: number;
  /** the id of its last record */
  last: string | null;
}

export interface DomainExport extends Filter {
  format: ExportFormat;
  /** the epoch that was open at the start */
  epoch: number;
  /** the id after which to continue */
  after?: string | undefined;
}

/** A range of ids, without `below`. `count`: at most how many records match, not counting the filter by visitor. */
interface Span {
  from: string;
  below: string;
  count: number;
}

/**
 * Pages without a match are empty, so that the caller sees progress. Postgres makes the next page while the caller
 * sends this one.
 */
export async function* readDomain(db: Reads, wanted: DomainExport): AsyncGenerator<ExportPage> {
  const { after = '' } = wanted;
  for (const { from, below } of await db.read((sql) => listSpans(sql, wanted))) {
    if (after >= below) continue;
    const read = (next: string): Promise<Page> => {
      const page = (sql: Sql) => readPage(sql, wanted, { after: next, below });
      return wanted.visitorId === undefined ? db.read(page) : readByTime(db, page);
    };
    // starting after `from` loses no record: no record has the lowest id of its millisecond
    let ahead: Promise<Page> | undefined = read(after > from ? after : from);
    while (ahead) {
      const page: Page = await ahead;
      ahead = page.next === null ? undefined : read(page.next);
      // the error is thrown once `ahead` is awaited
      ahead?.catch(() => {});
      yield page;
    }
  }
}

/** The months with matching records, by the counters; consecutive small ones are read together. */
export async function listSpans(sql: Sql, { visitorId, ...filter }: Filter): Promise<Span[]> {
  const { from = firstOfAll, to = lastOfAll } = filter;
  if (from > to) return [];
  const months = await sql<{ month: string; count: number }[]>`
    select month, n::bigint as count from (${matchingMonths(sql, filter)}) as months order by month`;
  const spans: Span[] = [];
  for (const { month, count } of months) {
    const first = firstDay(month);
    const last = lastDay(month);
    const span = {
      from: lowestIdAt(startOf(first > from ? first : from)),
      below: lowestIdAt(startOf(addDays(last < to ? last : to, 1))),
      count,
    };
    const before = spans.at(-1);
    if (before && before.count + count <= pageSize) {
      before.below = span.below;
      before.count += count;
    } else spans.push(span);
  }
  return spans;
}

/** A range of ids without `after` and `below` themselves. */
interface Range {
  after: string;
  below: string;
}

interface Page extends ExportPage {
  /** the id after which the next page begins; null at the end */
  next: string | null;
}

/**
 * The range of ids is a parameter, so that Postgres plans and opens one month. Only visitors, withdrawals and crawlers have
 * an index: otherwise a page ends after `scanned` records, whether or not they match.
 */
async function readPage(sql: Sql, wanted: DomainExport, range: Range): Promise<Page> {
  const { domainId, visitorId, decision, bot, epoch, format } = wanted;
  const domain = domainNumberOf(sql, domainId);
  const inDomain = visitorId === undefined ? sql`domain_number = ${domain} and` : sql``;
  const inRange = sql`${inDomain} id > ${range.after} and id < ${range.below}`;
  const ofVisitor = (id: string) => sql`
    and ${isVisitor(sql, { domain, visitorId: id })} and ${isAround(sql, { from: range.after, below: range.below })}`;
  const matching = sql`
    epoch <= ${epoch} ${byDecisionAndBot(sql, { decision, bot })} ${visitorId === undefined ? sql`` : ofVisitor(visitorId)}`;
  const isIndexed = visitorId !== undefined || decision === 'withdraw' || bot === true;
  const all = sql`select * from records where ${inRange}`;
  const looked = isIndexed ? all : sql`${all} order by id limit ${scanned}`;
  const [row] = await sql`
    with page as materialized (
      select * from (${looked}) as looked where ${matching} order by ${visitorId === undefined ? sql`id` : byTime(sql, 'asc')} limit ${pageSize}
    ),
    ${positionsOf(sql)},
    lines as materialized (
      select r.id, ${lineOf(sql, format)} as line from placed r ${joinReferences(sql)} ${joinPosition(sql)}
    )
    select coalesce(string_agg(line || ${lineEnds[format]}, '' order by id), '') as text, count(*) as count,
      max(id::text) as last,
      case
        when count(*) = ${pageSize} then max(id::text)
        ${isIndexed ? sql`` : sql`else (select id::text from records where ${inRange} order by id offset ${scanned - 1} limit 1)`}
      end as next
    from lines`.raw();
  const [text, count, last, next] = row ?? [];
  if (!text) throw new Error('a page has no row');
  return { text, count: Number(count), last: last?.toString() ?? null, next: next?.toString() ?? null };
}

/**
 * The positions in the log of all records of `page`, which `joinLog` would find one by one. Consecutive records share a
 * run: each run is read once, and the empty text appended to its ids makes Postgres decompress them once. Positions are
 * looked up in one JSON object: while a table is too new for statistics, a join would compare every pair.
 */
const positionsOf = (sql: Sql) => sql`
  placed as materialized (
    select r.*, run.log, run.first from page r left join lateral (${runOf(sql)}) as run on true
  ),
  runs as materialized (
    select log, first, checkpoint_size, ids || ''::bytea as ids
    from (select distinct domain_number, log, first from placed) as named
    join log_runs using (domain_number, log, first)
    join logs using (domain_number, log)
  ),
  positions as materialized (
    select jsonb_object_agg(
      concat(log, ' ', first, ' ', encode(substr(ids, among * 16 + 1, 16), 'hex')), first + among
    ) as of_record
    from runs cross join generate_series(0, length(ids) / 16 - 1) as among
    where first + among < checkpoint_size
  )`;

/** The position of `placed r`; null while no checkpoint covers it. */
const joinPosition = (sql: Sql) => sql`
  cross join lateral (
    select (of_record ->> concat(r.log, ' ', r.first, ' ', encode(uuid_send(r.id), 'hex')))::bigint as position
    from positions
  ) as found
  cross join lateral (
    select case when found.position is not null then r.log end as log, found.position
  ) as place`;
