import { expect, it } from 'vitest';
import { createProducer } from '#libs/record/recorder';
import { atEnd } from '../support/at-end.ts';
import { sampleOf } from '../support/metrics.ts';
import { recordAt } from '../support/records.ts';
import { startWorker } from '../support/service.ts';
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
