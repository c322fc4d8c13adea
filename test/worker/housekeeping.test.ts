import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { addMonths, monthOf } from '#libs/base/terms/calendar';
import { listMonths, partitionOf } from '#libs/record/month-partitions';
import { maintenanceQueue, queuePrefix } from '#libs/record/queue';
import { createTasks } from '../../apps/worker/tasks.ts';
import { turnedClock } from '../support/clock.ts';
import { quiet } from '../support/counter-stores.ts';
import { startWorker } from '../support/service.ts';
import { openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
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

it('a notice that no record names is dropped once what waited for the worker is stored', async () => {
  const { db } = await openStores();
  await db.run(
    (sql) => sql`
      insert into notices (domain_number, hash, documented_at) values (1, sha256('x'), now() - interval '25 hours')`,
  );
  const left = async () => (await db.run((sql) => sql`select from notices where documented_at is not null`)).count;
  const settings = { retentionMonths: 1, personalRetentionMonths: 1, derivations: [] };
  for (const [minutes, count] of [
    [49, 1],
    [50, 0],
  ] as const) {
    const clock = { ...turnedClock(db).clock, steadyFor: () => minutes * 60_000 };
    await createTasks({ ...settings, db, clock, ...quiet() }).notices(new AbortController().signal);
    expect(await left()).toBe(count);
  }
});

it('a worker deletes what has been kept long enough, counts the visitors noted, and makes months', async () => {
  const { db, env } = await openStores();
  const { organizationId } = await makeTenant(db);
  const ahead = addMonths(monthOf(Date.now()), 1);
  await db.run(async (sql) => {
    await sql`
      insert into notices (domain_number, hash, documented_at, named_at)
      values (1, sha256('unnamed'), now() - interval '25 hours', null),
        (1, sha256('on trial'), now() - interval '40 days', now())`;
    await sql`
      with made as (
        insert into webhooks (id, organization_id, url, types, secret, enabled)
        values ('wh_old', ${organizationId}, 'https://example.com/', '{}', '', false) returning number
      )
      insert into webhook_deliveries (webhook, message_id, type, attempt, at, milliseconds)
      select number, 'msg_old', 'webhook.test', 1, now() - interval '31 days', 1 from made`;
    await sql`
      insert into idempotent_answers (organization_number, request, body, answer, made_at)
      values (1, '', '', '', now() - interval '25 hours')`;
    await sql`
      insert into display_flushes (flush, stored_at) values (gen_random_uuid(), now() - interval '9 days')`;
    await sql`insert into busy_visitors (domain_number, visitor_id) values (1, 'v')`;
    await sql`drop table ${sql(partitionOf(ahead))}`;
    await sql`delete from record_months where month = ${ahead}`;
  });
  await startWorker(env);
  const left = () =>
    db.run(
      (sql) => sql`
    select (select count(*)::int from notices where documented_at is not null) as notices,
      (select count(*)::int from webhook_deliveries) as deliveries,
      (select count(*)::int from idempotent_answers) as answers,
      (select count(*)::int from display_flushes) as flushes,
      (select count(*)::int from busy_visitors where counted_at is null) as visitors`,
    );
  await eventually(
    async () => {
      // the record that names a notice may wait in the queues since before the worker began
      expect(await left()).toEqual([{ notices: 1, deliveries: 0, answers: 0, flushes: 0, visitors: 0 }]);
      expect(await db.run(listMonths)).toContain(ahead);
    },
    { within: 30_000 },
  );
});
