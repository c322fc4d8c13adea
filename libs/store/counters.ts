/** The `counters` table: the truth that Redis copies. */
import { periodsOf, type Span } from '#libs/contract/calendar';
import { type Breakdown, type Counter, emptyBreakdown } from '#libs/contract/terms';
import type { Sql } from './sql.ts';

const columns = (sql: Sql) => sql`
  organization_id as "organizationId", domain_id as "domainId", period, accept_all, reject_all, custom, withdraw`;

/** The counts of each period; one without decisions is absent. `domainId` '' is the organization. */
export async function readCounts(
  sql: Sql,
  { organizationId, domainId, spans }: { organizationId: string; domainId: string; spans: Span[] },
): Promise<Map<string, Breakdown>> {
  const rows = await sql<(Breakdown & { period: string })[]>`
    select period, accept_all, reject_all, custom, withdraw from counters
    where organization_id = ${organizationId} and domain_id = ${domainId} and period = any(${periodsOf(spans)})`;
  return new Map(rows.map(({ period, ...counts }) => [period, { ...emptyBreakdown(), ...counts }]));
}

/** Up to `limit` counters of one organization after `after`, in the key's order, to page through all of them. */
export async function listCounters(
  sql: Sql,
  organizationId: string,
  after: { domainId: string; period: string } | undefined,
  limit: number,
): Promise<Counter[]> {
  return sql<Counter[]>`
    select ${columns(sql)} from counters
    where organization_id = ${organizationId}
      and (domain_id, period) > (${after?.domainId ?? ''}, ${after?.period ?? ''})
    order by domain_id, period limit ${limit}`;
}

/** All counters of an organization for days and months from `since` (`YYYY-MM-DD`) on. */
export async function listCountersSince(sql: Sql, organizationId: string, since: string): Promise<Counter[]> {
  return sql<Counter[]>`
    select ${columns(sql)} from counters
    where organization_id = ${organizationId}
      and period >= case when length(period) = 7 then ${since.slice(0, 7)} else ${since} end`;
}

/** Notes counters that could not be raised; the worker's sweep raises them later. */
export const oweRaises = (sql: Sql, counters: Pick<Counter, 'organizationId' | 'domainId' | 'period'>[]) => sql`
  insert into owed_raises (organization_id, domain_id, period)
  select "organizationId", "domainId", period
  from json_to_recordset(${JSON.stringify(counters)}::text::json)
    as owed ("organizationId" text, "domainId" text, period text)`;

export interface OwedRaise extends Counter {
  /** of all raises owed to this counter */
  ids: number[];
}

/** The counters of the oldest owed raises, with their current values. After an outage the same few are owed many times. */
export async function listOwedRaises(sql: Sql, limit: number): Promise<OwedRaise[]> {
  return sql<OwedRaise[]>`
    select o.ids, ${columns(sql)}
    from (
      select organization_id, domain_id, period, json_agg(id) as ids
      from (select id, organization_id, domain_id, period from owed_raises order by id limit ${limit}) oldest
      group by organization_id, domain_id, period
    ) o
    join counters using (organization_id, domain_id, period)`;
}

export const deleteOwedRaises = (sql: Sql, ids: number[]) => sql`delete from owed_raises where id = any(${ids})`;

export async function listOrganizationIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from organizations order by id`;
  return rows.map((row) => row.id);
}
