import { expect, it } from 'vitest';
import { createProducer } from '#libs/record/recorder';
import { createAdministration } from '#libs/tenants/administration';
import { atEnd } from '../support/at-end.ts';
import { createClient } from '../support/client.ts';
import { sampleOf } from '../support/metrics.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a worker stores records while everything else that it asks Postgres waits there', async () => {
  const { db, env } = await openStores();
  const [tenant, worker] = await Promise.all([makeTenant(db), startWorker(env)]);
  const producer = createProducer(await openRedis(env.REDIS_URL), 1);
  atEnd(() => producer.close());
  await producer.ready();
  const running = (pool: string) => sampleOf(worker.opsUrl, `assent_postgres_running{pool="${pool}"}`);
  const looks: Promise<unknown>[] = [];
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`lock table schema_migrations`;
      // each asks for the schema, and would be answered after all that came before
      looks.push(...Array.from({ length: 100 }, () => fetch(`${worker.opsUrl}/readyz`)));
      await eventually(async () => expect(await running('main')).toBeGreaterThan(80));
      await producer.add(0, [recordAt(Date.now(), { domainId: at(tenant.domainIds, 0) })]);
      await eventually(async () => expect(await transaction`select from records`).toHaveLength(1));
      expect(await running('main')).toBeGreaterThan(80);
    }),
  );
  await Promise.all(looks);
  await eventually(async () => expect(await running('recording')).toBe(0));
});

it('an API refuses a revoked key while everything else that it asks Postgres waits there', async () => {
  const { db, env } = await openStores();
  const [tenant, api] = await Promise.all([makeTenant(db), startApi(env)]);
  const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
  const client = createClient(api.baseUrl, tenant);
  const record = () => client.record(domainId, apiKey, { decision: 'accept_all' });
  expect((await record()).status).toBe(202);
  const running = () => sampleOf(api.opsUrl, 'assent_postgres_running{pool="main"}');
  let isOver = false;
  const lookOn = async () => {
    while (!isOver) await fetch(`${api.opsUrl}/readyz`);
  };
  const looks: Promise<unknown>[] = [];
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`lock table schema_migrations`;
      looks.push(...Array.from({ length: 100 }, lookOn).map((look) => look.catch(() => 'the API has ended')));
      try {
        await eventually(async () => expect(await running()).toBeGreaterThan(80));
        await createAdministration(db, 'test').revokeKey(domainId, apiKey);
        await eventually(async () => expect((await record()).status).toBe(401), { within: 30_000 });
        // some have just been answered that it takes too long, and ask again
        await eventually(async () => expect(await running()).toBeGreaterThan(80));
      } finally {
        isOver = true;
      }
    }),
  );
  await Promise.all(looks);
});
