import { expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { startApi, startWorker } from '../support/service.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const today = dayOf(Date.now());

it('a failover of Redis behind one address is followed although no connection to the old master closes', async () => {
  const [{ url, db }, old, next] = await Promise.all([openDatabase(), openRedisServer(), openRedisServer()]);
  const [oldMaster, replica] = await Promise.all([openRedis(old.url, 'worker'), openRedis(next.url, 'worker')]);
  const gate = await openGate(old.url);
  const env = { DATABASE_URL: url, REDIS_URL: gate.url };
  const [api] = await Promise.all([startApi(env), startWorker(env)]);
  const tenant = await makeTenant(db);
  const [domainId = ''] = tenant.domainIds;
  const client = createClient(api.baseUrl, tenant);
  const acknowledged: string[] = [];
  const record = async (how: string) => {
    const { status, body } = await client.record(domainId, tenant.apiKeys[0] ?? '', { decision: 'custom' });
    if (status === 202) acknowledged.push(body.id);
    expect({ status, how: body.status }).toEqual({ status: 202, how });
  };
  const untilCounted = () =>
    eventually(async () => {
      const { body, headers } = await client.stats(domainId, `from=${today}&to=${addDays(today, 1)}`);
      const source = headers.get('x-stats-source');
      expect({ source, total: body.total }).toEqual({ source: 'redis', total: acknowledged.length });
    });
  await eventually(() => record('queued'));
  await untilCounted();

  await replica.client.call('REPLICAOF', '127.0.0.1', new URL(old.url).port);
  await eventually(async () => expect(await replica.client.info('replication')).toContain('master_link_status:up'));
  gate.leadTo(next.url);
  await replica.client.call('REPLICAOF', 'NO', 'ONE');
  await oldMaster.client.call('REPLICAOF', '127.0.0.1', new URL(next.url).port);
  await eventually(() => record('queued'));
  await untilCounted();

  const { body } = await client.records(domainId, 'limit=200');
  expect(body.records.map(({ id }) => id).sort()).toEqual(acknowledged.toSorted());
  // nothing is stuck: a record is counted a moment before its job is done
  await eventually(async () => expect(await createCli(env).json('queue', 'status')).toMatchObject({ active: 0 }));
});
