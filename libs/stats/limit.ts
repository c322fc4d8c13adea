/** The monthly limit of a plan: how many of its records an organization has used. Crawlers' do not count. */

import type { Sql } from '#libs/base/db/database';
import { addMonths, firstDay, monthOf } from '#libs/base/terms/calendar';
import type { Organization } from '#libs/tenants/tenants';

export interface Cap {
  limit: number;
  used: number;
  resetsAt: string;
}

/**
 * Once the organization's records of this UTC month reach the plan's limit: how many there are, and until when pages of
 * the log are short. Nothing else is withheld: whoever has a page's public key can bring it about.
 */
export async function findCap(sql: Sql, { organizationId, plan }: Organization, now: number): Promise<Cap | null> {
  const limit = plan.monthlyRecordLimit;
  if (limit === null) return null;
  const month = monthOf(now);
  const [row] = await sql<{ used: number }[]>`
    select ${usedIn(sql, sql`organizations`, sql`${month}`)} as used from organizations where id = ${organizationId}`;
  const used = row?.used ?? 0;
  return used >= limit ? { limit, used, resetsAt: `${firstDay(addMonths(month, 1))}T00:00:00.000Z` } : null;
}

type Expression = ReturnType<Sql>;

/**
 * Records of a month. `organization`: the row of `organizations`; `month`: text, `YYYY-MM`. Crawlers are known as far as
 * epochs are closed: until then they count.
 */
export const usedIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  greatest(0, coalesce(
    (
      select accept_all + reject_all + custom + withdraw from counters
      where organization_id = ${organization}.id and domain_id = '' and period = ${month}
    ), 0) - coalesce(
    (
      select sum(accept_all + reject_all + custom + withdraw)::bigint from facets
      where organization_number = ${organization}.number and domain_number = 0 and dimension = 'crawlers'
        and period = ${month}
    ), 0))`;

/**
 * When the last of a month's records came but for the `later` newest, crawlers' not counted. Null where it is in none of the
 * newest epochs: only their records are looked through.
 */
export const cameAt = (sql: Sql, organization: Expression, month: Expression, later: Expression) => sql`
  (
    select coalesce(imported_at, received_at) as came_at
    from epochs join records r on r.epoch = any(array[open - 1, open, open + 1])
      join domains on domains.number = r.domain_number
    where domains.organization_id = ${organization}.id and not r.bot
      and r.id >= id_at((${month} || '-01')::timestamp at time zone 'UTC')
      and r.id < id_at(((${month} || '-01')::timestamp + interval '1 month') at time zone 'UTC')
    order by came_at desc offset ${later} limit 1
  )`;
