import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listOwedRaises } from '#libs/store/owed-raises';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { countOwed, inKeyOrder, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';

const noon = '2024-05-15T12:00:00.000Z';

describe('raises that are owed', () => {
  let db: Database;
  let tenant: Tenant;
  let domainId: string;

  beforeAll(async () => {
    ({ db } = await openDatabase());
  });
  beforeEach(async () => {
    await db.run((sql) => sql`truncate owed_raises`);
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
  });
  const owed = () => countOwed(db, tenant.organizationId);

  it('are noted with the records for every counter of the batch, and carry what the counters hold', async () => {
    await persist(db, [recordAt(noon, { domainId }), recordAt('2024-06-01', { domainId })], { owe: true });
    const listed = await db.run((sql) => listOwedRaises(sql, undefined, 100));
    expect(inKeyOrder(listed.map(({ times: _, ...counter }) => counter))).toEqual(
      await storedCounters(db, tenant.organizationId),
    );
  });

  it('carry what the counters hold when they are swept, not when they were noted', async () => {
    await persist(db, [recordAt(noon, { domainId })], { owe: true });
    await persist(db, [recordAt(noon, { domainId })]);
    const listed = await db.run((sql) => listOwedRaises(sql, undefined, 100));
    expect(listed.map(({ accept_all }) => accept_all)).toEqual([2, 2, 2, 2]);
  });

  it('are noted also where nothing was new, since nobody knows whether an earlier attempt could raise', async () => {
    const records = [recordAt(noon, { domainId })];
    await persist(db, records);
    expect(await owed()).toBe(0);
    await persist(db, records, { owe: true });
    expect(await owed()).toBe(4);
  });

  it('are committed with the records or not at all', async () => {
    await db.run((sql) => sql`alter table owed_raises rename to owed_raises_away`);
    try {
      await expect(persist(db, [recordAt(noon, { domainId })], { owe: true })).rejects.toThrow(/owed_raises/);
      expect(await storedCounters(db, tenant.organizationId)).toEqual([]);
    } finally {
      await db.run((sql) => sql`alter table owed_raises_away rename to owed_raises`);
    }
    const bad = recordAt(noon, { domainId: 'dom_unknown' });
    await expect(persist(db, [recordAt(noon, { domainId }), bad], { owe: true })).rejects.toThrow();
    expect(await owed()).toBe(0);
  });
});
