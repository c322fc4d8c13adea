/** Postgres may prefer a plan for any range, which expects few records in it: a page must stay cheap under that. */
import { beforeAll, expect, it } from 'vitest';
import { readPage } from '#libs/store/records/log';
import { persist } from '#libs/store/records/persist';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, type TestDatabase } from '../support/stores.ts';

const records = 4_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});

it('a page of a busy domain reads its own records, also with a plan for any range', async () => {
  const { db, url } = database;
  const { organizationId, domainIds } = await makeTenant(db);
  const [domainId = ''] = domainIds;
  for (let first = 0; first < records; first += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, n) => recordAt(Date.parse('2024-02-10') + first + n, { domainId }));
    await persist(db, batch);
  }
  await db.run((sql) => sql`analyze records`);
  await db.run(
    (sql) =>
      sql`do $$ begin execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database()); end $$`,
  );
  // one connection, whose counts are its own
  const generic = openPool(url, { max: 1 });
  const countRead = async () => {
    await generic.run((sql) => sql`select pg_stat_force_next_flush()`);
    const [row] = await generic.run(
      (sql) => sql<{ count: number }[]>`
        select sum(seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname like 'records%'`,
    );
    return row?.count ?? 0;
  };
  const before = await countRead();
  const page = await generic.run((sql) => readPage(sql, { organizationId, domainId, limit: 50 }));
  expect(page.records).toHaveLength(50);
  expect((await countRead()) - before).toBeLessThan(1_000);
});
