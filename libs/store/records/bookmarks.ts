/**
 * Bookmarks for the busy days of the log: the id of every ten-thousandth record, so that a page in the middle of a day
 * with a million records skips a few thousand ids instead of half a million. Bookmarks are valid while the day has as
 * many records as when they were set: records are only deleted by whole months, so it then has the same records.
 */
import type postgres from 'postgres';
import { addDays, startOf } from '#libs/contract/calendar';
import type { Database, Sql } from '../sql.ts';

type Transaction = postgres.TransactionSql<{ bigint: number }>;

/** records; on a smaller day a page skips at most half as many ids */
const busyDay = 100_000;
/** records from one bookmark to the next */
const between = 10_000;
const patience = 5 * 60_000;

/** Days that records may still arrive for, and a little more. Older days keep the bookmarks that they have. */
const changingDays = 32;

export interface BookmarkOptions {
  /** the current UTC day, which still grows and gets none */
  today: string;
  /** the first day to look at; for records that were not put in day by day */
  since?: string;
  busyDay?: number;
  between?: number;
}

interface BusyDay {
  organizationId: string;
  domainId: string;
  domainNumber: number;
  day: string;
}

/** Sets bookmarks in the busy days before `today` that have none or have outgrown theirs; returns how many days. */
export async function setBookmarks(db: Database, options: BookmarkOptions): Promise<number> {
  const days = await db.run((sql) => listWithout(sql, options), patience);
  for (const day of days) await db.run((sql) => setInDay(sql, day, options.between ?? between), patience);
  return days.length;
}

/** One range of the counters' key for each domain: what a domain has from before costs nothing. */
const listWithout = (sql: Sql, options: BookmarkOptions) =>
  patiently(
    sql,
    (transaction) => transaction<BusyDay[]>`
      select organization_id as "organizationId", domains.id as "domainId", domains.number as "domainNumber",
        day
      from domains
      cross join lateral (
        select period as day, accept_all + reject_all + custom + withdraw as records from counters
        where counters.organization_id = domains.organization_id and counters.domain_id = domains.id
          and period >= ${options.since ?? addDays(options.today, -changingDays)} and period < ${options.today}
          and length(period) = 10
      ) as changing
      where records >= ${options.busyDay ?? busyDay}
        and left(day, 7) in (select month from record_months where dropped_at is null)
        and not exists (
          select from bookmarks
          where bookmarks.domain_number = domains.number and bookmarks.day = changing.day
            and bookmarks.records = changing.records
        )
      order by 1, 2, 3`,
  );

/** Ids and their number are read in one statement, so that they agree. */
const setInDay = (sql: Sql, { organizationId, domainId, domainNumber, day }: BusyDay, every: number) =>
  patiently(sql, async (transaction) => {
    const from = new Date(startOf(day));
    const to = new Date(startOf(addDays(day, 1)));
    await transaction`
      insert into bookmarks (domain_number, day, records, newer, id)
      select ${domainNumber}::integer, ${day}, counted.records, newer, id
      from (
        select id, row_number() over (order by id desc) as newer from records
        where domain_number = ${domainNumber} and id >= id_at(${from}) and id < id_at(${to})
      ) as placed
      cross join (
        select accept_all + reject_all + custom + withdraw as records from counters
        where organization_id = ${organizationId} and domain_id = ${domainId} and period = ${day}
      ) as counted
      where newer % ${every}::bigint = 0
      on conflict do nothing`;
    await transaction`
      delete from bookmarks
      where domain_number = ${domainNumber} and day = ${day} and records < (
        select max(records) from bookmarks where domain_number = ${domainNumber} and day = ${day}
      )`;
  });

/** A day of many millions takes longer than the worker's statement timeout allows. */
const patiently = <T>(sql: Sql, work: (transaction: Transaction) => Promise<T>) =>
  sql.begin(async (transaction) => {
    await transaction`select set_config('statement_timeout', ${String(patience)}, true)`;
    return work(transaction);
  });
