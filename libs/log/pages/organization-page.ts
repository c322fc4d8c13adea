/**
 * The newest records of all domains of an organization, with their total from the counters. They are merged from the
 * newest of each domain. With many domains that takes long, so a large organization's records have an index of their
 * own, from the time it became large.
 */

import type { Sql } from '#libs/base/db/database';
import { addDays, lowestIdAt, startOf, timeOf } from '#libs/base/terms/calendar';
import { acceptedAhead } from '#libs/base/terms/terms';
import { columns, joinLog, type Row } from '#libs/proof/positions';
import { domainNumberOf, joinReferences } from '#libs/record/references';
import { type LogPage, toPage } from './log-page.ts';

interface OrganizationLogQuery {
  organizationId: string;
  /** first and last UTC day, inclusive */
  from: string;
  to: string;
  limit: number;
  /** the record after which to continue; several domains may have one with the same id */
  after?: { id: string; domainId: string } | undefined;
}

/**
 * Changes whenever a stored record of the organization gets its place in a log or loses personal fields. Read it before the
 * records: if something changes in between, the next request sees a different version.
 */
export async function readOrganizationVersion(sql: Sql, organizationId: string): Promise<string> {
  const [row] = await sql<{ version: string }[]>`
    select concat_ws(' ', sealed.logs, sealed.entries, acts.newest, running.erasures, running.records, blanked.through)
      as version
    from organizations as o
    cross join lateral (
      select count(*) as logs, sum(checkpoint_size) as entries
      from logs where domain_number in (select number from domains where organization_id = o.id)
    ) as sealed
    cross join lateral (
      select max(id) as newest from visitor_acts where organization_number = o.number and act = 'visitor.erase'
    ) as acts
    cross join lateral (
      select count(*) as erasures, sum(records) as records
      from erasures where done_at is null and organization_number = o.number
    ) as running
    cross join (select max((epoch, domain_number)::text) as through from derivations where name = 'blank') as blanked
    where o.id = ${organizationId}`;
  return row?.version ?? '';
}

/** Unix milliseconds of decisions; `below` is not part of it. */
interface Range {
  from: number;
  below: number;
}

export async function readOrganizationPage(sql: Sql, query: OrganizationLogQuery): Promise<LogPage> {
  const { organizationId, from, to, limit } = query;
  const days = { from: startOf(from), below: startOf(addDays(to, 1)) };
  const since = Math.min(Math.max(await indexedSince(sql, organizationId), days.from), days.below);
  const rows = await sql<(Row & { total: number })[]>`
    with indexed as materialized (${since < days.below ? fromIndex(sql, query, { ...days, from: since }) : none(sql)}),
    others as (${since > days.from ? fromDomains(sql, query, { ...days, below: since }) : none(sql)}),
    newest as materialized (
      select * from (
        select * from indexed
        union all
        -- not read where the index has filled the page
        select * from others where (select count(*) from indexed) <= ${limit}
      ) as merged
      order by id desc, domain_number desc limit ${limit + 1}
    )
    select counted.total, ${columns(sql)}
    from (
      select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::bigint as total from counters
      where organization_id = ${organizationId} and domain_id = '' and length(period) = 10
        and period between ${from} and ${to}
    ) as counted
    left join newest on true
    -- one by one, by key: see readSlices in domain-page.ts
    left join lateral (
      select * from records
      where domain_number = newest.domain_number and id = newest.id and ${inRange(sql, days)} offset 0
    ) as r on true
    ${joinReferences(sql)} ${joinLog(sql)}
    order by r.id desc, r.domain_number desc`;
  return toPage(rows[0]?.total ?? 0, rows, limit);
}

/** Milliseconds for statements that began before the index existed, and for clocks that differ. */
const slack = 3_600_000;

const none = (sql: Sql) => sql`select 0 as domain_number, null::uuid as id where false`;

/** The time, in Unix milliseconds, since which all records are in the index. */
async function indexedSince(sql: Sql, organizationId: string): Promise<number> {
  const [organization] = await sql<{ since: number | null }[]>`
    select extract(epoch from log_indexed_since)::float8 * 1000 as since from organizations where id = ${organizationId}`;
  const since = organization?.since ?? Number.POSITIVE_INFINITY;
  return Math.ceil(since) + acceptedAhead + slack;
}

const fromIndex = (sql: Sql, query: OrganizationLogQuery, range: Range) => sql`
  select domain_number, id from records
  where organization_number = (select number from organizations where id = ${query.organizationId})
    and milliseconds_of(id) >= ${range.from}::bigint
    and milliseconds_of(id) <= ${query.after ? timeOf(query.after.id) : range.below}::bigint
    and ${inRange(sql, range)} and ${isAfter(sql, query)}
  order by milliseconds_of(id) desc, id desc, domain_number desc limit ${query.limit + 1}`;

const fromDomains = (sql: Sql, query: OrganizationLogQuery, range: Range) => sql`
  select page.* from domains cross join lateral (
    select domain_number, id from records
    where domain_number = domains.number and ${inRange(sql, range)} and ${isAfter(sql, query)}
    order by id desc limit ${query.limit + 1}
  ) as page
  where organization_id = ${query.organizationId}
  order by id desc, domain_number desc limit ${query.limit + 1}`;

/** Inlined: the text changes only from day to day, and each plan covers only the months in the range. */
const inRange = (sql: Sql, { from, below }: Range) =>
  sql.unsafe(`id >= '${lowestIdAt(from)}'::uuid and id < '${lowestIdAt(below)}'::uuid`);

const isAfter = (sql: Sql, { after }: OrganizationLogQuery) =>
  after
    ? sql`id <= ${after.id} and (id, domain_number) < (${after.id}, ${domainNumberOf(sql, after.domainId)})`
    : sql`true`;
