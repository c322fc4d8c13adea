import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { type Client, createClient } from '../support/client.ts';
import { type Api, startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('an API of two processes', () => {
  let api: Api;
  let opsUrl: string;
  let tenant: Tenant;
  let client: Client;

  beforeAll(async () => {
    const { db, env } = useStores();
    tenant = await makeTenant(db);
    const opsPort = String(await freePort());
    opsUrl = `http://127.0.0.1:${opsPort}`;
    // the same server by another address: no replica
    const replica = `${env.DATABASE_URL}&application_name=replica`;
    api = await startApi({ ...env, WEB_CONCURRENCY: '2', OPS_PORT: opsPort, DATABASE_READ_URL: replica });
    client = createClient(api.baseUrl, tenant);
    await bothListen();
  });

  const pids = () => api.events('listening').map(({ pid }) => Number(pid));
  const bothListen = () => eventually(() => expect(pids()).toHaveLength(2));
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

  it('has the metrics of both, added up', async () => {
    const response = await fetch(`${opsUrl}/metrics`);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^assent_records_total\{outcome="queued"\} 20$/m);
  });

  it("has the queue's page", async () => {
    expect((await fetch(`${opsUrl}/queues`)).status).toBe(200);
  });

  it('replaces a process that dies', async () => {
    const [first = 0] = pids();
    process.kill(first, 'SIGKILL');
    await eventually(() => expect(pids()).toHaveLength(3));
    expect((await record()).status).toBe(202);
  });

  it('stops as one, with exit code 0', async () => {
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    await expect(record()).rejects.toThrow();
  });
});
