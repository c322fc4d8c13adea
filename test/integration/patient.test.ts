/** A long answer outlasts a read that was too slow once. */
import { expect, it } from 'vitest';
import { patient } from '#libs/store/patient';
import type { Sql } from '#libs/store/sql';
import { openPool } from '../support/pool.ts';
import { useDatabase } from '../support/stores.ts';

it('a patient read is asked again where the store was busy, and gives up on a mistake at once', async () => {
  const db = patient(openPool(useDatabase().url, { statementTimeout: 1_000 }));
  let asked = 0;
  const read = (ask: (sql: Sql) => Promise<unknown>) => {
    asked = 0;
    return db.run((sql) => {
      asked += 1;
      return ask(sql);
    });
  };
  expect(await read((sql) => (asked === 1 ? sql`select pg_sleep(60)` : sql`select 1 as n`))).toEqual([{ n: 1 }]);
  expect(asked).toBe(2);
  await expect(read((sql) => sql`select 1 / 0`)).rejects.toThrow('division by zero');
  expect(asked).toBe(1);
});
