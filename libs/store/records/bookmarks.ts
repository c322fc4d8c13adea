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

export interface BookmarkOptions {
  /** the current UTC day, which still grows and gets none */
  today: string;
  busyDay?: number;
  between?: number;
}

interface BusyDay {
  organizationId: string;
  domainId: string;
  day: string;
}

/** Sets bookmarks in the busy days before `today` that have none or have outgrown theirs; returns how many days. */
export async function setBookmarks(db: Database, options: BookmarkOptions): Promise<number> {
  const days = await db.run((sql) => listWithout(sql, options), patience);
  for (const day of days) await db.run((sql) => setInDay(sql, day, options.between ?? between), patience);
  return days.length;
}

const listWithout = (sql: Sql, options: BookmarkOptions) =>
  patiently(
    sql,
    (transaction) => transaction<BusyDay[]>`
      select organization_id as "organizationId", domain_id as "domainId", period as day
      from counters
      where length(period) = 10 and domain_id <> '' and period < ${options.today}
        and accept_all + reject_all + custom + withdraw >= ${options.busyDay ?? busyDay}
        and left(period, 7) in (select month from record_months where dropped_at is null)
        and not exists (
          select from bookmarks
          where bookmarks.domain_id = counters.domain_id and day = period
            and records = accept_all + reject_all + custom + withdraw
        )
      order by 1, 2, 3`,
  );

/** Ids and their number are read in one statement, so that they agree. */
const setInDay = (sql: Sql, { organizationId, domainId, day }: BusyDay, every: number) =>
  patiently(sql, async (transaction) => {
    const from = new Date(startOf(day));
    const to = new Date(startOf(addDays(day, 1)));
    await transaction`
      insert into bookmarks (domain_id, day, records, newer, id)
      select ${domainId}, ${day}, counted.records, newer, id
      from (
        select id, row_number() over (order by id desc) as newer from records
        where domain_id = ${domainId} and id >= id_at(${from}) and id < id_at(${to})
      ) as placed
      cross join (
        select accept_all + reject_all + custom + withdraw as records from counters
        where organization_id = ${organizationId} and domain_id = ${domainId} and period = ${day}
      ) as counted
      where newer % ${every}::bigint = 0
      on conflict do nothing`;
    await transaction`
      delete from bookmarks
      where domain_id = ${domainId} and day = ${day} and records < (
        select max(records) from bookmarks where domain_id = ${domainId} and day = ${day}
      )`;
  });

/** A day of many millions takes longer than the worker's statement timeout allows. */
const patiently = <T>(sql: Sql, work: (transaction: Transaction) => Promise<T>) =>
  sql.begin(async (transaction) => {
    await transaction`select set_config('statement_timeout', ${String(patience)}, true)`;
    return work(transaction);
  });
