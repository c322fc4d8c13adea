/** Owed raises: counters that changed in Postgres while Redis could not be raised. One row for each counter. */

import type { Sql } from '#libs/base/db/database';
import { groupBy } from '#libs/base/group-by';
import { type Counter, totalOf } from '#libs/base/terms/terms';
import type { RepairParts } from './each-organization.ts';
import { hasWrongType, raise } from './redis-counters.ts';

type CounterKey = Pick<Counter, 'organizationId' | 'domainId' | 'period'>;

interface OwedRaise extends Counter {
  /** increases each time the counter is owed again */
  times: number;
}

const rowsOf = (sql: Sql, owed: (CounterKey & { times?: number })[]) => sql`
  json_to_recordset(${JSON.stringify(owed)}::text::json)
    as owed ("organizationId" text, "domainId" text, period text, times bigint)`;

/** Notes counters that could not be raised; the worker's sweep raises them later. */
export const oweRaises = (sql: Sql, counters: CounterKey[]) => sql`
  insert into owed_raises (organization_id, domain_id, period)
  select distinct "organizationId" collate "C", "domainId" collate "C", period collate "C" from ${rowsOf(sql, counters)}
  order by 1, 2, 3
  on conflict (organization_id, domain_id, period) do update set times = owed_raises.times + 1`;

/** Up to `limit` owed counters after `after` in the key's order, with their current values: 0 where the counter is gone. */
async function listOwedRaises(sql: Sql, after: CounterKey | undefined, limit: number): Promise<OwedRaise[]> {
  const { organizationId = '', domainId = '', period = '' } = after ?? {};
  return sql<OwedRaise[]>`
    select organization_id as "organizationId", domain_id as "domainId", period, o.times,
      coalesce(accept_all, 0) as accept_all, coalesce(reject_all, 0) as reject_all, coalesce(custom, 0) as custom,
      coalesce(withdraw, 0) as withdraw
    from (
      select * from owed_raises
      where (organization_id, domain_id, period) > (${organizationId}, ${domainId}, ${period})
      order by organization_id, domain_id, period limit ${limit}
    ) o
    left join counters using (organization_id, domain_id, period)
    order by organization_id, domain_id, period`;
}

/** Deletes what was raised, except counters owed again since. Rows are locked in the order of `oweRaises`. */
const deleteOwedRaises = (sql: Sql, raised: (CounterKey & { times: number })[]) => sql`
  with locked as materialized (
    select organization_id, domain_id, o.period
    from owed_raises o
    join ${rowsOf(sql, raised)}
      on organization_id = "organizationId" and domain_id = "domainId" and o.period = owed.period and o.times = owed.times
    order by organization_id, domain_id, o.period
    for update of o
  )
  delete from owed_raises using locked
  where (owed_raises.organization_id, owed_raises.domain_id, owed_raises.period)
    = (locked.organization_id, locked.domain_id, locked.period)`;

/** counters at once */
const chunk = 1_000;

/** Raises owed counters and deletes their rows. Returns how many; rejects if some could not be raised. */
export async function sweepOwedRaises({ redis, db }: Pick<RepairParts, 'redis' | 'db'>): Promise<number> {
  let swept = 0;
  let failure: unknown;
  let last: OwedRaise | undefined;
  do {
    const owed = await db.read((sql) => listOwedRaises(sql, last, chunk));
    const byOrganization = [...groupBy(owed, (counter) => counter.organizationId).values()];
    const raises = await Promise.allSettled(
      byOrganization.map((group) =>
        raise(
          redis.client,
          // counters of a deleted organization are gone
          group.filter((counter) => totalOf(counter) > 0),
        ),
      ),
    );
    const raised = byOrganization.filter((_, at) => raises[at]?.status === 'fulfilled').flat();
    if (raised.length > 0) await db.write((sql) => deleteOwedRaises(sql, raised));
    const reasons = raises.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    failure ??= reasons[0];
    // nothing was raised, and some failure is not a wrong key type: Redis is down, so the rest waits
    if (raised.length === 0 && !reasons.every(hasWrongType)) break;
    swept += raised.length;
    last = owed.length === chunk ? owed.at(-1) : undefined;
  } while (last);
  if (failure !== undefined) throw failure;
  return swept;
}
