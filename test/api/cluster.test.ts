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
    const responses = await Promise.all(Array.from({ length: 20 }, record));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202));
    expect((await client.organization()).status).toBe(200);
  });

  it('is alive and ready, and has the queues’ page', async () => {
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
    const reason = 'it is not a replica';
    const degraded = [expect.objectContaining({ part: 'replica', reason })];
    await eventually(async () => {
      const ready = await fetch(`${opsUrl}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        200,
        { ready: true, processes: 2, postgres: true, replica: reason, redis: true, degraded },
      ]);
    });
    // a busy Redis may take longer than the page waits for it
    await eventually(async () => expect((await fetch(`${opsUrl}/queues`)).status).toBe(200));
  });

  const untilCounted = (count: number) =>
    eventually(async () => {
      const response = await fetch(`${opsUrl}/metrics`);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(recordedIn(await response.text())).toBe(count);
    });

  it('has the metrics of both, added up, also of one that does not respond, or died and was replaced', async () => {
    await untilCounted(20);
    const [first = 0] = pids();
    process.kill(first, 'SIGSTOP');
    await untilCounted(20);
    await eventually(() => expect(api.lines.join()).toContain('an API process does not respond'));
    process.kill(first, 'SIGKILL');
    await eventually(() => expect(pids()).toHaveLength(3));
    expect((await record()).status).toBe(202);
    await untilCounted(21);
  });

  it('stops as one, with exit code 0', async () => {
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await expect(record()).rejects.toThrow();
  });
});
