import { describe, expect, it } from 'vitest';
import { createClient } from '../support/client.ts';
import { recordedIn } from '../support/metrics.ts';
import { startApiProcess } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const pids = () => api.events('listening').map(({ pid }) => Number(pid));
const bothListen = () => eventually(() => expect(pids()).toHaveLength(2));

const { db, env } = useStores();
const tenant = await makeTenant(db);
// the same server by another address: no replica
const replica = `${env.DATABASE_URL}&application_name=replica`;
const api = await startApiProcess({ ...env, WEB_CONCURRENCY: '2', DATABASE_READ_URL: replica });
const { opsUrl } = api;
const client = createClient(api.baseUrl, tenant);
await bothListen();

describe('an API of two processes', () => {
  const record = () => client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), { decision: 'custom' });

  it('serves from one port', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, record));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expect((await client.organization()).status).toBe(200);
  });

  it('is alive and ready', async () => {
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
    const reason = 'it is not a replica';
    await eventually(async () => {
      const ready = await fetch(`${opsUrl}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        200,
        {
          ready: true,
          processes: 2,
          postgres: true,
          replica: reason,
          redis: true,
          degraded: [expect.objectContaining({ part: 'replica', reason })],
        },
      ]);
    });
  });

  const countRecorded = async () => {
    const response = await fetch(`${opsUrl}/metrics`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    return recordedIn(await response.text());
  };

  it('has the metrics of both, added up', async () => {
    await eventually(async () => expect(await countRecorded()).toBe(20));
  });

  it('keeps in its metrics what a process counted that does not answer', async () => {
    const [first = 0] = pids();
    process.kill(first, 'SIGSTOP');
    try {
      await eventually(async () => expect(await countRecorded()).toBe(20));
    } finally {
      process.kill(first, 'SIGCONT');
    }
    await eventually(() => expect(api.lines.join()).toContain('an API process does not answer'));
  });

  it("has the queue's page", async () => {
    // a busy Redis may take longer than the page waits for it
    await eventually(async () => expect((await fetch(`${opsUrl}/queues`)).status).toBe(200));
  });

  it('replaces a process that dies, and keeps what it counted', async () => {
    const [first = 0] = pids();
    process.kill(first, 'SIGKILL');
    await eventually(() => expect(pids()).toHaveLength(3));
    expect((await record()).status).toBe(202);
    await eventually(async () => expect(await countRecorded()).toBe(21));
  });

  it('stops as one, with exit code 0', async () => {
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await expect(record()).rejects.toThrow();
  });
});
