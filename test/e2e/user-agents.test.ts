import { expect, it } from 'vitest';
import { startWorker } from '../support/service.ts';
import { openStores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

it('a worker deletes the user agents that no record names', async () => {
  const { db, env } = await openStores();
  const add = (text: string) =>
    db.run(
      (sql) => sql<{ number: number }[]>`
        insert into user_agents (domain_number, added_on, is_family, crawler, text)
        values (1, '2026-01-01', false, false, ${text}) returning number`,
    );
  const [used] = await add('used');
  await add('unused');
  await db.run((sql) => sql`insert into user_agent_months (number, month) values (${used?.number ?? 0}, '2026-11')`);
  await startWorker(env);
  await eventually(async () => {
    const left = await db.run((sql) => sql<{ text: string }[]>`select text from user_agents`);
    expect(left.map(({ text }) => text)).toEqual(['used']);
  });
});
