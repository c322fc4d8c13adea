import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NewRecord } from '#libs/contract/record';
import { isUnavailable } from '#libs/store/errors';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { countRecords, inKeyOrder, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, type Tenant, useDatabase } from '../support/stores.ts';

describe('persist', () => {
  let db: Database;
  let tenant: Tenant;
  let domainId: string;
  let other: string;
  const noon = '2024-05-15T12:00:00.000Z';

  beforeAll(() => {
    ({ db } = useDatabase());
  });
  beforeEach(async () => {
    tenant = await makeTenant(db, { domains: 2 });
    [domainId = '', other = ''] = tenant.domainIds;
  });

  const bannerOf = (id: string, domain = domainId) =>
    db.run(async (sql) =>
      (
        await sql<{ banner: string }[]>`
          select banner_version as banner from records where domain_number = (select number from domains where id = ${domain}) and id = ${id}`
      ).map((row) => row.banner),
    );
  const expectTrueCounters = async () =>
    expect(await storedCounters(db, tenant.organizationId)).toEqual(await countRecords(db, tenant.organizationId));
  const countsOf = (counters: { domainId: string; period: string; accept_all: number }[]) =>
    counters.map(({ domainId, period, accept_all }) => `${domainId} ${period} ${accept_all}`).sort();

  it('a record that is three times in a batch is one record and one count', async () => {
    const record = recordAt(noon, { domainId });
    const { added } = await persist(db, [record, record, recordAt(noon, { domainId }), record]);
    expect(added).toBe(2);
    expect(await bannerOf(record.id)).toHaveLength(1);
    await expectTrueCounters();
  });

  it('gives up as with a lost connection where connections are closed again and again', async () => {
    let closed = 0;
    const closing = { ...db, generation: () => (closed += 1) };
    const error = await persist(closing, [recordAt(noon, { domainId })]).catch((thrown: unknown) => thrown);
    expect([error, isUnavailable(error)]).toMatchObject([{ code: 'CONNECTION_CLOSED' }, true]);
  });

  it('a batch that is sent again, whole or in part, adds nothing', async () => {
    const records = Array.from({ length: 20 }, () => recordAt(noon, { domainId }));
    expect((await persist(db, records)).added).toBe(20);
    expect((await persist(db, records)).added).toBe(0);
    expect((await persist(db, records.slice(5, 12))).added).toBe(0);
    expect((await persist(db, [...records.slice(15), recordAt(noon, { domainId })])).added).toBe(1);
    await expectTrueCounters();
  });

  it('of two bodies with one id in a batch the first wins, in whatever order ids sort', async () => {
    const twice = Array.from({ length: 30 }, () => recordAt(noon, { domainId })).flatMap((record): NewRecord[] => [
      { ...record, bannerVersion: 'first', decision: 'custom' },
      { ...record, bannerVersion: 'second', decision: 'withdraw' },
    ]);
    const firsts = twice.filter((record) => record.bannerVersion === 'first').reverse();
    const seconds = twice.filter((record) => record.bannerVersion === 'second');
    await persist(db, [...firsts, ...seconds]);
    for (const { id } of firsts) expect(await bannerOf(id)).toEqual(['first']);
    await expectTrueCounters();
  });

  it('of two bodies with one id in two batches the first stored wins, and only it is counted', async () => {
    const record = recordAt(noon, { domainId, bannerVersion: 'first', decision: 'custom' });
    await persist(db, [record]);
    const { added, counters } = await persist(db, [{ ...record, bannerVersion: 'second', decision: 'withdraw' }]);
    expect(added).toBe(0);
    expect(await bannerOf(record.id)).toEqual(['first']);
    expect(counters.map(({ custom, withdraw }) => [custom, withdraw])).toEqual(Array(4).fill([1, 0]));
  });

  it('one id in upper and in lower case is one record', async () => {
    const record = recordAt(noon, { domainId });
    await persist(db, [record]);
    expect((await persist(db, [{ ...record, id: record.id.toUpperCase() }])).added).toBe(0);
  });

  it('one id on two domains is two records', async () => {
    const record = recordAt(noon, { domainId });
    expect((await persist(db, [record, { ...record, domainId: other }])).added).toBe(2);
    await expectTrueCounters();
  });

  it('returns the absolute value of each counter of the batch at all four levels', async () => {
    await persist(db, [recordAt(noon, { domainId }), recordAt(noon, { domainId: other })]);
    const { counters } = await persist(db, [recordAt(noon, { domainId }), recordAt(noon, { domainId })]);
    expect(countsOf(counters)).toEqual(
      [` 2024-05 4`, ` 2024-05-15 4`, `${domainId} 2024-05 3`, `${domainId} 2024-05-15 3`].sort(),
    );
    expect(new Set(counters.map((counter) => counter.organizationId))).toEqual(new Set([tenant.organizationId]));
  });

  it('returns them also where nothing was new, so that a redelivered job can still raise', async () => {
    const records = [recordAt(noon, { domainId }), recordAt('2024-06-01', { domainId: other, decision: 'custom' })];
    await persist(db, records);
    await persist(db, [recordAt(noon, { domainId })]);
    const { added, counters } = await persist(db, records);
    expect(added).toBe(0);
    expect(inKeyOrder(counters)).toEqual(await storedCounters(db, tenant.organizationId));
  });

  it('returns both where only some days of the batch had something new', async () => {
    const old = recordAt('2024-05-14T12:00:00.000Z', { domainId });
    await persist(db, [old]);
    const { added, counters } = await persist(db, [old, recordAt(noon, { domainId: other })]);
    expect(added).toBe(1);
    expect(inKeyOrder(counters)).toEqual(await storedCounters(db, tenant.organizationId));
  });

  it("the organization is the domain's own, and each decision has its own count", async () => {
    const records = (['accept_all', 'reject_all', 'custom', 'withdraw'] as const).flatMap((decision, index) =>
      Array.from({ length: index + 1 }, () => recordAt(noon, { domainId, decision })),
    );
    const { counters } = await persist(db, records);
    for (const counter of counters)
      expect(counter).toMatchObject({ accept_all: 1, reject_all: 2, custom: 3, withdraw: 4 });
    await expectTrueCounters();
  });

  it('either all of a batch is stored and counted or nothing of it', async () => {
    const good = Array.from({ length: 5 }, () => recordAt(noon, { domainId }));
    await expect(persist(db, [...good, recordAt(noon, { domainId: 'dom_unknown' })])).rejects.toThrow(/null value/);
    expect(await countRecords(db, tenant.organizationId)).toEqual([]);
    expect(await storedCounters(db, tenant.organizationId)).toEqual([]);
  });
});
