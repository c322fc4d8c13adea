import { beforeAll, describe, expect, it } from 'vitest';
import type { Database, Sql } from '#libs/base/db/database';
import { addMonths, monthOf } from '#libs/base/terms/calendar';
import { readPage } from '#libs/log/domain-page';
import { dropExpiredMonths } from '#libs/privacy/drop-months';
import { dropMonth, listMonths } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { atOnce } from '../support/clock.ts';
import { storedCounters } from '../support/counts.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { db, sql } = await openDatabase();

describe('the months of the records', () => {
  const idsIn = async (table: string) =>
    (await db.run((sql) => sql<{ id: string }[]>`select id from ${sql(table)} order by id`)).map(({ id }) => id);

  it('after a migration reach from last month to two ahead', async () => {
    const reach = (now: number) => [-1, 0, 1, 2].map((ahead) => addMonths(monthOf(now), ahead));
    // the month in which it was migrated may have ended
    expect([reach(Date.now()), reach(Date.now() - 3_600_000)]).toContainEqual(await db.run(listMonths));
  });

  it('hold each record in the UTC month of its id, to the millisecond', async () => {
    const [domainId = ''] = (await makeTenant(db)).domainIds;
    const at = (time: string) => recordAt(time, { domainId });
    const leap = [at('2016-02-01T00:00:00.000Z'), at('2016-02-29T23:59:59.999Z')];
    const year = [at('2016-12-31T23:59:59.999Z'), at('2017-01-01T00:00:00.000Z')];
    const march = at('2016-03-01T00:00:00.000Z');
    await persist(db, [...year, march, ...leap]);
    expect(await idsIn('records_2016_02')).toEqual(leap.map(({ id }) => id));
    expect(await idsIn('records_2016_03')).toEqual([march.id]);
    expect(await idsIn('records_2016_12')).toEqual([year[0]?.id]);
    expect(await idsIn('records_2017_01')).toEqual([year[1]?.id]);
  });

  it('are dropped one at a time: its records go, all others and every counter stay', async () => {
    const { organizationId, domainIds } = await makeTenant(db);
    const [domainId = ''] = domainIds;
    const records = ['2021-05-31T23:59:59.999Z', '2021-06-15', '2021-07-01T00:00:00.000Z'].map((time) =>
      recordAt(time, { domainId }),
    );
    await persist(db, records);
    const counters = await storedCounters(db, organizationId);
    await db.run((sql) => dropMonth(sql, '2021-06'));
    expect(await db.run(listMonths)).not.toContain('2021-06');
    expect(await sql`select from pg_class where relname = 'records_2021_06'`).toHaveLength(0);
    const left = await sql<{ id: string }>`
      select records.id from records join domains on number = domain_number
      where domains.id = ${domainId} order by records.id`;
    expect(left.map(({ id }) => id)).toEqual([records[0]?.id, records[2]?.id]);
    expect(await storedCounters(db, organizationId)).toEqual(counters);
  });

  describe('that a long reader holds', () => {
    let keeper: Database;

    beforeAll(async () => {
      const { url } = await openDatabase();
      keeper = openPool(url, { max: 6 });
    });

    const retention = () =>
      dropExpiredMonths(keeper, { retentionMonths: 1, derivations: [], round: atOnce }, Date.now());
    const waiting = (sql: Sql) => sql`
      from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like 'alter table records detach partition%'`;
    const untilItWaits = () =>
      eventually(async () => expect(await keeper.run((sql) => sql`select ${waiting(sql)}`)).toHaveLength(1));
    /** As its timeout would, if it has not. */
    const cutOff = () => keeper.run((sql) => sql`select pg_cancel_backend(pid) ${waiting(sql)}`);
    const tablesOf = async (year: string) =>
      (await keeper.run((sql) => sql`select from pg_class where relname like ${`records_${year}_%`} and relkind = 'r'`))
        .length;

    it('are dropped once it is gone, and until then nobody who records or reads waits for it', async () => {
      const { organizationId, domainIds } = await makeTenant(keeper);
      const [domainId = ''] = domainIds;
      const now = Date.now();
      await persist(keeper, [recordAt('2015-01-15', { domainId }), recordAt('2015-02-15', { domainId })]);
      await keeper.run((sql) =>
        sql.begin(async (reader) => {
          await reader`select count(*) from records`;
          const dropping = retention();
          await untilItWaits();
          await persist(keeper, [recordAt(now, { domainId }), recordAt(now - 1, { domainId })]);
          await keeper.run((other) => readPage(other, { organizationId, domainId, limit: 10, offset: 0 }));
          await cutOff();
          expect(await dropping).toMatchObject({ dropped: [], hidden: '2015-01' });
        }),
      );
      expect(await tablesOf('2015')).toBe(2);
      // hidden at once
      const page = await keeper.run((sql) => readPage(sql, { organizationId, domainId, limit: 1, offset: 0 }));
      expect(page.total).toBe(3);
      expect(await retention()).toMatchObject({ dropped: ['2015-01', '2015-02'] });
      expect(await tablesOf('2015')).toBe(0);
      expect(await retention()).toMatchObject({ dropped: [] });
    });

    it('are dropped in the end also where the first attempt was cut off between its steps', async () => {
      const [domainId = ''] = (await makeTenant(keeper)).domainIds;
      await persist(keeper, [recordAt('2016-01-15', { domainId }), recordAt('2016-02-15', { domainId })]);
      const pending = async () => {
        const rows = await keeper.run(
          (sql) => sql<{ name: string }[]>`
            select inhrelid::regclass::text as name from pg_inherits where inhdetachpending`,
        );
        return rows.map(({ name }) => name);
      };
      // cut off while it waits for a reader; the other one after it was detached
      await keeper.run((sql) =>
        sql.begin(async (reader) => {
          await reader`select count(*) from records`;
          const dropping = keeper.run((other) => dropMonth(other, '2016-02'));
          await untilItWaits();
          await cutOff();
          expect(await dropping).toBe(false);
        }),
      );
      expect(await pending()).toEqual(['records_2016_02']);
      expect(await retention()).toMatchObject({ dropped: ['2016-02', '2016-01'] });
      expect(await pending()).toEqual([]);
      await persist(keeper, [recordAt('2017-01-15', { domainId })]);
      await keeper.run((sql) => sql`update record_months set dropped_at = now() where month = '2017-01'`);
      await keeper.run((sql) => sql`alter table records detach partition records_2017_01 concurrently`);
      expect(await retention()).toMatchObject({ dropped: ['2017-01'] });
      expect(await tablesOf('2017')).toBe(0);
    });
  });
});
