import { execFileSync } from 'node:child_process';
import { inspect } from 'node:util';
import { Queue, Worker } from 'bullmq';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { NewRecord } from '#libs/record/contract';
import { promoteStray } from '#libs/record/promote-stray-jobs';
import { jobVersion, queuePrefix, recordQueue } from '#libs/record/queue';
import { consumeShards } from '#libs/record/queue-consumer';
import { observeQueues, summarizeOne } from '#libs/record/queue-summary';
import { createProducer } from '#libs/record/recorder';
import { atEnd } from '../support/at-end.ts';
import { quiet } from '../support/counter-stores.ts';
import { openRefusingRedis } from '../support/outage.ts';
import { openPool } from '../support/pool.ts';
import { openConsumer } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const redisUrl = (await openRedisServer()).url;
const worker = await openRedis(redisUrl, 'worker');
const queue = new Queue(recordQueue(0), { connection: worker.client, prefix: queuePrefix });
atEnd(() => queue.close());

const takesWrites = `
const socket = require('node:net').connect(new URL(process.argv[1]).port, '127.0.0.1');
socket.once('data', () => socket.destroy()).write('CONFIG SET min-replicas-to-write 0\\r\\n');
`;

describe('the consumer of a queue', () => {
  beforeEach(() => queue.obliterate({ force: true }));

  const record = (more: Partial<NewRecord> = {}) => recordAt('2024-05-15', { domainId: 'dom_a', ...more });
  /** As many jobs at once as `concurrency` says, until the test ends. */
  const consume = (
    handle: (records: NewRecord[]) => Promise<void>,
    { concurrency = 2, log = quiet().log, redis = worker } = {},
  ) => {
    const consumer = consumeShards({
      queueRedis: redis,
      redis,
      shards: 1,
      concurrency,
      handle: async ({ records }) => {
        await handle(records);
        return 'done';
      },
      log,
    });
    onTestFinished(() => consumer.close());
  };
  /** What it hands on, job by job. */
  const collect = (redis = worker) => {
    const seen: NewRecord[][] = [];
    consume(async (records) => void seen.push(records), { redis });
    return seen;
  };
  /** Each batch becomes a job, as an API makes it. */
  const addTo = async (url: string, ...batches: NewRecord[][]) => {
    const producer = createProducer(await openRedis(url), 1);
    onTestFinished(() => producer.close());
    await producer.ready();
    for (const batch of batches) await producer.add(0, batch);
  };
  const add = (...batches: NewRecord[][]) => addTo(redisUrl, ...batches);
  const counts = () => queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
  const nothing = { waiting: 0, active: 0, delayed: 0, failed: 0 };

  it('uses up no attempt of a job whose end Redis refused, and goes on with the next', async () => {
    await add([record()], [record()]);
    const failed: string[] = [];
    const { log } = quiet();
    // blocks until Redis takes writes again, so that only the end of the job was refused
    const warn = (fields: object) => {
      if (inspect(fields).includes('NOREPLICAS')) execFileSync(process.execPath, ['-e', takesWrites, redisUrl]);
    };
    const told = { ...log, warn, error: (_: object, message: string) => void failed.push(message) };
    let handled = 0;
    const handle = async () => {
      handled += 1;
      if (handled === 1) await worker.client.config('SET', 'min-replicas-to-write', 1);
    };
    consume(handle, { concurrency: 1, log: told });
    await eventually(async () =>
      expect({ handled, ...(await counts()) }).toEqual({ ...nothing, handled: 2, active: 1 }),
    );
    expect(failed).toEqual([]);
  });

  it('gets a job at once that a clock 400 days ahead delayed, and in its time any other', async () => {
    const job = { v: 1, records: [record()] };
    await queue.add('record', job, { delay: 400 * 24 * 3_600_000 });
    await queue.add('record', job, { delay: 30_000 });
    expect(await promoteStray(worker, 1)).toBe(1);
    expect(await counts()).toEqual({ ...nothing, waiting: 1, delayed: 1 });
    expect(await promoteStray(worker, 1)).toBe(0);
  });

  it('gets what a worker that is gone had in hand, though Redis has a clock that was an hour ahead', async () => {
    await add([record()]);
    const gone = new Worker(queue.name, null, { connection: worker.client, prefix: queuePrefix, lockDuration: 1_000 });
    onTestFinished(() => gone.close(true));
    const job = await gone.getNextJob('gone');
    const key = (name: string) => queue.toKey(name);
    // what is left of both where the clock is set back by an hour
    for (const name of ['stalled-check', `${job?.id}:lock`])
      await worker.client.set(key(name), 'gone', 'PX', 3_605_000);
    const seen = collect();
    await promoteStray(worker, 1);
    await eventually(() => expect(seen).toHaveLength(1));
    await eventually(async () => expect(await counts()).toEqual(nothing));
  });

  it('takes what earlier releases queued, whose records hold their user agents themselves, or name no notices', async () => {
    const first = [record({ userAgent: 'Browser/1' }), record()];
    await queue.add('record', { v: 1, records: first });
    const second = record({ userAgent: 'Browser/1' });
    await queue.add('record', { v: 2, userAgents: ['Browser/1'], records: [{ ...second, userAgent: 0 }] });
    const seen = collect();
    await eventually(() => expect(seen.flat()).toEqual([...first, second]));
  });

  it('holds each domain, each user agent and each notice of a batch once, hands on what was queued, and forgets the job', async () => {
    const batch = ['Browser/1', 'Browser/2', 'Browser/1', undefined].map((userAgent, at) => ({
      ...record({ userAgent }),
      domainId: at === 2 ? 'dom_b' : 'dom_a',
      ...(at > 0 && { notice: 'ab'.repeat(32), variant: 'B' }),
    }));
    await add(batch);
    const [job] = await queue.getJobs(['waiting']);
    expect(job?.data.domainIds).toEqual(['dom_a', 'dom_b']);
    expect(job?.data.userAgents).toEqual(['Browser/1', 'Browser/2']);
    expect(job?.data.notices).toEqual(['ab'.repeat(32)]);
    const seen = collect();
    await eventually(async () => expect(await counts()).toEqual(nothing));
    expect(seen).toEqual([batch]);
    expect(await queue.getCompletedCount()).toBe(0);
  });

  it('lets a payload of a newer release wait, unhandled and without using an attempt, until a worker knows it', async () => {
    const later = await queue.add(
      'record',
      { v: jobVersion + 1, records: 'of a shape that is not known yet' },
      { attempts: 1 },
    );
    await queue.add('record', { v: 1, records: [record()] });
    const seen = collect();
    await eventually(async () => expect(await counts()).toEqual({ ...nothing, delayed: 1 }));
    // so that the age shows that nobody takes it
    expect((await summarizeOne(queue)).oldest).toBeGreaterThan(0);
    expect(seen).toHaveLength(1);
    const [waiting] = await queue.getDelayed();
    expect(waiting?.id).toBe(later.id);
    expect(waiting?.attemptsMade).toBe(0);
    // the release that knows it
    await waiting?.updateData({ v: 1, records: [record()] });
    await waiting?.promote();
    await eventually(() => expect(seen).toHaveLength(2));
  });

  it('says that a job waits, though the clock of the API that queued it is ahead', async () => {
    await queue.add('record', { v: 1, records: [record()] }, { timestamp: Date.now() + 86_400_000 });
    const queues = observeQueues(worker, 1);
    const oldest = async () => (await queues.summarize())[0]?.oldest;
    expect(await oldest()).toBe(0);
    expect(await oldest()).toBeGreaterThan(0);
    await queues.close();
  });

  it('looks again at a queue whose first look Redis refused', async () => {
    const redis = await openRefusingRedis();
    const connection = await openRedis(redis.url);
    await redis.refuse();
    const queues = observeQueues(connection, 1);
    await eventually(() => expect(queues.summarize()).rejects.toThrow('NOPERM'));
    await redis.allow();
    await eventually(async () => expect(await queues.summarize()).toHaveLength(1));
    await queues.close();
  });

  it('begins once Redis takes its first commands', async () => {
    const redis = await openRefusingRedis();
    const connection = await openRedis(redis.url);
    await addTo(redis.url, [record()]);
    await redis.refuse();
    const seen = collect(connection);
    await eventually(async () => expect(await redis.refused()).toBeGreaterThan(0));
    await redis.allow();
    await eventually(() => expect(seen).toHaveLength(1));
  });

  it('asks a Redis that takes no writes for jobs a few times a second, not all the time', async () => {
    const { url } = await openRedisServer();
    const [connection, { client }] = [await openRedis(url), await openRedis(url)];
    await addTo(url, [record()]);
    await client.config('SET', 'min-replicas-to-write', '1');
    const refusals = async () =>
      Number(/errorstat_NOREPLICAS:count=(\d+)/.exec(await client.info('errorstats'))?.[1] ?? 0);
    const seen = collect(connection);
    await eventually(async () => expect(await refusals()).toBeGreaterThan(0));
    const [began, before] = [performance.now(), await refusals()];
    await eventually(async () => expect(await refusals()).toBeGreaterThan(before + 5));
    expect((await refusals()) - before).toBeLessThan((performance.now() - began) / 20);
    await client.config('SET', 'min-replicas-to-write', '0');
    await eventually(() => expect(seen).toHaveLength(1));
  });

  it('fails broken payloads at once and keeps them, listed with what is wrong', async () => {
    const broken: unknown[] = [
      {},
      { v: 1 },
      { v: 1, records: [] },
      { v: 1, records: [{ ...record(), domainId: 'a b' }] },
      // older than any release
      { v: 0, records: [record()] },
      // what is not in its list, or is no notice
      { v: 2, domainIds: ['dom_a'], records: [{ ...record(), domainId: 1 }] },
      { v: 2, userAgents: [], records: [{ ...record(), userAgent: 0 }] },
      { v: 3, notices: [], records: [{ ...record(), notice: 0 }] },
      { v: 3, notices: ['x'], records: [{ ...record(), notice: 0 }] },
      'text',
    ];
    for (const payload of broken) await queue.add('record', payload, { attempts: 5, backoff: 60_000 });
    await queue.add('record', { v: 1, records: [record()] });
    let handled = 0;
    consume(async () => {
      handled += 1;
    });
    await eventually(async () => expect(await counts()).toEqual({ ...nothing, failed: broken.length }));
    expect(handled).toBe(1);
    const failed = await queue.getFailed();
    expect(failed.map(({ data }) => data)).toEqual(expect.arrayContaining(broken));
    for (const { failedReason } of failed) expect(failedReason).toMatch(/^payload does not match its schema/);
  });

  it('gives its jobs back, untried, when it stops while Postgres is away', async () => {
    const url = 'postgres://nobody:nothing@127.0.0.1:1/none?sslmode=disable';
    const db = openPool(url, { statementTimeout: 8_000, deadline: 10_000 });
    await queue.add('record', { v: 1, records: [record()] }, { attempts: 1 });
    const consumer = await openConsumer({ redis: redisUrl, postgres: url }, db);
    await eventually(async () => expect(await counts()).toEqual({ ...nothing, active: 1 }));
    await consumer.close();
    expect(await counts()).toEqual({ ...nothing, waiting: 1 });
    const [job] = await queue.getWaiting();
    expect(job?.attemptsMade).toBe(0);
  });
});
