/** Tells webhooks that an organization comes near its monthly limit, and that it has reached it: once a month each. */

import type { Sql } from '#libs/base/db/database';
import { thisMonth } from '#libs/base/db/due';
import { usedIn } from '#libs/stats/limit';

const steps = [
  { type: 'limit.approaching', column: 'approaching_in', share: 0.8 },
  { type: 'limit.reached', column: 'reached_in', share: 1 },
] as const;

/** Adds the messages that are due; returns how many. */
export async function addLimitMessages(sql: Sql): Promise<number> {
  let added = 0;
  for (const { type, column, share } of steps) {
    const { count } = await sql`
      with this as materialized (select ${thisMonth(sql)} as month),
      due as materialized (
        select w.number, month, ${usedIn(sql, sql`organizations`, sql`month`)} as used, monthly_record_limit
        from this, webhooks as w
        join organizations on organizations.id = w.organization_id
        join plans on plans.name = organizations.plan
        where w.enabled and ${type} = any(w.types) and w.${sql(column)} is distinct from month
          and monthly_record_limit is not null
      ),
      told as (
        update webhooks as w set ${sql(column)} = month from due
        where w.number = due.number and used > 0 and used >= monthly_record_limit * ${share}::float8
        returning w.number, month, used, monthly_record_limit
      )
      insert into webhook_lanes (webhook, type, data)
      select number, ${type}, jsonb_build_object('month', month, 'used', used, 'limit', monthly_record_limit)
      from told`;
    added += count;
  }
  return added;
}
