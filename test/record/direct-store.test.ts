import { expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { createDirectStore, type RecordOfOrganization } from '#libs/record/direct-store';
import { quiet } from '../support/counter-stores.ts';
import { counting, openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { url, db, sql } = await openDatabase();
const hasty = openPool(url, { max: 4, statementTimeout: 1_000, deadline: 5_000 });
const [locked, other, third] = [await makeTenant(db), await makeTenant(db), await makeTenant(db)];

const recordOf = ({ organizationId, domainIds }: Tenant): RecordOfOrganization => ({
  organizationId,
  record: recordAt(Date.now(), { domainId: at(domainIds, 0) }),
});
const open = (refusedFor: number, by: Database = hasty) =>
  createDirectStore({ db: by, ...quiet(), statements: 4, refusedFor });
const storedOf = async ({ organizationId }: Tenant) => {
  const [row] = await sql<{ n: number }>`
    select coalesce(sum(accept_all), 0)::int as n from counters
    where organization_id = ${organizationId} and domain_id = '' and length(period) = 7`;
  return row?.n;
};
const whileLocked = (work: () => Promise<unknown>) =>
  db.transaction(async (holding) => {
    await holding`select from counters where organization_id = ${locked.organizationId} for update`;
    await work();
  });

it('an organization with a locked row is refused for a while, at once, and keeps no other from being stored', async () => {
  const { db: watched, asked } = counting(hasty);
  const store = open(60_000, watched);
  const batch = () => [recordOf(other), recordOf(locked), recordOf(third), recordOf(locked)];
  expect(await store(batch())).toEqual(new Set());
  const refused = new Set([locked.organizationId]);
  await whileLocked(async () => {
    // two batches at once are refused nobody else
    expect(await Promise.all([store(batch()), store(batch())])).toEqual([refused, refused]);
    const before = asked();
    expect(await store([recordOf(other)])).toEqual(new Set());
    const once = asked() - before;
    expect(await store(batch())).toEqual(refused);
    expect(asked() - before).toBe(2 * once);
  });
  expect([await storedOf(locked), await storedOf(other), await storedOf(third)]).toEqual([2, 5, 4]);
});

it('it is tried again after a while, and nobody waits for that; alone in its batches it is never refused without a try', async () => {
  const store = open(0);
  const both = () => [recordOf(other), recordOf(locked)];
  await whileLocked(async () => {
    expect(await store(both())).toEqual(new Set([locked.organizationId]));
    await expect(open(60_000)([recordOf(locked)])).rejects.toThrow();
  });
  const before = (await storedOf(locked)) ?? 0;
  expect(await store(both())).toEqual(new Set([locked.organizationId]));
  await eventually(async () => expect(await storedOf(locked)).toBe(before + 1));
  await eventually(async () => expect(await store(both())).toEqual(new Set()));
});
