import { expect, it } from 'vitest';
import { createClient } from '../support/client.ts';
import { runCli, startApi, startWorker } from '../support/service.ts';
import { makeTenant, openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('a worker of one shard also stores what an API of several queues', async () => {
  const { url, db } = await openDatabase();
  const redis = await openRedisServer();
  const env = { DATABASE_URL: url, REDIS_URL: redis.url };
  const tenants = await Promise.all(Array.from({ length: 6 }, () => makeTenant(db)));
  const [api] = await Promise.all([startApi({ ...env, QUEUE_SHARDS: '5' }), startWorker(env)]);
  for (const tenant of tenants) {
    const [domainId = '', apiKey = ''] = [...tenant.domainIds, ...tenant.apiKeys];
    const { body } = await createClient(api.baseUrl, tenant).record(domainId, apiKey, { decision: 'custom' });
    expect(body.status).toBe('queued');
  }
  await eventually(async () => {
    for (const tenant of tenants) {
      const { body } = await createClient(api.baseUrl, tenant).records(tenant.domainIds[0] ?? '');
      expect(body.total).toBe(1);
    }
  });
  const { stdout } = await runCli(env, 'queue', 'status', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ waiting: 0, active: 0, failed: 0 });
});
