import { expect, it } from 'vitest';
import { expectTasks, noteSuccess } from '#libs/store/housekeeping';
import { openDatabase } from '../support/stores.ts';

it('a task that is no longer scheduled stays forgotten, also where an older worker still runs it', async () => {
  const { db } = await openDatabase();
  const seen = () =>
    db.run(
      (sql) => sql<{ task: string; late: boolean }[]>`
      select task, succeeded_at = to_timestamp(9) as late from housekeeping_tasks order by task`,
    );
  await db.run((sql) => expectTasks(sql, ['months', 'retention']));
  await db.run((sql) => sql`update housekeeping_tasks set succeeded_at = to_timestamp(9)`);
  await db.run((sql) => expectTasks(sql, ['months']));
  expect(await seen()).toEqual([{ task: 'months', late: true }]);
  for (const task of ['retention', 'months']) await db.run((sql) => noteSuccess(sql, task));
  expect(await seen()).toEqual([{ task: 'months', late: false }]);
});
