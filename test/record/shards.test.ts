import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { announceShards, queuePrefix, recordQueue } from '#libs/record/queue';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { makeId } from '../support/ids.ts';
import { type Api, startApi, startWorker } from '../support/service.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { url, db } = await openDatabase();
const server = await openRedisServer();
const env = { DATABASE_URL: url, REDIS_URL: server.url };
const cli = createCli(env);
const redis = await openRedis(server.url);
const tenants = await Promise.all(Array.from({ length: 6 }, () => makeTenant(db)));
const [ofFive, ofOne] = await Promise.all([startApi({ ...env, QUEUE_SHARDS: '5' }), startApi(env), startWorker(env)]);

describe('queue shards', () => {
  /** Each consumer has a connection of its own, which waits for jobs. */
  const consumers = async () => String(await redis.client.call('CLIENT', 'LIST')).split('cmd=bzpopmin').length - 1;
  const untilShown = ({ opsUrl }: Api, count: number) =>
    eventually(async () => {
      const { queues } = (await (await fetch(`${opsUrl}/queues/api/queues`)).json()) as { queues: { name: string }[] };
      const names = Array.from({ length: count }, (_, shard) => recordQueue(shard));
      expect(queues.map(({ name }) => name).toSorted()).toEqual(names);
    });

  it('that an API alone uses are consumed by a worker of fewer', async () => {
    for (const tenant of tenants) {
      const [domainId = '', apiKey = ''] = [...tenant.domainIds, ...tenant.apiKeys];
      const { record } = createClient(ofFive.baseUrl, tenant);
      const id = makeId();
      // a pause of Redis has it stored without the queue
      await eventually(async () => {
        const { body } = await record(domainId, apiKey, { id, decision: 'custom' });
        expect(body.status).toBe('queued');
      });
    }
    await eventually(async () => {
      for (const tenant of tenants) {
        const { body } = await createClient(ofOne.baseUrl, tenant).records(tenant.domainIds[0] ?? '');
        expect(body.total).toBe(1);
      }
    });
    await eventually(async () =>
      expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0, active: 0, failed: 0 }),
    );
    await eventually(async () => expect(await consumers()).toBe(5));
  });

  it('are all on the page of the queues, of every API', async () => {
    for (const api of [ofFive, ofOne]) await untilShown(api, 5);
  });

  it('are not forgotten while an API uses them', async () => {
    expect(await cli.error('queue', 'forget', '4')).toContain('an API process uses shard 4');
    await untilShown(ofOne, 5);
    expect(await (await fetch(`${ofOne.opsUrl}/metrics`)).text()).toContain('shard="4"');
  });

  it('are not forgotten while they hold a job, while QUEUE_SHARDS names them, or where none is known', async () => {
    await ofFive.stop();
    const queue = new Queue(recordQueue(4), { connection: redis.client, prefix: queuePrefix });
    atEnd(() => queue.close());
    const job = await queue.add('record', { v: 'unreadable' });
    await eventually(async () => expect(await job.getState()).toBe('failed'));
    const withMore = createCli({ ...env, QUEUE_SHARDS: '5' });
    const refusals = await Promise.all([
      cli.error('queue', 'forget', '4'),
      cli.error('queue', 'forget', '9'),
      withMore.error('queue', 'forget', '4'),
    ]);
    expect(refusals).toEqual([
      expect.stringContaining('shard 4 has jobs: 1 failed'),
      expect.stringContaining('no shard 9 is known'),
      expect.stringContaining('QUEUE_SHARDS is 5, which names shard 4'),
    ]);
    await job.remove();
  });

  it('are forgotten once they are empty and unused, and consumed no more', async () => {
    expect(await cli.json('queue', 'forget', '1', '2', '3', '4')).toEqual({ forgotten: [1, 2, 3, 4] });
    await eventually(async () => expect(await consumers()).toBe(1));
    await untilShown(ofOne, 1);
    expect(await cli.json('queue', 'status')).toMatchObject({ shards: [{ shard: 0 }] });
    expect(await (await fetch(`${ofOne.opsUrl}/metrics`)).text()).not.toContain('shard="4"');
  });

  it('that an API announces again are consumed again', async () => {
    await announceShards(redis.client, 5);
    await eventually(async () => expect(await consumers()).toBe(5));
    await untilShown(ofOne, 5);
  });
});
