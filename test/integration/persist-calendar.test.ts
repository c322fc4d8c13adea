import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Counter, totalOf } from '#libs/contract/terms';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { countRecords, inKeyOrder, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, type Tenant, useDatabase } from '../support/stores.ts';

/** Last and first milliseconds of days, with how many decisions fall on each day. */
const edges = [
  '2023-12-31T23:59:59.999Z',
  '2024-01-01T00:00:00.000Z',
  '2024-01-31T23:59:59.999Z',
  '2024-02-01T00:00:00.000Z',
  '2024-02-28T23:59:59.999Z',
  '2024-02-29T00:00:00.000Z',
  '2024-02-29T23:59:59.999Z',
  '2024-03-01T00:00:00.000Z',
  '2024-04-30T23:59:59.999Z',
  '2024-05-01T00:00:00.000Z',
  '2023-02-28T23:59:59.999Z',
  '2023-03-01T00:00:00.000Z',
];

/** The smallest and the largest id that carry this time. */
function extremeIds(time: string): string[] {
  const hex = Date.parse(time).toString(16).padStart(12, '0');
  return ['7000-8000-000000000000', '7fff-bfff-ffffffffffff'].map(
    (tail) => `${hex.slice(0, 8)}-${hex.slice(8)}-${tail}`,
  );
}

describe('the UTC day and month of a record', () => {
  let db: Database;
  let tenant: Tenant;
  const totals = (counters: Counter[], domainId: string) =>
    Object.fromEntries(
      counters.filter((counter) => counter.domainId === domainId).map((one) => [one.period, totalOf(one)]),
    );

  beforeAll(() => {
    ({ db } = useDatabase());
  });
  beforeEach(async () => {
    tenant = await makeTenant(db, { domains: 3 });
  });

  it('is that of its id to the millisecond, at ends of days, months, years and of a leap February', async () => {
    const [domainId = ''] = tenant.domainIds;
    const records = edges.flatMap((time) => [
      recordAt(time, { domainId }),
      ...extremeIds(time).map((id) => recordAt(time, { domainId, id, decision: 'reject_all' })),
    ]);
    await persist(db, records);
    const counters = await storedCounters(db, tenant.organizationId);
    const expected = {
      '2023-02': 3,
      '2023-02-28': 3,
      '2023-03': 3,
      '2023-03-01': 3,
      '2023-12': 3,
      '2023-12-31': 3,
      '2024-01': 6,
      '2024-01-01': 3,
      '2024-01-31': 3,
      '2024-02': 12,
      '2024-02-01': 3,
      '2024-02-28': 3,
      '2024-02-29': 6,
      '2024-03': 3,
      '2024-03-01': 3,
      '2024-04': 3,
      '2024-04-30': 3,
      '2024-05': 3,
      '2024-05-01': 3,
    };
    expect(totals(counters, domainId)).toEqual(expected);
    expect(totals(counters, '')).toEqual(expected);
  });

  it('counters at all four levels equal the records grouped, over domains and edges', async () => {
    const records = edges.flatMap((time) =>
      tenant.domainIds.flatMap((domainId, index) =>
        (['accept_all', 'reject_all', 'custom', 'withdraw'] as const)
          .slice(0, index + 2)
          .map((decision) => recordAt(time, { domainId, decision })),
      ),
    );
    const { counters } = await persist(db, records);
    const stored = await storedCounters(db, tenant.organizationId);
    expect(stored).toEqual(await countRecords(db, tenant.organizationId));
    expect(inKeyOrder(counters)).toEqual(stored);
  });
});
