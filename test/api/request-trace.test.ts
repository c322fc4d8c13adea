import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { createAdministration } from '#libs/tenants/administration';
import { makeApiKey } from '#libs/tenants/tenants';
import { createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { expectProblem } from '../support/problems.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stores = await openStores();
const gate = await openGate(stores.env.DATABASE_URL);
const tenant = await makeTenant(stores.db);
const api = await startApi({
  ...stores.env,
  DATABASE_URL: gate.url,
  LOG_LEVEL: 'trace',
  IP_MODE: 'full',
  TRUSTED_PROXY_HOPS: '1',
});

describe('one request', () => {
  it('is known by one id in its response, in its job and with a record that Postgres refuses', async () => {
    const admin = createAdministration(stores.db, 'test');
    const { domainId } = await admin.createDomain(tenant.organizationId, { name: 'soon gone', origins: [] });
    const { apiKey } = await admin.createKey(domainId);
    const headers = { 'x-request-id': 'traced-1' };
    const body = { decision: 'custom', requestId: 'of the client' };
    // once it is queued: in a pause of Redis a record is stored without the queue
    const answer = await eventually(async () => {
      const given = await createClient(api.baseUrl, tenant).record(domainId, apiKey, body, headers);
      expect([given.status, given.headers.get('x-request-id'), given.body.status]).toEqual([202, 'traced-1', 'queued']);
      return given;
    });

    const redis = await openRedis(stores.redis.url);
    const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
    const jobs = await queue.getJobs(['waiting']);
    expect(jobs.map((job) => job.data.records[0])).toMatchObject([{ id: answer.body.id, requestId: 'traced-1' }]);
    await queue.close();

    await stores.db.run(async (sql) => {
      await sql`delete from api_keys where domain_id = ${domainId}`;
      await sql`delete from domains where id = ${domainId}`;
    });
    await startWorker(stores.env);
    await eventually(async () => {
      const rows = await stores.sql<{ record: string }>`select record from rejected_records`;
      expect(JSON.parse(at(rows, 0).record)).toMatchObject({ id: answer.body.id, requestId: 'traced-1' });
    });
  });

  it('that fails is known by one id in its response and in the log, which holds nothing of what it brought', async () => {
    const token = tokenFor(tenant.organizationId);
    const unknownKey = makeApiKey();
    const domainId = at(tenant.domainIds, 0);
    const visitor = { decision: 'custom', visitorId: 'visitor-of-a-failure', pageUrl: 'https://shop.example/private' };
    const from = { 'x-forwarded-for': '203.0.113.77', 'user-agent': 'agent-of-a-failure' };
    gate.shut();
    const path = `/v1/consent/${domainId}/records?visitorId=visitor-asked-for`;
    const read = await request<ProblemAnswer>(api.baseUrl, path, {
      headers: { authorization: `Bearer ${token}`, 'x-request-id': 'traced-2', ...from },
    });
    expectProblem(read, 503, 'unavailable');
    const client = createClient(api.baseUrl, tenant);
    const recorded = await client.record(domainId, unknownKey, visitor, { ...from, 'x-request-id': 'traced-3' });
    expectProblem(recorded, 503, 'unavailable');
    const metrics = await (await fetch(`${api.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/^assent_refusals_total\{code="unavailable"\} 1$/m);
    gate.open();

    for (const requestId of ['traced-2', 'traced-3']) {
      await eventually(() => {
        const lines = api.lines.filter((line) => line.includes(`"requestId":"${requestId}"`));
        expect(lines.map((line) => JSON.parse(line).status)).toContain(503);
      });
    }
    const log = api.lines.join('\n');
    const ofVisitor = ['visitor-of-a-failure', 'visitor-asked-for', 'shop.example/private', 'agent-of-a-failure'];
    for (const secret of [token, unknownKey, ...tenant.apiKeys, ...ofVisitor, '203.0.113.77'])
      expect(log).not.toContain(secret);
    for (const line of api.lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('that meets a bug learns nothing about it, and its id leads to the log line', async () => {
    await stores.sql`
      insert into counters (organization_id, domain_id, period)
      values (${tenant.organizationId}, '', to_char(now(), 'YYYY-MM-DD'))`;
    await stores.sql`alter table counters rename to kept`;
    await stores.sql`
      create view counters as
      select organization_id, domain_id, period, accept_all, reject_all, custom, 1 / withdraw as withdraw from kept`;
    await stores.sql`grant select on counters to public`;
    // the broken connections are opened again first
    const { status, headers, body } = await eventually(async () => {
      const asked = await request<ProblemAnswer>(api.baseUrl, '/v1/consent/org-stats', {
        headers: { authorization: `Bearer ${tokenFor(tenant.organizationId)}`, 'x-request-id': 'traced-4' },
      });
      expect(asked.status).not.toBe(503);
      return asked;
    });
    expectProblem({ status, headers, body }, 500, 'internal_error');
    expect(JSON.stringify([...headers, body])).not.toMatch(/division|Error|\.[jt]s\b|node_modules/);
    expect(body.detail).toBe(body.title);
    const { requestId, err } = await api.logged('bug');
    expect([requestId, err]).toMatchObject(['traced-4', { message: 'division by zero', stack: expect.any(String) }]);
  });
});
