import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { announcedShards, announceShards, queuePrefix, recordQueue } from '#libs/record/queue';
import { forgetShards } from '#libs/record/queue-forget';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
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
  const untilConsumed = (shards: number) =>
    eventually(async () => {
      const clients = String(await redis.client.call('CLIENT', 'LIST'));
      expect(clients.split('cmd=bzpopmin').length - 1).toBe(shards);
    });
  const untilShown = ({ opsUrl }: Api, count: number) =>
    eventually(async () => {
      const { queues } = (await (await fetch(`${opsUrl}/queues/api/queues`)).json()) as { queues: { name: string }[] };
      const names = Array.from({ length: count }, (_, shard) => recordQueue(shard));
      expect(queues.map(({ name }) => name).toSorted()).toEqual(names);
    });
  const metricsOf = async ({ opsUrl }: Api) => (await fetch(`${opsUrl}/metrics`)).text();

  it('that an API alone uses are consumed by a worker of fewer, and shown by every API', async () => {
    for (const tenant of tenants) {
      const [domainId = '', apiKey = ''] = [...tenant.domainIds, ...tenant.apiKeys];
      // a pause of Redis has it stored without the queue
      await eventually(async () => {
        const { body } = await createClient(ofFive.baseUrl, tenant).record(domainId, apiKey, { decision: 'custom' });
        expect(body.status).toBe('queued');
      });
    }
    await untilConsumed(5);
    await eventually(async () =>
      expect(await cli.json('queue', 'status')).toMatchObject({ waiting: 0, active: 0, failed: 0 }),
    );
    for (const api of [ofFive, ofOne]) await untilShown(api, 5);
    expect(await metricsOf(ofOne)).toContain('shard="4"');
  });

  it('are not forgotten while an API uses them, they hold a job, QUEUE_SHARDS names them, or none is known', async () => {
    expect(await cli.error('queue', 'forget', '3', '4')).toContain('an API process uses shard');
    await untilShown(ofOne, 5);
    await ofFive.stop();
    const queue = new Queue(recordQueue(4), { connection: redis.client, prefix: queuePrefix });
    atEnd(() => queue.close());
    const job = await queue.add('record', { v: 'unreadable' });
    await eventually(async () => expect(await job.getState()).toBe('failed'));
    const withMore = createCli({ ...env, QUEUE_SHARDS: '5' });
    expect(await cli.error('queue', 'forget', '4')).toContain('shard 4 has jobs: 1 failed');
    expect(await cli.error('queue', 'forget', '9')).toContain('no shard 9 is known');
    expect(await withMore.error('queue', 'forget', '4')).toContain('QUEUE_SHARDS is 5, which includes shard 4');
    await job.remove();
  });

  it('stay known where one of them gets a job while they are being forgotten', async () => {
    const announced = () => announcedShards(redis.client);
    const forgetting = forgetShards(redis, [3, 4], 3_000).catch(String);
    await eventually(async () => expect(await announced()).not.toContain(4), { every: 20 });
    const queue = new Queue(recordQueue(4), { connection: redis.client, prefix: queuePrefix });
    atEnd(() => queue.close());
    const job = await queue.add('record', { v: 'unreadable' });
    expect(await forgetting).toContain('shard 4 has jobs');
    expect(await announced()).toEqual(expect.arrayContaining([3, 4]));
    await eventually(async () => expect(await job.getState()).toBe('failed'));
    await job.remove();
  });

  it('are consumed no more once they were forgotten, until an API announces them again', async () => {
    await forgetShards(redis, [1, 2, 3, 4], 500);
    await untilConsumed(1);
    await untilShown(ofOne, 1);
    expect(await cli.json('queue', 'status')).toMatchObject({ shards: [{ shard: 0 }] });
    expect(await metricsOf(ofOne)).not.toContain('shard="4"');
    await announceShards(redis.client, 5);
    await untilConsumed(5);
    await untilShown(ofOne, 5);
  });
});
