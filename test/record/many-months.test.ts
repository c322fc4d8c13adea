/** A log of four years: a query plans, locks and opens the months that it needs, not all that there are. */
import { describe, expect, it } from 'vitest';
import type { Sql } from '#libs/base/db/database';
import { addDays, addMonths, dayOf, monthOf } from '#libs/base/terms/calendar';
import { type LogQuery, readPage } from '#libs/log/domain-page';
import { readOrganizationPage } from '#libs/log/pages/organization-page';
import { persist } from '#libs/record/persist/persist';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { inTransaction } from '../support/transaction.ts';

const months = 48;
const today = dayOf(Date.now());
const thisMonth = monthOf(Date.now());

const { url } = await openDatabase();
// one connection: it comes to the plans that Postgres keeps, as each of a busy service does
const db = openPool(url, { max: 1 });
// from two ahead on: the database may be of the month before
for (let back = -2; back < months - 2; back += 1) {
  await db.run((sql) => sql`select make_record_month(${addMonths(thisMonth, -back)})`);
}
const tenant = await makeTenant(db);
const organizationId = tenant.organizationId;
const domainId = at(tenant.domainIds, 0);
// two years ago, and now
for (const end of [addDays(today, -730), today]) {
  const records = Array.from({ length: 600 }, (_, index) =>
    recordAt(Date.parse(addDays(end, -(index % 20))) + index, {
      domainId,
      bot: index % 5 === 0,
      decision: index % 3 === 0 ? 'custom' : 'accept_all',
      visitorId: `v-${index % 50}`,
    }),
  );
  await persist(db, records);
}
await db.run((sql) => sql`analyze records, counters`);
const partitions = await db.run((sql) => sql`select from pg_inherits where inhparent = 'records'::regclass`);
expect(partitions).toHaveLength(months);

describe('with 48 months', () => {
  /** How many months' partitions a connection has locked for `work`, once it has done that often. */
  const lockedFor = async (work: (sql: Sql) => Promise<unknown>, isolation = 'repeatable read'): Promise<number> => {
    const locked: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const [row] = await db.run((sql) =>
        sql.begin(`isolation level ${isolation}`, async (transaction) => {
          await work(transaction);
          return transaction<{ n: number }[]>`
            select count(distinct relation) as n
            from pg_locks join pg_inherits on inhrelid = relation
            where pid = pg_backend_pid() and inhparent = 'records'::regclass`;
        }),
      );
      locked.push(row?.n ?? 0);
    }
    return Math.max(...locked.slice(-2));
  };
  const page = (query: Partial<LogQuery>) => (sql: Sql) =>
    readPage(sql, { organizationId, domainId, limit: 20, offset: 0, ...query });

  it.each<[string, Partial<LogQuery>]>([
    ['the first page', {}],
    ['a page in the middle', { offset: 300 }],
    ['the last page', { offset: 1_180 }],
    ['a page of crawlers', { bot: true, offset: 90 }],
    ['a page within days', { from: addDays(today, -740), to: addDays(today, -735) }],
  ])('%s locks those of its records', async (_, query) => {
    expect(await lockedFor(page(query))).toBeLessThanOrEqual(2);
  });

  it('a page after a cursor locks those of its records', async () => {
    const after = at((await db.run(page({ offset: 900 }))).records, 0).id;
    expect(await lockedFor(page({ after }))).toBeLessThanOrEqual(2);
  });

  it("a visitor's page locks those of the years in which the domain has records", async () => {
    expect(await lockedFor(page({ visitorId: 'v-7' }))).toBeLessThanOrEqual(39);
    expect(await lockedFor(page({ visitorId: 'v-7', from: addDays(today, -10) }))).toBeLessThanOrEqual(26);
  });

  it("an organization's newest records lock those of their days", async () => {
    const query = { organizationId, from: addDays(today, -6), to: today, limit: 50 };
    expect(await lockedFor((sql) => readOrganizationPage(sql, query))).toBeLessThanOrEqual(2);
  });

  it('a batch locks those of its records', async () => {
    const store = (sql: Sql) => {
      return persist(inTransaction(db, sql), [
        recordAt(Date.now(), { domainId }),
        recordAt(Date.parse(addDays(today, -40)), { domainId }),
      ]);
    };
    expect(await lockedFor(store, 'read committed')).toBeLessThanOrEqual(3);
  });
});
