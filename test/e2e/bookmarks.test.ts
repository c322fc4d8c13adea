import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { startWorker } from '../support/service.ts';
import { at, openStores, type Stores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const day = addDays(dayOf(Date.now()), -30);
const records = 100_000;

describe('a worker', () => {
  let stores: Stores;

  beforeAll(async () => {
    stores = await openStores();
  });

  it('sets a bookmark at every ten thousandth record of a day of a hundred thousand', async () => {
    const { db, env } = stores;
    const { organizationId, domainIds } = await makeTenant(db);
    const domainId = at(domainIds, 0);
    await db.run((sql) => sql`select make_record_month(${day.slice(0, 7)})`);
    await db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`
          insert into records (domain_number, id, epoch, decision, received_at, source, bot, preferences)
          select number, (lpad(to_hex(${Date.parse(day)}::bigint + n), 12, '0') || '70008' || lpad('', 15, '0'))::uuid,
            (select open_epoch()), 'accept_all', now(), 'banner', false, '{}'
          from domains, generate_series(1, ${records}::int) as n
          where domains.id = ${domainId}`;
        await transaction`
          insert into counters (organization_id, domain_id, period, accept_all)
          values (${organizationId}, ${domainId}, ${day}, ${records})`;
      }),
    );
    await startWorker(env);
    const places = await eventually(async () => {
      const rows = await db.run(
        (sql) =>
          sql<
            { newer: number }[]
          >`select newer from bookmarks where domain_number = (select number from domains where id = ${domainId}) order by newer`,
      );
      if (rows.length === 0) throw new Error('no bookmark yet');
      return rows.map(({ newer }) => newer);
    });
    expect(places).toEqual(Array.from({ length: 10 }, (_, index) => (index + 1) * 10_000));
  });
});
