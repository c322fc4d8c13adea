import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { maintenanceQueue, queuePrefix } from '#libs/record/queue';
import { startWorker } from '../support/service.ts';
import { openStores } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a worker deletes unused user agents, and removes old schedules', async () => {
  const { db, env } = await openStores();
  // as workers of the release before leave it
  const redis = await openRedis(env.REDIS_URL, 'worker');
  const queue = new Queue(maintenanceQueue, { connection: redis.client, prefix: queuePrefix });
  await queue.upsertJobScheduler('months', { every: 3_600_000 }, { name: 'months' });
  await queue.close();
  const left = () => redis.client.keys(`${queuePrefix}:${maintenanceQueue}:*`);
  expect((await left()).length).toBeGreaterThan(2);
  await db.run(async (sql) => {
    await sql`
      insert into user_agents (domain_number, added_on, is_family, crawler, text)
      select 1, '2026-01-01', false, false, text from unnest(array['used', 'unused']) as text`;
    await sql`
      insert into user_agent_months (number, month) select number, '2026-11' from user_agents where text = 'used'`;
  });
  await startWorker(env);
  await eventually(async () => {
    expect(await db.run((sql) => sql`select text from user_agents`)).toEqual([{ text: 'used' }]);
    expect(await left()).toEqual([]);
  });
});
