/** The expected counters: the records themselves, counted at every level. */

import type { Database } from '#libs/base/db/database';
import type { Counter } from '#libs/base/terms/terms';

/** Reads the time out of the ids by its own means, not by those of the code under test. */
export const countRecords = (db: Database, organizationId: string): Promise<Counter[]> =>
  db.run(async (sql) => [
    ...(await sql<Counter[]>`
        with decided as (
          select domains.organization_id, domains.id as domain_id, decision,
            timestamp 'epoch' + ('x' || left(replace(records.id::text, '-', ''), 12))::bit(48)::bigint * interval '1 ms' as at
          from records join domains on domains.number = domain_number where organization_id = ${organizationId}
        )
        select organization_id as "organizationId", level.domain_id as "domainId", level.period,
          count(*) filter (where decision = 'accept_all') as accept_all,
          count(*) filter (where decision = 'reject_all') as reject_all,
          count(*) filter (where decision = 'custom') as custom,
          count(*) filter (where decision = 'withdraw') as withdraw
        from decided cross join lateral (values
          (decided.domain_id, to_char(at, 'YYYY-MM-DD')), (decided.domain_id, to_char(at, 'YYYY-MM')),
          ('', to_char(at, 'YYYY-MM-DD')), ('', to_char(at, 'YYYY-MM'))
        ) as level (domain_id, period)
        group by 1, 2, 3 order by level.domain_id collate "C", level.period collate "C"`),
  ]);

/** The `counters` table in the same order. */
export const storedCounters = (db: Database, organizationId: string): Promise<Counter[]> =>
  db.run(async (sql) => [
    ...(await sql<Counter[]>`
        select organization_id as "organizationId", domain_id as "domainId", period,
          accept_all, reject_all, custom, withdraw
        from counters where organization_id = ${organizationId} order by domain_id, period`),
  ]);

export const countOwed = (db: Database, organizationId: string): Promise<number> =>
  db.run(async (sql) => {
    const [row] = await sql<{ n: number }[]>`
      select count(*) as n from owed_raises where organization_id = ${organizationId}`;
    return row?.n ?? 0;
  });

export const inKeyOrder = (counters: Counter[]): Counter[] => {
  const key = ({ organizationId, domainId, period }: Counter) => `${organizationId} ${domainId} ${period}`;
  return counters.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
};

/** How many of the records with these ids are stored; of all without any given. */
export const countStored = (db: Database, ids?: string[]): Promise<number> =>
  db.run(async (sql) => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from records where ${ids === undefined} or id = any(${ids ?? []}::uuid[])`;
    return row?.n ?? 0;
  });
