import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isUnavailable } from '#libs/store/errors';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { countOwed, countRecords, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, type Tenant, useDatabase } from '../support/stores.ts';

/** What a batch stores, counts and returns: test/integration/model.test.ts. */
describe('persist', () => {
  let db: Database;
  let tenant: Tenant;
  let domainId: string;
  const noon = '2024-05-15T12:00:00.000Z';

  beforeAll(() => {
    ({ db } = useDatabase());
  });
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

  it('one id in upper and in lower case is one record', async () => {
    const record = recordAt(noon, { domainId });
    await persist(db, [record]);
    expect((await persist(db, [{ ...record, id: record.id.toUpperCase() }])).added).toBe(0);
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
});
