import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isDeadlock, isUnavailable } from '#libs/base/db/errors';
import { decisions } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import { listMonths } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { countOwed, countRecords, countStored, storedCounters } from '../support/counts.ts';
import { openPool, through } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';

const concurrent = 12;

const shuffled = <T>(items: T[]): T[] =>
  items
    .map((item) => ({ item, key: Math.random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);

const { url, db } = await openDatabase();

describe('persist', () => {
  let tenant: Tenant;
  let domainId: string;
  const noon = '2024-05-15T12:00:00.000Z';
  beforeEach(async () => {
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
  });

  it('gives up as with a lost connection where connections are closed again and again', async () => {
    let closed = 0;
    const closing = { ...db, generation: () => (closed += 1) };
    const error = await persist(closing, [recordAt(noon, { domainId })]).catch((thrown: unknown) => thrown);
    expect([error, isUnavailable(error)]).toMatchObject([{ code: 'CONNECTION_CLOSED' }, true]);
  });

  it('counts on the UTC day and month of its id to the millisecond, with any bits behind them', async () => {
    const days = ['2023-02-28', '2023-03-01', '2023-12-31', '2024-02-28', '2024-02-29', '2024-03-01', '2024-04-30'];
    for (const day of days) {
      const ends = [Date.parse(day), Date.parse(day) + 86_399_999].flatMap((time) => {
        const hex = time.toString(16).padStart(12, '0');
        return ['7000-8000-000000000000', '7fff-bfff-ffffffffffff'].map((tail) =>
          recordAt(time, { domainId, id: `${hex.slice(0, 8)}-${hex.slice(8)}-${tail}` }),
        );
      });
      const { counters } = await persist(db, ends);
      expect(new Set(counters.map(({ period }) => period))).toEqual(new Set([day, day.slice(0, 7)]));
    }
  });

  it('either all of a batch is stored, counted and owed, or nothing of it', async () => {
    const good = Array.from({ length: 5 }, () => recordAt(noon, { domainId }));
    const batch = [...good, recordAt(noon, { domainId: 'dom_unknown' })];
    await expect(persist(db, batch, { owe: true })).rejects.toThrow(/null value/);
    expect(await countOwed(db, tenant.organizationId)).toBe(0);
    expect(await countRecords(db, tenant.organizationId)).toEqual([]);
    expect(await storedCounters(db, tenant.organizationId)).toEqual([]);
  });

  describe('of concurrent batches', () => {
    let tenants: Tenant[];
    beforeAll(async () => {
      tenants = await Promise.all([15, 15, 10].map((domains) => makeTenant(db, { domains })));
    });

    const own = openPool(url, { max: concurrent });
    let deadlocks = 0;
    /** It counts the deadlocks after which persist tries again. */
    const pool = through(own, (ask) =>
      ask(own).catch((error: unknown) => {
        if (isDeadlock(error)) deadlocks += 1;
        throw error;
      }),
    );

    const expectTrueCounters = async (records: NewRecord[]) => {
      const ids = records.map(({ id }) => id);
      expect(await countStored(db, ids)).toBe(records.length);
      for (const { organizationId } of tenants) {
        expect(await storedCounters(db, organizationId)).toEqual(await countRecords(db, organizationId));
      }
    };

    it('that share ids, domains and counters, few or many of them, in any order, neither deadlock nor miscount', async () => {
      const domainIds = tenants.flatMap((tenant) => tenant.domainIds);
      const below = (count: number) => Math.floor(Math.random() * count);
      const made: NewRecord[] = [];
      const make = (count: number) => {
        const batch = Array.from({ length: count }, () =>
          recordAt(Date.parse('2024-01-30') + below(60) * 86_400_000, {
            domainId: domainIds[below(40)] ?? '',
            decision: decisions[below(4)] ?? 'custom',
          }),
        );
        made.push(...batch);
        return batch;
      };
      let added = 0;
      for (let round = 0; round < 2; round += 1) {
        const shared = make(300);
        // counters of small and of large batches lie in hash tables of different sizes, hence in different orders
        const batches = Array.from({ length: concurrent }, (_, worker) => [
          shuffled(shared).slice(0, 50 + 20 * worker),
          make([20, 100, 600][worker % 3] ?? 1),
        ]).flat();
        const results = await Promise.all([...batches, shared].map((batch) => persist(pool, batch)));
        added += results.reduce((sum, result) => sum + result.added, 0);
      }
      expect(added).toBe(made.length);
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
});
