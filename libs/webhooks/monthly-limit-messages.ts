/** Messages for an organization that approaches its monthly limit, or has reached it: once a month each. */

import type { Sql } from '#libs/base/db/database';
import { thisMonth } from '#libs/base/db/postgres-time';
import { allIn, cameAt, usedIn } from '#libs/stats/monthly-limit';

const steps = [
  { type: 'limit.approaching', column: 'approaching_in', share: 0.8 },
  { type: 'limit.reached', column: 'reached_in', share: 1 },
] as const;

/**
 * Adds the messages that are due; returns how many. A message has the time of the record that reached the share, or the
 * present time if that record is not in the newest three epochs.
 */
export async function addLimitMessages(sql: Sql): Promise<number> {
  let added = 0;
  for (const { type, column, share } of steps) {
    const isDue = sql`w.enabled and ${type} = any(w.types) and w.${sql(column)} is distinct from month`;
    const { count } = await sql`
      with this as materialized (select ${thisMonth(sql)} as month),
      -- once for all webhooks of an organization
      reached as materialized (
        select organizations.id, month, monthly_record_limit, monthly_record_limit * ${share}::float8 as threshold
        from this, organizations
        join plans on plans.name = organizations.plan
        where monthly_record_limit is not null
          and exists (select from webhooks as w where w.organization_id = organizations.id and ${isDue})
          and ${allIn(sql, sql`organizations`, sql`month`)} >= greatest(1, monthly_record_limit * ${share}::float8)
      ),
      due as materialized (
        select w.number, reached.* from reached join webhooks as w on w.organization_id = reached.id and ${isDue}
      ),
      exact as materialized (select id, ${usedIn(sql, sql`reached`, sql`month`)} as used from reached),
      dated as materialized (
        select reached.id, used,
          ${cameAt(sql, sql`reached`, sql`month`, sql`used - ceil(greatest(1, threshold))::bigint`)} as came_at
        from exact join reached using (id) where used > 0 and used >= threshold
      ),
      noted as (
        update webhooks as w set ${sql(column)} = month from due join dated using (id)
        where w.number = due.number
        returning w.number, month, used, monthly_record_limit, came_at
      )
      insert into webhook_lanes (webhook, type, made_at, data)
      select number, ${type}, date_trunc('milliseconds', least(clock_timestamp(), came_at)), jsonb_build_object('month', month, 'used', used, 'limit', monthly_record_limit)
      from noted`;
    added += count;
  }
  return added;
}
