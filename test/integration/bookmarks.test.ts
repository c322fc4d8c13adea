import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { type BookmarkOptions, setBookmarks } from '#libs/store/records/bookmarks';
import { readPage } from '#libs/store/records/log';
import { dropMonth } from '#libs/store/records/months';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

const options: BookmarkOptions = { today: '2024-03-02', since: '2023-07-01', busyDay: 20, between: 7 };

describe('bookmarks in the busy days of the log', () => {
  let db: Database;
  let url: string;
  let domainId: string;
  let organizationId: string;

  beforeAll(async () => {
    ({ db, url } = await openDatabase());
  });

  const place = (index: number, day: string) =>
    recordAt(Date.parse(day) + index, { domainId, decision: index % 3 === 0 ? 'custom' : 'accept_all' });

  const store = async (perDay: Record<string, number>) => {
    const tenant = await makeTenant(db);
    organizationId = tenant.organizationId;
    domainId = tenant.domainIds[0] ?? '';
    const records = Object.entries(perDay).flatMap(([day, count]) =>
      Array.from({ length: count }, (_, index) => place(index, day)),
    );
    await persist(db, records);
    return records;
  };
  const bookmarks = () =>
    db.run(
      (sql) => sql<{ day: string; records: number; newer: number; id: string }[]>`
        select day, records, newer, id from bookmarks where domain_number = (select number from domains where id = ${domainId}) order by day, newer`,
    );
  const read = async (offset: number, limit: number, decision?: 'custom') => {
    const page = await db.run((sql) => readPage(sql, { organizationId, domainId, offset, limit, decision }));
    return { total: page.total, more: page.more, ids: page.records.map((record) => record.id) };
  };
  const slice = (records: NewRecord[], offset: number, limit: number) => {
    const ids = records
      .map((record) => record.id)
      .toSorted()
      .reverse();
    return { total: ids.length, more: ids.length > offset + limit, ids: ids.slice(offset, offset + limit) };
  };
  const expectEveryPage = async (records: NewRecord[], decision?: 'custom') => {
    for (let offset = 0; offset <= records.length; offset += 1) {
      for (const limit of [1, 6, 30])
        expect(await read(offset, limit, decision), `offset ${offset}, limit ${limit}`).toEqual(
          slice(records, offset, limit),
        );
    }
  };

  it('stand at every so many records of a day that is over and busy, and nowhere else', async () => {
    const records = await store({ '2024-02-28': 19, '2024-02-29': 22, '2024-03-01': 20, '2024-03-02': 30 });
    expect(await setBookmarks(db, options)).toBe(2);
    const newestOf = (day: string) => records.filter(({ receivedAt }) => receivedAt.startsWith(day)).reverse();
    const at = (day: string, n: number, places: number[]) =>
      places.map((newer) => ({ day, records: n, newer, id: newestOf(day)[newer - 1]?.id }));
    expect(await bookmarks()).toEqual([...at('2024-02-29', 22, [7, 14, 21]), ...at('2024-03-01', 20, [7, 14])]);
    // nothing has come since
    expect(await setBookmarks(db, options)).toBe(0);
  });

  it('are set without reading what came before the days that records may still arrive for', async () => {
    await store({ '2024-01-15': 22, '2024-02-01': 22 });
    const { since: _, ...usual } = options;
    expect(await setBookmarks(db, usual)).toBe(1);
    expect(new Set((await bookmarks()).map(({ day }) => day))).toEqual(new Set(['2024-02-01']));
    expect(await setBookmarks(db, options)).toBe(1);
  });

  it('lead every page to its slice, also with a decision, which they do not serve', async () => {
    const records = await store({ '2024-02-28': 3, '2024-02-29': 31, '2024-03-01': 22 });
    await setBookmarks(db, options);
    await expectEveryPage(records);
    await expectEveryPage(
      records.filter(({ decision }) => decision === 'custom'),
      'custom',
    );
  });

  it('are where a page begins', async () => {
    const records = await store({ '2024-02-29': 22 });
    await setBookmarks(db, options);
    const [, second] = await bookmarks();
    await db.run(
      (sql) =>
        sql`update bookmarks set id = ${records[1]?.id ?? ''} where domain_number = (select number from domains where id = ${domainId}) and newer = 14`,
    );
    expect((await read(14, 2)).ids, `not from ${second?.id}`).toEqual([records[0]?.id]);
  });

  it('are passed over once a late record came, and set anew', async () => {
    const records = await store({ '2024-02-29': 30 });
    await setBookmarks(db, options);
    const late = place(100, '2024-02-29');
    await persist(db, [late]);
    await expectEveryPage([...records, late]);
    expect(await setBookmarks(db, options)).toBe(1);
    expect((await bookmarks()).map((bookmark) => bookmark.records)).toEqual([31, 31, 31, 31]);
    await expectEveryPage([...records, late]);
  });

  it('go with the records of their month, which gets none again', async () => {
    const records = await store({ '2023-07-31': 25, '2023-08-01': 25 });
    await setBookmarks(db, options);
    await db.run((sql) => dropMonth(sql, '2023-07'));
    expect((await bookmarks()).map(({ day }) => day)).toEqual(['2023-08-01', '2023-08-01', '2023-08-01']);
    expect(await setBookmarks(db, options)).toBe(0);
    await expectEveryPage(records.slice(25));
  });

  // Postgres may prefer a plan for any range, which expects few records in it
  it('a page of a busy domain reads its own records, also with a plan for any range', async () => {
    const busy = await makeTenant(db);
    const query = { organizationId: busy.organizationId, domainId: busy.domainIds[0] ?? '', limit: 50 };
    for (let first = 0; first < 4_000; first += 1_000) {
      const batch = Array.from({ length: 1_000 }, (_, n) =>
        recordAt(Date.parse('2024-02-10') + first + n, { domainId: query.domainId }),
      );
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
    const page = await generic.run((sql) => readPage(sql, query));
    expect(page.records).toHaveLength(50);
    expect((await countRead()) - before).toBeLessThan(1_000);
  });
});
