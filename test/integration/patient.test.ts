/** A long answer outlasts a read that was too slow once. */
import { describe, expect, it } from 'vitest';
import { patient } from '#libs/store/patient';
import { createDatabase } from '#libs/store/sql';
import { atEnd } from '../support/at-end.ts';
import { openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('a patient read', () => {
  it('is asked again where the store was busy, and gives up on a mistake at once', async () => {
    const { db, url } = await openDatabase();
    const timeouts = { statementTimeout: 200, deadline: 2_000 };
    const hasty = createDatabase({ url, max: 1, ...timeouts, prepare: true, name: 'hasty' });
    atEnd(() => hasty.close());
    let asked = 0;
    let letGo = () => {};
    const blocking = db.run((sql) =>
      sql.begin(async (inside) => {
        await inside`lock table plans in access exclusive mode`;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      }),
    );
    await eventually(async () => {
      const locked = await hasty.run((sql) => sql`select from pg_locks where relation = 'plans'::regclass and granted`);
      expect(locked).toHaveLength(1);
    });
    const reading = patient(hasty).run((sql) => {
      asked += 1;
      return sql`select count(*) from plans`;
    });
    await eventually(() => expect(asked).toBe(2));
    letGo();
    await blocking;
    expect(await reading).toHaveLength(1);

    asked = 0;
    const mistaken = patient(hasty).run((sql) => {
      asked += 1;
      return sql`select 1 / 0`;
    });
    await expect(mistaken).rejects.toThrow('division by zero');
    expect(asked).toBe(1);
  });
});
