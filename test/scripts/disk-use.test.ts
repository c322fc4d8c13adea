import { expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { diskUse } from '../../scripts/bench/measurements/disk.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('what the bench says of the disk is the size of all tables, in parts that add up over the months', async () => {
  const { db } = await openDatabase();
  const [domainId = ''] = (await makeTenant(db)).domainIds;
  const months = ['2024-01-15T12:00:00.000Z', '2024-02-15T12:00:00.000Z'];
  const before = await diskUse(db);
  await persist(
    db,
    months.flatMap((time) => Array.from({ length: 200 }, () => recordAt(time, { domainId }))),
  );

  // autovacuum may come between two looks
  const use = await eventually(async () => {
    const parts = await diskUse(db);
    const [all] = await db.run(
      (sql) => sql<{ bytes: number }[]>`
        select sum(pg_total_relation_size(oid))::bigint as bytes
        from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBe(all?.bytes);
    return parts;
  });
  const grown = Object.keys(use).filter((part) => (use[part] ?? 0) > (before[part] ?? 0));
  expect(grown).toEqual(expect.arrayContaining(['rows', 'index records_pkey', 'other tables']));
  expect(Object.keys(use)).toEqual(Object.keys(before));
});
