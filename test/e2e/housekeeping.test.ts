import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { maintenanceQueue, queuePrefix } from '#libs/queue/names';
import { startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a worker sets bookmarks at every ten-thousandth record of a busy day, deletes unused user agents, and removes old schedules', async () => {
  const { db, env } = await openStores();
  // as workers of the release before leave it
  const redis = await openRedis(env.REDIS_URL);
  const queue = new Queue(maintenanceQueue, { connection: redis.client, prefix: queuePrefix });
  await queue.upsertJobScheduler('months', { every: 3_600_000 }, { name: 'months' });
  await queue.close();
  const left = () => redis.client.keys(`${queuePrefix}:${maintenanceQueue}:*`);
  expect((await left()).length).toBeGreaterThan(2);
  const { organizationId, domainIds } = await makeTenant(db);
  const domainId = at(domainIds, 0);
  const day = addDays(dayOf(Date.now()), -30);
  await db.run(async (sql) => {
    await sql`select make_record_month(${day.slice(0, 7)})`;
    // a fourth of the hundred thousand that make a day a busy one
    await sql`
      insert into records (domain_number, id, epoch, decision, received_at, source, bot, preferences)
      select number, (lpad(to_hex(${Date.parse(day)}::bigint + n), 12, '0') || '70008' || lpad('', 15, '0'))::uuid,
        (select open_epoch()), 'accept_all', now(), 'banner', false, '{}'
      from domains, generate_series(1, 25000) as n where domains.id = ${domainId}`;
    await sql`
      insert into counters (organization_id, domain_id, period, accept_all)
      values (${organizationId}, ${domainId}, ${day}, 100000)`;
    await sql`
      insert into user_agents (domain_number, added_on, is_family, crawler, text)
      select 1, '2026-01-01', false, false, text from unnest(array['used', 'unused']) as text`;
    await sql`
      insert into user_agent_months (number, month) select number, '2026-11' from user_agents where text = 'used'`;
  });
  await startWorker(env);
  await eventually(async () => {
    const [found] = await db.run(
      (sql) => sql`
        select (select array_agg(newer order by newer)::text from bookmarks) as places,
          (select array_agg(text)::text from user_agents) as texts`,
    );
    expect(found).toEqual({ places: '{10000,20000}', texts: '{used}' });
    expect(await left()).toEqual([]);
  });
});
