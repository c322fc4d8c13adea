import { beforeAll, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import { listMonths } from '#libs/store/records/months';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { countRecords, storedCounters } from '../support/counts.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const concurrent = 12;

const shuffled = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, key: Math.random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);

describe('concurrent batches', () => {
  let url: string;
  let db: Database;
  let tenants: Tenant[];

  beforeAll(async () => {
    ({ url, db } = await openDatabase());
    tenants = await Promise.all([15, 15, 10].map((domains) => makeTenant(db, { domains })));
  });

  /** A pool of its own: what its backends counted is visible once they have ended. */
  const withPool = async (work: (pool: Database) => Promise<void>): Promise<{ deadlocks: number }> => {
    const name = 'test-concurrent';
    const pool = openPool(url, { max: concurrent, name });
    await work(pool);
    await pool.close();
    return eventually(() =>
      db.run(async (sql) => {
        const [row] = await sql<{ open: number; deadlocks: number }[]>`
          select (select count(*) from pg_stat_activity where application_name = ${name}) as open, deadlocks
          from pg_stat_database where datname = current_database()`;
        if (!row || row.open > 0) throw new Error('the pool is not closed yet');
        return { deadlocks: row.deadlocks };
      }),
    );
  };

  const expectTrueCounters = async (records: NewRecord[]) => {
    const ids = new Set(records.map(({ id, domainId }) => `${domainId} ${id}`));
    const [row] = await db.run(
      (sql) => sql<{ n: number }[]>`select count(*) as n from records where id = any(${records.map(({ id }) => id)})`,
    );
    expect(row?.n).toBe(ids.size);
    for (const { organizationId } of tenants) {
      expect(await storedCounters(db, organizationId)).toEqual(await countRecords(db, organizationId));
    }
  };

  it('that share ids, domains and counters in shuffled order neither deadlock nor miscount', async () => {
    const domainIds = tenants.flatMap((tenant) => tenant.domainIds);
    const made: NewRecord[] = [];
    let added = 0;
    const { deadlocks } = await withPool(async (pool) => {
      for (let round = 0; round < 3; round += 1) {
        const fresh = Array.from({ length: 300 }, (_, index) =>
          recordAt(Date.parse('2024-01-30') + (index % 5) * 86_400_000 + index, {
            domainId: domainIds[index % domainIds.length] ?? '',
            decision: decisions[index % 4] ?? 'custom',
          }),
        );
        const batches = Array.from({ length: concurrent }, (_, index) => shuffled(fresh).slice(0, 50 + 20 * index));
        const results = await Promise.all(batches.map((batch) => persist(pool, batch)));
        added += results.reduce((sum, result) => sum + result.added, 0);
        added += (await persist(pool, fresh)).added;
        made.push(...fresh);
      }
    });
    expect(added).toBe(made.length);
    expect(deadlocks).toBe(0);
    await expectTrueCounters(made);
  });

  it('that share nothing but counters, few or many of them, do not deadlock either', async () => {
    const domainIds = tenants.flatMap((tenant) => tenant.domainIds);
    const below = (count: number) => Math.floor(Math.random() * count);
    const made: NewRecord[] = [];
    // counters of small and of large batches lie in hash tables of different sizes, hence in different orders
    const make = (count: number) => {
      const batch = Array.from({ length: count }, () =>
        recordAt(Date.parse('2024-01-30') + below(60) * 86_400_000, { domainId: domainIds[below(40)] ?? '' }),
      );
      made.push(...batch);
      return batch;
    };
    const { deadlocks } = await withPool(async (pool) => {
      const workers = Array.from({ length: concurrent }, async (_, worker) => {
        for (let round = 0; round < 3; round += 1) await persist(pool, make([20, 100, 600][(worker + round) % 3] ?? 1));
      });
      await Promise.all(workers);
    });
    expect(deadlocks).toBe(0);
    await expectTrueCounters(made);
  });

  it('whose month has no partition yet make it on demand, once, and are all stored', async () => {
    const [{ domainIds: [domainId = ''] = [] } = {}] = tenants;
    expect(await db.run(listMonths)).not.toContain('2019-05');
    const alone = recordAt('2019-05-31T23:59:59.999Z', { domainId });
    expect((await persist(db, [alone])).added).toBe(1);
    const records = Array.from({ length: 5 }, (_, index) => [
      recordAt('2018-02-01T00:00:00.000Z', { domainId }),
      recordAt('2018-12-31T23:59:59.999Z', { domainId }),
      recordAt(Date.UTC(2018, index, 15), { domainId }),
    ]);
    const results = await Promise.all(records.map((batch) => persist(db, batch)));
    expect(results.map((result) => result.added)).toEqual(Array(5).fill(3));
    expect((await db.run(listMonths)).filter((month) => month.startsWith('2018'))).toEqual(
      [1, 2, 3, 4, 5, 12].map((month) => `2018-${String(month).padStart(2, '0')}`),
    );
    await expectTrueCounters([alone, ...records.flat()]);
  });
});
