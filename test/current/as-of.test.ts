import { type Job, Queue, Worker } from 'bullmq';
import { describe, expect, it } from 'vitest';
import type { CurrentOfOne } from '#libs/current/contract';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { createStoredThrough } from '#libs/record/stored-through';
import { atEnd } from '../support/at-end.ts';
import { createAsk, createClient, type ProblemAnswer } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('`asOf`', async () => {
  const { db, env } = await openStores();
  const [postgres, redis] = await Promise.all([openGate(env.DATABASE_URL), openGate(env.REDIS_URL)]);
  const api = await startApi({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  const tenant = await makeTenant(db);
  const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
  const client = createClient(api.baseUrl, tenant);
  const ask = createAsk(api.baseUrl, tenant.organizationId, { scope: 'current' });
  const get = async () => (await ask<CurrentOfOne>('GET', `/v1/consent/${domainId}/current/v`)).body;
  const asOf = async () => Date.parse((await get()).asOf ?? '');

  it('stands still while no worker stores what was acknowledged, and goes on after', async () => {
    const before = Date.now();
    await eventually(async () => expect(await asOf()).toBeGreaterThan(before));
    const { status, body } = await client.record(domainId, apiKey, { decision: 'accept_all', visitorId: 'v' });
    expect([status, body.status]).toEqual([202, 'queued']);
    const acknowledged = Date.now();
    // two looks later
    await eventually(() => expect(Date.now()).toBeGreaterThan(acknowledged + 2_500));
    expect(await get()).toMatchObject({ recordId: null, reason: 'none' });
    expect(await asOf()).toBeLessThanOrEqual(acknowledged);
    await startWorker(env);
    await eventually(async () => {
      const { asOf, recordId } = await get();
      if (Date.parse(asOf ?? '') > acknowledged) expect(recordId).toBe(body.id);
      expect(Date.parse(asOf ?? '')).toBeGreaterThan(acknowledged);
    });
  });

  it('is null while Redis does not answer, and without Postgres there is no answer', async () => {
    redis.freeze();
    await eventually(async () => expect(await get()).toMatchObject({ asOf: null, valid: true }));
    redis.open();
    await eventually(async () => expect(await asOf()).toBeGreaterThan(0));
    postgres.shut();
    const response = await ask<ProblemAnswer>('GET', `/v1/consent/${domainId}/current/v`);
    expectProblem(response, 503, 'unavailable');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    postgres.open();
    await eventually(async () => expect(await get()).toMatchObject({ valid: true }));
  });
});

it('the oldest job counts, whether it waits, runs or is delayed, and wherever it stands', async () => {
  const { url } = await openRedisServer();
  const connection = await openRedis(url);
  const queue = new Queue(recordQueue(0), { connection: connection.client, prefix: queuePrefix });
  const worker = new Worker(recordQueue(0), null, { connection: connection.client, prefix: queuePrefix });
  const stored = createStoredThrough(connection, 1, () => {});
  atEnd(async () => {
    await stored.close();
    await Promise.all([worker.close(), queue.close()]);
  });
  await worker.waitUntilReady();
  const look = async () => {
    await stored.follow();
    return stored.of('org');
  };
  const began = Date.now();
  expect(await look()).toBeGreaterThanOrEqual(began);
  const [first] = await queue.addBulk(
    [100, 200, 300].map((timestamp) => ({ name: 'r', data: {}, opts: { timestamp } })),
  );
  expect(await look()).toBe(100);
  const active: Job | undefined = await worker.getNextJob('token');
  expect([active?.id, await look()]).toEqual([first?.id, 100]);
  await active?.moveToDelayed(Date.now() + 3_600_000, 'token');
  expect(await look()).toBe(100);
  // behind the others
  await active?.promote();
  expect(await look()).toBe(100);
  for (const end of [100, 200, 300]) {
    expect(await look()).toBe(end);
    const jobs = await queue.getWaiting();
    await jobs.find(({ timestamp }) => timestamp === end)?.remove();
  }
  expect(await look()).toBeGreaterThanOrEqual(began);
});
