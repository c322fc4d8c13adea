/** The monthly limit of a plan, and the records that count towards it: all except crawlers'. */

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
 * If this UTC month's records have reached the limit: their number, the limit, and when it resets; otherwise null. Until
 * that reset, the list of records shows only one short page. Nothing else is limited, because anybody with a page's public
 * key can send records.
 */
export async function findCap(sql: Sql, { organizationId, plan }: Organization, now: number): Promise<Cap | null> {
  const limit = plan.monthlyRecordLimit;
  if (limit === null) return null;
  const month = monthOf(now);
  // crawlers are counted only once all records reach the limit: reading a counter per domain is too expensive otherwise
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

/** Crawlers' records of a month. They are counted when they are stored, not later with their epoch. */
const crawlersIn = (sql: Sql, organization: Expression, month: Expression) => sql`
  (
    select coalesce(sum(accept_all + reject_all + custom + withdraw), 0)::bigint
    from domains join crawler_counters on domain_number = domains.number and period = ${month}
    where organization_id = ${organization}.id
  )`;

/** Records that count towards the limit. */
export const usedIn = (sql: Sql, organization: Expression, month: Expression) =>
  sql`greatest(0, ${allIn(sql, organization, month)} - ${crawlersIn(sql, organization, month)})`;

export type CountCrawlers = (organizationId: string, month: string) => Promise<number>;

/** Crawlers' records of an organization in a month, at most half a second old; 0 if Postgres is slow. */
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
 * The arrival time of the record that exactly `later` more of the month have followed. Crawlers' records are left out.
 * Reads only the three newest epochs; null if the record is in none of them.
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
