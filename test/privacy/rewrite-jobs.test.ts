import { Queue } from 'bullmq';
import { expect, it } from 'vitest';
import { withoutPersonal } from '#libs/privacy/blank-rejected';
import { jobVersion, queuePrefix, recordQueue } from '#libs/record/queue';
import { type ChangeRecords, rewriteJobs } from '#libs/record/rewrite-jobs';
import { atEnd } from '../support/at-end.ts';
import { openRedis, openRedisServer } from '../support/stores.ts';

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
