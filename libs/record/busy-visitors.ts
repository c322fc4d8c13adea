/**
 * Busy visitors have so many records on a domain that counting them takes long. Once a visitor is noted, the statement that
 * stores new records also counts them, by day and month. The worker adds the records that were stored before.
 */

import type { Database, Sql } from '#libs/base/db/database';
import { isOutage } from '#libs/base/db/errors';
import { untilWritersEnd } from '#libs/base/db/lock-holders';
import { type BaseMetrics, countFailures } from '#libs/base/ops/metrics';
import { addExcluded, countDecisions, joinPeriods } from './persist/persist.ts';
import { domainNumberOf } from './references.ts';
import { isVisitor } from './visitor-rows.ts';

interface Visitor {
  domainNumber: number;
  visitorId: string;
}

/** Milliseconds: to count a visitor with many millions of records. */
const countTimeout = 5 * 60_000;
/** milliseconds for statements that began before a visitor was noted; if they take longer, the next round counts it */
const patience = 10_000;

export const noteBusyVisitor = (sql: Sql, { domainId, visitorId }: { domainId: string; visitorId: string }) => sql`
  insert into busy_visitors (domain_number, visitor_id) values (${domainNumberOf(sql, domainId)}, ${visitorId})
  on conflict do nothing`;

export type NoteBusy = (domainId: string, visitorId: string) => void;

/** Runs in the background. If it fails, the next page read of this visitor's records notes it again. */
export function createNoteBusy({ db, metrics }: { db: Database; metrics: BaseMetrics }): NoteBusy {
  const countFailure = countFailures(metrics, 'note_busy_visitor');
  return (domainId, visitorId) =>
    void db.write((sql) => noteBusyVisitor(sql, { domainId, visitorId })).catch(countFailure);
}

/** For an erasure, on the domains with these numbers. */
export async function forgetVisitor(sql: Sql, visitorId: string, numbers: ReturnType<Sql>): Promise<void> {
  await sql`delete from visitor_counters where visitor_id = ${visitorId} and domain_number in (${numbers})`;
  await sql`delete from busy_visitors where visitor_id = ${visitorId} and domain_number in (${numbers})`;
}

/** For months that lose their visitors' ids. A visitor that comes back is noted again. */
export async function forgetVisitorsOf(sql: Sql, months: string[]): Promise<void> {
  await sql`delete from visitor_counters where left(period, 7) = any(${months})`;
  await sql`
    delete from busy_visitors
    where counted_at is not null and not exists (
      select from visitor_counters
      where visitor_counters.domain_number = busy_visitors.domain_number
        and visitor_counters.visitor_id = busy_visitors.visitor_id
    )`;
}

/** Counts the visitors that were noted and are not counted yet; returns how many it counted. */
export async function countBusyVisitors(db: Database): Promise<number> {
  const noted = await db.read(
    (sql) => sql<Visitor[]>`
      select domain_number as "domainNumber", visitor_id as "visitorId" from busy_visitors where counted_at is null`,
  );
  if (noted.length === 0) return 0;
  // `persist` locks `visitor_counters` before it reads. So waiting for that table's writers waits for every statement that
  // cannot see these visitors yet, but not for a mere reader such as a backup that runs for hours.
  if (!(await untilWritersEnd(db, ['visitor_counters'], patience))) return 0;
  const errors: unknown[] = [];
  // if one cannot be counted, the others still are
  for (const visitor of noted) {
    try {
      await count(db, visitor);
    } catch (error) {
      if (isOutage(error)) throw error;
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return noted.length;
}

/**
 * Adds records that are stored and not counted yet. One statement sees a record and its count, or neither: nothing is
 * missed or counted twice while others store records, and repeating it does no harm.
 */
const count = (db: Database, { domainNumber, visitorId }: Visitor) =>
  db.transaction(async (sql) => {
    await sql`select set_config('statement_timeout', ${String(countTimeout)}, true)`;
    // one at a time: two would both add what is missing
    await sql`
      select from busy_visitors where domain_number = ${domainNumber} and visitor_id = ${visitorId} for update`;
    await sql`
      with stored as (
        select level.period, bot, ${countDecisions(sql)}
        from records ${joinPeriods(sql)}
        where ${isVisitor(sql, { domain: domainNumber, visitorId })}
        group by 1, 2
      )
      insert into visitor_counters as c (domain_number, visitor_id, period, bot, accept_all, reject_all, custom, withdraw)
      select ${domainNumber}::integer, ${visitorId}, period, bot,
        stored.accept_all - coalesce(known.accept_all, 0), stored.reject_all - coalesce(known.reject_all, 0),
        stored.custom - coalesce(known.custom, 0), stored.withdraw - coalesce(known.withdraw, 0)
      from stored
      left join (
        select * from visitor_counters where domain_number = ${domainNumber} and visitor_id = ${visitorId}
      ) as known using (period, bot)
      order by period, bot
      on conflict (domain_number, visitor_id, period, bot) do update set ${addExcluded(sql)}`;
    await sql`
      update busy_visitors set counted_at = now() where domain_number = ${domainNumber} and visitor_id = ${visitorId}`;
  }, countTimeout);
