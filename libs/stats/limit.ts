/** The monthly limit of a plan: how many of its records an organization has used. Crawlers' do not count. */

import { LRUCache } from 'lru-cache';
import type { Reads, Sql } from '#libs/base/db/database';
import { addMonths, firstDay, monthOf } from '#libs/base/terms/calendar';
import { within } from '#libs/base/timers';
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
  // crawlers are counted by domain, which is not worth it below the limit
  const [row] = await sql<{ used: number }[]>`
    select ${usedIn(sql, sql`organizations`, sql`${month}`)} as used from organizations
    where id = ${organizationId} and ${allIn(sql, sql`organizations`, sql`${month}`)} >= ${limit}`;
  const used = row?.used ?? 0;
  return used >= limit ? { limit, used, resetsAt: `${firstDay(addMonths(month, 1))}T00:00:00.000Z` } : null;
}

type Expression = ReturnType<Sql>;

/** Records of a month, with crawlers'. `organization`: the row of `organizations`; `month`: text, `YYYY-MM`. */
export const allIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  coalesce(
    (
      select accept_all + reject_all + custom + withdraw from counters
      where organization_id = ${organization}.id and domain_id = '' and period = ${month}
    ), 0)`;

/** Those of crawlers alone, which are counted with the record, not with its epoch. */
const crawlersIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  (
    select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::bigint
    from domains join crawler_counters on domain_number = domains.number and period = ${month}
    where organization_id = ${organization}.id
  )`;

/** Those that count towards the limit. */
export const usedIn = (sql: Sql, organization: Expression, month: Expression) =>
  sql`greatest(0, ${allIn(sql, organization, month)} - ${crawlersIn(sql, organization, month)})`;

export type CountCrawlers = (organizationId: string, month: string) => Promise<number>;

/** Crawlers' records of an organization in a month, at most half a second old; 0 where Postgres does not answer at once. */
export function createCrawlerCount(db: Reads): CountCrawlers {
  const ask = async (organizationId: string, month: string) => {
    const [row] = await db.read(
      (sql) => sql<{ crawlers: number }[]>`
        select ${crawlersIn(sql, sql`organizations`, sql`${month}`)} as crawlers
        from organizations where id = ${organizationId}`,
    );
    return row?.crawlers ?? 0;
  };
  const known = new LRUCache<string, number, string>({
    max: 10_000,
    ttl: 500,
    fetchMethod: (organizationId, _, { context: month }) => within(250, ask(organizationId, month)).catch(() => 0),
  });
  return async (organizationId, month) => (await known.fetch(organizationId, { context: month })) ?? 0;
}

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
