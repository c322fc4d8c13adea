import { type JobsOptions, Queue, Worker } from 'bullmq';
import { expect, it } from 'vitest';
import { withoutPersonal } from '#libs/privacy/blank-rejected';
import { eraseVisitor } from '#libs/privacy/erasures';
import { createClearing } from '#libs/privacy/leftovers';
import { closeAll, jobVersion, packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { type ChangeRecords, rewriteJobs } from '#libs/record/rewrite-jobs';
import { createVisitorHash } from '#libs/tenants/visitors';
import { atEnd } from '../support/at-end.ts';
import { turnedClock } from '../support/clock.ts';
import { restartRedis } from '../support/outage.ts';
import { counting } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

it('jobs that nobody can read lose the personal fields of who was erased, and the records of who was deleted', async () => {
  const { client } = await openRedis((await openRedisServer()).url);
  const queue = new Queue(recordQueue(0), { connection: client, prefix: queuePrefix });
  atEnd(() => queue.close());
  const theirs = {
    domainId: 1,
    visitorId: 'gone',
    ip: '192.0.2.0',
    userAgent: 1,
    metadata: { name: 'gone' },
    id: 'none',
  };
  const others = { domainId: 0, visitorId: 'gone', userAgent: 0, decision: 'no such decision' };
  const lists = { domainIds: ['dom_b', 'dom_a'], userAgents: ['Browser/1', 'of gone'] };
  await queue.add('record', { v: 3, ...lists, records: [others, theirs] });
  await queue.add('record', {
    v: jobVersion + 1,
    of: { a: { domainId: 'dom_a', visitorId: 'gone', pageUrl: 'https://gone.example' } },
  });
  await queue.add('record', 'text');
  const blank: ChangeRecords = async (records) => {
    const isErased = records.map(({ domainId, visitorId }) => domainId === 'dom_a' && visitorId === 'gone');
    return isErased.includes(true)
      ? records.map((each, at) => (isErased[at] ? withoutPersonal(each) : each))
      : undefined;
  };
  const data = async () => (await queue.getWaiting()).map((job) => job.data);
  expect(await rewriteJobs(queue, ['waiting'], blank)).toBe(2);
  const blanked = { v: 3, domainIds: lists.domainIds, userAgents: ['Browser/1', ''] };
  expect(await data()).toEqual([
    { ...blanked, records: [others, { domainId: 1, id: 'none' }] },
    { v: jobVersion + 1, of: { a: { domainId: 'dom_a' } } },
    'text',
  ]);
  expect(await rewriteJobs(queue, ['waiting'], blank)).toBe(0);
  const drop: ChangeRecords = async (records) => {
    const left = records.filter(({ domainId }) => domainId !== 'dom_a');
    return left.length === records.length ? undefined : left;
  };
  expect(await rewriteJobs(queue, ['waiting'], drop)).toBe(2);
  expect(await data()).toEqual([{ ...blanked, records: [others] }, 'text']);
});

it('clearing reads a job that rests once, and again where it came back or somebody else was erased', async () => {
  const { db } = await openDatabase();
  const { organizationId, domainIds } = await makeTenant(db);
  const server = await openRedisServer();
  const redis = await openRedis(server.url);
  const { client } = redis;
  const hashOf = createVisitorHash(Buffer.from(privacyKey, 'hex'));
  const erase = (visitorId: string) =>
    eraseVisitor(db, { organizationId, visitorId, hash: hashOf(organizationId, visitorId), actor: 'test' });
  const record = (visitorId: string) => recordAt(Date.now(), { domainId: at(domainIds, 0), visitorId });
  const connection = { connection: client, prefix: queuePrefix };
  const queue = new Queue(recordQueue(0), connection);
  const worker = new Worker(recordQueue(0), () => Promise.reject<void>(new Error('refused')), connection);
  queue.on('error', () => {});
  atEnd(() => closeAll(redis, [queue, worker]));
  const add = (visitorId: string, jobs: number, opts?: JobsOptions) =>
    queue.addBulk(
      Array.from({ length: jobs }, () => ({ name: 'record', data: packJob([record(visitorId)]), opts: opts ?? {} })),
    );
  const untilFailed = (jobs: number) =>
    eventually(async () => expect(await queue.getJobCounts('failed')).toEqual({ failed: jobs }));
  const naming = async (visitorId: string) =>
    (await queue.getJobs(['failed', 'delayed'])).filter(({ data }) => JSON.stringify(data).includes(`"${visitorId}"`))
      .length;
  const { db: counted, asked } = counting(db);
  const config = { queueShards: 1, backupDays: 32 };
  const begin = () => createClearing({ config, hashOf, redis, db: counted, clock: turnedClock(db).clock });
  const clear = begin();
  const commands = async () => Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
  const cost = async () => {
    const before = [asked(), await commands()] as const;
    await clear();
    return [asked() - before[0], (await commands()) - before[1]];
  };

  await erase('gone');
  await add('another', 300);
  const [old = expect.fail()] = await add('gone', 1);
  await add('gone', 1, { delay: 3_600_000 });
  await untilFailed(301);
  await clear();
  expect([await naming('gone'), await naming('another')]).toEqual([0, 300]);
  for (const few of await cost()) expect(few).toBeLessThan(100);
  // one that is new, and one that a worker had in hand, and put back as it was
  await old.updateData(packJob([record('gone')]));
  await old.retry('failed');
  await add('gone', 1);
  await untilFailed(302);
  expect(await naming('gone')).toBe(2);
  for (const few of await cost()) expect(few).toBeLessThan(100);
  expect(await naming('gone')).toBe(0);
  await erase('another');
  await clear();
  expect(await naming('another')).toBe(0);
  // a process that has just begun knows of none, nor does any know what is in a Redis that took over
  await old.updateData(packJob([record('gone')]));
  await begin()();
  expect(await naming('gone')).toBe(0);
  await old.updateData(packJob([record('gone')]));
  await worker.close();
  server.kill();
  await server.exited;
  await restartRedis(server);
  await eventually(async () => {
    await clear();
    expect(await naming('gone')).toBe(0);
  });
});
