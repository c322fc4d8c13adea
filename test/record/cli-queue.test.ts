import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Job, Queue } from 'bullmq';
import { describe, expect, inject, it } from 'vitest';
import { jobVersion, queuePrefix, recordQueue } from '#libs/record/queue';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { recordAt } from '../support/records.ts';
import { startWorker } from '../support/service.ts';
import { startStack } from '../support/stack.ts';
import { openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

type Status = { failures: { shard: number; jobId: string; error: string }[] };

const stack = await startStack({ worker: false });
const cli = createCli(stack.env);
const redis = await openRedis(stack.redis.url);
const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
atEnd(() => queue.close());

describe('the queue by the command line', () => {
  const status = () => cli.json<Status>('queue', 'status');
  const stored = async () => (await stack.client.records(stack.domainId)).body.records.map(({ id }) => id);

  it('status tells what waits while no worker runs', async () => {
    const none = { waiting: 0, active: 0, delayed: 0, failed: 0, oldestSeconds: 0 };
    expect(await status()).toEqual({ ...none, shards: [{ shard: 0, ...none }], failures: [] });
    // a pause of Redis has it stored without the queue
    await eventually(async () => {
      const { body } = await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
      expect(body.status).toBe('queued');
    });
    expect(await status()).toMatchObject({ waiting: 1, failed: 0 });
    await startWorker(stack.env);
    await eventually(async () => expect(await status()).toMatchObject({ waiting: 0, active: 0, failed: 0 }));
  });

  it('a job that nobody can read fails with its reason; it is discarded into a file, or mended and retried', async () => {
    const broken = { v: jobVersion, records: [{ id: 'broken' }] };
    const job = await queue.add('record', broken);
    await eventually(async () => expect(await job.getState()).toBe('failed'));
    const failed = await status();
    expect(failed).toMatchObject({
      failed: 1,
      failures: [{ shard: 0, jobId: job.id, error: expect.stringMatching(/records/) }],
    });

    // as it is it fails again, and is not lost
    expect(await cli.json('queue', 'retry-failed')).toEqual({ retried: 1 });
    await eventually(async () => expect(await job.getState()).toBe('failed'));
    // counted anew: how often it was delivered says how long it has to wait
    expect((await Job.fromId(queue, job.id ?? ''))?.attemptsStarted).toBe(1);

    const record = recordAt(Date.now(), { domainId: stack.domainId });
    await job.updateData({ v: jobVersion, records: [record] });
    // more than are read at once
    const others = await queue.addBulk(Array.from({ length: 149 }, () => ({ name: 'record', data: broken })));
    await eventually(async () => expect(await status()).toMatchObject({ failed: 150 }));
    const file = path.join(inject('folder'), 'discarded.ndjson.gz');
    const discard = () => cli.json('queue', 'discard', '--out', file);
    expect(await cli.error('queue', 'discard', '--out', inject('folder'))).toMatch(/EISDIR/);
    expect([await discard(), await discard()]).toEqual([{ discarded: 149 }, { discarded: 0 }]);
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
    const jobs = lines
      .map((line) => JSON.parse(line))
      .toSorted((one, other) => Number(one.jobId) - Number(other.jobId));
    expect(jobs).toEqual(
      others.map(({ id, timestamp }) => ({
        shard: 0,
        jobId: id,
        addedAt: new Date(timestamp).toISOString(),
        error: failed.failures[0]?.error,
        data: broken,
      })),
    );
    rmSync(file);
    expect(await status()).toMatchObject({ failed: 1, failures: [{ jobId: job.id }] });
    expect(await cli.json('queue', 'retry-failed')).toEqual({ retried: 1 });
    await eventually(async () => expect(await stored()).toContain(record.id));
    expect(await status()).toMatchObject({ failed: 0, failures: [] });
    expect(await cli.json('queue', 'retry-failed')).toEqual({ retried: 0 });
  });

  it('a record that Postgres refuses is kept with its error, and stored by replay once it can be', async () => {
    const later = recordAt(Date.now(), { domainId: 'dom_later' });
    const fine = recordAt(Date.now(), { domainId: stack.domainId });
    await queue.add('record', { v: jobVersion, records: [later, fine] });
    await eventually(async () => expect(await stored()).toContain(fine.id));
    const { rejected } = await eventually(async () => {
      const list = await cli.json<{ rejected: { record: string; error: string }[] }>('records', 'rejected');
      expect(list.rejected).toHaveLength(1);
      return list;
    });
    expect(JSON.parse(rejected[0]?.record ?? '')).toEqual(later);
    expect(rejected[0]?.error).toBe('no domain dom_later, so the record has no domain_number');

    const refused = await cli.run('records', 'replay', '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([1, { replayed: 1, stored: 0, rejected: 1 }]);
    await cli.json('domain', 'create', stack.tenant.organizationId, 'later.example', '--id', 'dom_later');
    expect(await cli.json('records', 'replay')).toEqual({ replayed: 1, stored: 1, rejected: 0 });
    expect(await cli.json('records', 'rejected')).toEqual({ rejected: [] });
    await eventually(async () => {
      const { body } = await stack.client.records('dom_later');
      expect(body.records.map(({ id }) => id)).toEqual([later.id]);
    });
  });
});
