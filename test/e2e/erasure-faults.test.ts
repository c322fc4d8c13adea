import { Queue, Worker } from 'bullmq';
import postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { packJob } from '#libs/contract/job';
import type { Erasure } from '#libs/contract/responses';
import { queuePrefix, recordQueue } from '#libs/queue/names';
import { persist } from '#libs/store/records/persist';
import { keysWith } from '../../scripts/stack/redis-keys.ts';
import { request, tokenFor } from '../support/client.ts';
import { restartRedis } from '../support/outage.ts';
import { recordAt } from '../support/records.ts';
import { startApiProcess, startWorkerProcess } from '../support/service.ts';
import { type OwnStackOfProcesses, sealSettings, startProcesses } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('an erasure', () => {
  let stack: OwnStackOfProcesses;

  beforeAll(async () => {
    stack = await startProcesses({ worker: false });
  });

  const personal = (visitorId: string, count: number) =>
    Array.from({ length: count }, (_, each) =>
      recordAt(Date.now() - each, {
        domainId: stack.domainId,
        visitorId,
        ip: '192.0.2.0',
        metadata: { visitor: visitorId },
      }),
    );
  const store = async (visitorId: string, count: number) => {
    for (let from = 0; from < count; from += 2_000) {
      await persist(stack.db, personal(visitorId, Math.min(2_000, count - from)), { owe: true });
    }
  };
  const erase = (visitorId: string, baseUrl = stack.api.baseUrl) =>
    request<Erasure>(baseUrl, `/v1/organization/visitors/${visitorId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'privacy' })}` },
    });
  const newest = async () => {
    const [row] = await stack.db.run(
      (sql) => sql<{ records: number; isDone: boolean; visitorId: string | null }[]>`
        select records, done_at is not null as "isDone", visitor_id as "visitorId" from erasures
        order by began_at desc limit 1`,
    );
    return row;
  };
  const left = async (visitorId: string) => {
    const [row] = await stack.db.run(
      (sql) => sql<{ left: number; erased: number }[]>`
        select count(*) filter (where visitor_id = ${visitorId} or metadata::text like ${`%${visitorId}%`})::int as left,
          count(erased_at)::int as erased from records`,
    );
    return row;
  };
  /** Until `work` is done, the erasure of this visitor comes to no end: its newest record goes last. */
  const beforeTheEnd = async (visitorId: string, work: () => Promise<void>) => {
    const direct = postgres(stack.env.DATABASE_URL, { max: 1, onnotice: () => {} });
    try {
      await direct.begin(async (transaction) => {
        await transaction`select from records where visitor_id = ${visitorId} order by id desc limit 1 for update`;
        await work();
      });
    } finally {
      await direct.end();
    }
  };
  const counters = () => stack.db.run((sql) => sql`select * from counters order by organization_id, domain_id, period`);

  it('while Redis is away is not undone by what waited there, nor by what had failed', async () => {
    const queue = async () => {
      const redis = await openRedis(stack.redis.url, 'worker');
      return new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
    };
    await store('waits', 30);
    const before = await queue();
    const connection = (await openRedis(stack.redis.url, 'worker')).client;
    const failing = new Worker(
      recordQueue(0),
      async () => {
        throw new Error('fails');
      },
      { connection, prefix: queuePrefix },
    );
    await before.add('record', packJob(personal('waits', 3)), { attempts: 1 });
    await eventually(async () => expect(await before.getFailedCount()).toBe(1));
    await failing.close();
    for (let batch = 0; batch < 5; batch += 1) await before.add('record', packJob(personal('waits', 100)));
    await before.close();
    await stack.redis.stop();

    const { status, body } = await erase('waits');
    expect([status, body.state, body.records]).toEqual([200, 'done', 30]);
    await restartRedis(stack.redis);
    const after = await openRedis(stack.redis.url);
    // they waited through it
    expect((await keysWith(after.client, 'waits')).length).toBe(6);
    const worker = await startWorkerProcess({ ...stack.env, ...sealSettings });
    await eventually(async () => expect(await left('waits')).toEqual({ left: 0, erased: 530 }), { within: 60_000 });
    await eventually(async () => expect(await keysWith(after.client, 'waits')).toEqual([]), { within: 60_000 });
    const retried = await queue();
    await retried.retryJobs({ state: 'failed' });
    await eventually(
      async () => {
        const [row] = await stack.db.run((sql) => sql<{ count: number }[]>`select count(*)::int as count from records`);
        expect(row?.count).toBe(533);
      },
      { within: 30_000 },
    );
    expect(await left('waits')).toMatchObject({ left: 0 });
    await retried.close();
    await worker.stop();
  }, 180_000);

  it('goes on and ends where the API, and then a worker, was killed in the middle of it', async () => {
    await store('killed', 12_000);
    const counted = await counters();
    const api = await startApiProcess(stack.env);
    const begun = await erase('killed', api.baseUrl);
    expect([begun.status, begun.body.state]).toEqual([202, 'running']);
    await api.stop('SIGKILL');
    await beforeTheEnd('killed', async () => {
      const first = await startWorkerProcess({ ...stack.env, ...sealSettings });
      await eventually(async () => expect((await newest())?.records).toBeGreaterThan(0), { within: 60_000, every: 5 });
      await first.stop('SIGKILL');
    });
    const halfway = await newest();
    expect([halfway?.isDone, halfway?.visitorId]).toEqual([false, 'killed']);
    await startWorkerProcess({ ...stack.env, ...sealSettings });
    await eventually(async () => expect(await newest()).toEqual({ records: 12_000, isDone: true, visitorId: null }), {
      within: 90_000,
    });
    expect(await left('killed')).toMatchObject({ left: 0 });
    expect(await counters()).toEqual(counted);
  }, 240_000);

  it('that the API was killed in the middle of is ended by a worker', async () => {
    await store('inline', 9_000);
    const api = await startApiProcess(stack.env);
    await beforeTheEnd('inline', async () => {
      const cut = erase('inline', api.baseUrl).catch(() => 'cut');
      await eventually(async () => expect(await newest()).toMatchObject({ visitorId: 'inline', isDone: false }), {
        within: 20_000,
        every: 5,
      });
      await api.stop('SIGKILL');
      expect(await cut).toBe('cut');
    });
    await eventually(async () => expect(await newest()).toEqual({ records: 9_000, isDone: true, visitorId: null }), {
      within: 90_000,
    });
    expect(await left('inline')).toMatchObject({ left: 0 });
  }, 240_000);
});
