import { expect, it } from 'vitest';
import { takeErasure } from '#libs/privacy/erasures';
import { openDatabase } from '../support/stores.ts';

it('an erasure that a clock 400 days ahead noted as under way is taken over', async () => {
  const { db, sql } = await openDatabase();
  await sql`
    insert into erasures (id, organization_number, domain_number, hash, visitor_id, moved_at)
    values ('some', 1, 0, '\\x00', 'v', clock_timestamp() + interval '400 days')`;
  expect(await db.run(takeErasure)).toMatchObject({ erasureId: 'some' });
  expect(await db.run(takeErasure)).toBeUndefined();
});
