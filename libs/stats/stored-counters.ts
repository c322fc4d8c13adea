/** The `counters` table: the truth that Redis copies. */

import type { Reads, Sql } from '#libs/base/db/database';
import { periodsOf, type Span } from '#libs/base/terms/calendar';
import { type Breakdown, type Counter, emptyBreakdown, type PackedCounters } from '#libs/base/terms/terms';

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

type CounterKey = Pick<Counter, 'domainId' | 'period'>;

/** Rows of `counters` as PackedCounters, with how many there are and the last period. */
const packed = (sql: Sql, rows: ReturnType<Sql>) => sql<(PackedCounters & { n: number; last: string })[]>`
  select domain_id as "domainId", month, count(*)::int as n, max(period) as last,
    string_agg(concat_ws(' ', field, accept_all, reject_all, custom, withdraw), ';' order by period) as counters
  from (
    select *, case length(period) when 7 then '' else left(period, 7) end as month,
      case length(period) when 7 then period else right(period, 2) end as field
    from (${rows}) as counter
  ) as placed
  group by domain_id, month`;

/** A page of an organization's counters: up to `limit` after the key `after`, in key order. */
export async function listCounters(
  sql: Sql,
  organizationId: string,
  after: CounterKey | undefined,
  limit: number,
): Promise<{ counters: PackedCounters[]; next: CounterKey | undefined }> {
  const counters = await packed(
    sql,
    sql`
      select * from counters
      where organization_id = ${organizationId}
        and (domain_id, period) > (${after?.domainId ?? ''}, ${after?.period ?? ''})
      order by domain_id, period limit ${limit}`,
  );
  let next: CounterKey = { domainId: '', period: '' };
  let count = 0;
  for (const { domainId, n, last } of counters) {
    count += n;
    const isLater = domainId === next.domainId ? last > next.period : domainId > next.domainId;
    if (isLater) next = { domainId, period: last };
  }
  return { counters, next: count < limit ? undefined : next };
}

/**
 * An organization's counters of days and months from `since` (`YYYY-MM-DD`), domain by domain, for the comparison with
 * Redis. Postgres need not read older ones, because a domain's counters are stored in order of time.
 */
export const countersSince = (db: Reads, organizationId: string, since: string) => ({
  /** Ids of up to `limit` domains after `after`, in order. */
  listDomains: (after: string, limit: number): Promise<string[]> =>
    db.read(async (sql) => {
      const rows = await sql<{ id: string }[]>`
        select id from domains where organization_id = ${organizationId} and id > ${after} order by id limit ${limit}`;
      return rows.map(({ id }) => id);
    }),
  listCounters: (domainIds: string[]): Promise<(PackedCounters & { n: number })[]> =>
    db.read((sql) =>
      packed(
        sql,
        sql`
          select counters.* from unnest(${domainIds}::text[]) as domain (id)
          cross join lateral (
            select * from counters
            where organization_id = ${organizationId} and domain_id = domain.id collate "C"
              and period >= ${since.slice(0, 7)} and (length(period) = 7 or period >= ${since})
          ) as counters`,
      ),
    ),
});

/** An organization with at most this many domains is small: its counters are read together with those of others. */
const few = 5;

/**
 * What `countersSince` lists, for all small organizations among these in one statement; others are left out. With very many
 * organizations, most are small.
 */
export async function countersOfSmall(
  sql: Sql,
  organizationIds: string[],
  since: string,
): Promise<Map<string, (PackedCounters & { n: number })[]>> {
  const rows = await sql<{ organizationId: string; counters: (PackedCounters & { n: number })[] }[]>`
    select small.id as "organizationId", hashes.counters
    from unnest(${organizationIds}::text[]) as small (id)
    cross join lateral (
      select array_agg(id) as ids from (
        select id from domains where organization_id = small.id limit ${few + 1}
      ) as listed
    ) as domain
    cross join lateral (
      select coalesce(json_agg(hash), '[]') as counters from (${packed(
        sql,
        sql`
          select counters.* from unnest(array[''] || coalesce(domain.ids, '{}')) as place (id)
          cross join lateral (
            select * from counters
            where organization_id = small.id collate "C" and domain_id = place.id collate "C"
              and period >= ${since.slice(0, 7)} and (length(period) = 7 or period >= ${since})
          ) as counters`,
      )}) as hash
    ) as hashes
    where coalesce(cardinality(domain.ids), 0) <= ${few}`;
  return new Map(rows.map(({ organizationId, counters }) => [organizationId, counters]));
}

/** The next ids after `after`, in order. */
export async function nextOrganizationIds(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from organizations where id > ${after} order by id limit ${limit}`;
  return rows.map((row) => row.id);
}

export async function listOrganizationIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from organizations order by id`;
  return rows.map((row) => row.id);
}
