import { expect, it } from 'vitest';
import { createDirectStore, type RecordOf } from '#libs/record/direct-store';
import { quiet } from '../support/counter-stores.ts';
import { countRecords } from '../support/counts.ts';
import { counting, openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';

const { url, db } = await openDatabase();
const hasty = openPool(url, { statementTimeout: 250, deadline: 5_000 });

it('an organization with a locked row is refused for a while, at once, and keeps no other from being stored', async () => {
  const [locked, other] = [await makeTenant(db), await makeTenant(db)];
  const recordOf = ({ organizationId, domainIds }: typeof locked): RecordOf => ({
    organizationId,
    record: recordAt(Date.now(), { domainId: at(domainIds, 0) }),
  });
  const batch = () => [recordOf(locked), recordOf(other), recordOf(locked), recordOf(other)];
  const { db: watched, asked } = counting(hasty);
  const parts = { db: watched, ...quiet() };
  const store = createDirectStore(parts, 60_000);
  const storedOf = async ({ organizationId }: typeof locked) =>
    (await countRecords(db, organizationId)).find(({ period, domainId }) => domainId === '' && period.length === 7);
  await store(batch());
  await db.transaction(async (holding) => {
    await holding`select from counters where organization_id = ${locked.organizationId} for update`;
    expect(await store(batch())).toEqual(new Set([locked.organizationId]));
    const before = asked();
    expect(await store([recordOf(other)])).toEqual(new Set());
    const once = asked() - before;
    expect(await store(batch())).toEqual(new Set([locked.organizationId]));
    expect(asked() - before).toBe(2 * once);
    const impatient = createDirectStore(parts, 0);
    expect(await impatient(batch())).toEqual(new Set([locked.organizationId]));
    expect(await impatient(batch())).toEqual(new Set([locked.organizationId]));
  });
  expect((await storedOf(locked))?.accept_all).toBe(2);
  expect((await storedOf(other))?.accept_all).toBe(11);
  const patient = createDirectStore(parts, 0);
  expect(await patient(batch())).toEqual(new Set());
});
