import { describe, expect, it } from 'vitest';
import { versionOf } from '../../scripts/release/check.ts';
import { root } from '../../scripts/stack/paths.ts';
import { sampleOf as metric } from '../support/metrics.ts';
import { exchange } from '../support/raw-http.ts';
import { startWorker, type Worker } from '../support/service.ts';
import { startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

interface ListedQueue {
  name: string;
  readOnlyMode: boolean;
  isPaused: boolean;
}

const stack = await startStack({ worker: false });

describe('the operations port', () => {
  let worker: Worker;

  const record = () => stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
  /** What asks Redis says so where that takes longer than it waits. */
  const answered = (url: string) =>
    eventually(async () => {
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      return answer;
    });

  it('of the API has its metrics, which count', async () => {
    const { opsUrl } = stack.api;
    const response = await fetch(`${opsUrl}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    expect(text).toContain(`\nassent_build_info{version="${versionOf(root)}"} 1\n`);
    // what only a worker, or an API with a replica, knows: a 0 would hide that there is none
    expect(text).not.toMatch(/^assent_(replica_used|replica_lag|logs_halted|timestamp_age|epoch_interval)\S* /m);
    const { body } = await record();
    expect(await metric(opsUrl, `assent_records_total{outcome="${body.status}"}`)).toBe(1);
    await eventually(async () =>
      expect([await metric(opsUrl, 'assent_redis_usable'), await metric(opsUrl, 'assent_ready')]).toEqual([1, 1]),
    );
    const requests =
      'assent_http_request_duration_seconds_count{route="/v1/consent/:domainId/record",method="POST",status="202"}';
    expect(await metric(opsUrl, requests)).toBe(1);
  });

  it('of the API counts refusals by their code; the log says which domains they are of, once', async () => {
    const { domainId, client, api } = stack;
    for (const domain of [domainId, 'dom_unknown', domainId])
      await client.record(domain, 'ak_none', { decision: 'custom' });
    expect(await metric(api.opsUrl, 'assent_refusals_total{code="invalid_api_key"}')).toBe(3);
    expect(await api.logged('refused')).toMatchObject({ code: 'invalid_api_key', domainId });
    expect(api.events('refused')).toHaveLength(1);
  });

  it('shows the age of the oldest job: the API while no worker runs, and a worker that cannot store what it holds', async () => {
    const { api, db, env } = stack;
    const scrape = async (opsUrl: string) => ({
      age: await metric(opsUrl, 'assent_queue_oldest_job_age_seconds{shard="0"}'),
      waiting: await metric(opsUrl, 'assent_queue_jobs{shard="0",state="waiting"}'),
      active: await metric(opsUrl, 'assent_queue_jobs{shard="0",state="active"}'),
    });
    await eventually(async () => {
      const { age, waiting } = await scrape(api.opsUrl);
      // in a pause of Redis it was stored without the queue
      if (waiting === 0) await record();
      expect([waiting, age > 0.5]).toEqual([1, true]);
    });
    await db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table records in access exclusive mode`;
        worker = await startWorker(env);
        await eventually(async () => {
          for (const { opsUrl } of [api, worker]) {
            const { age, active } = await scrape(opsUrl);
            expect([active, age > 1]).toEqual([1, true]);
          }
        });
      }),
    );
    await eventually(async () => expect(await scrape(api.opsUrl)).toEqual({ age: 0, waiting: 0, active: 0 }));
  });

  it('of the worker has its metrics, which count', async () => {
    const names = ['persist_duration_seconds', 'raise_duration_seconds', 'owed_raises', 'epochs_closed'];
    names.push('postgres_running', 'persist_batch_records', 'counter_fills_total', 'counter_drift_total');
    const text = await (await fetch(`${worker.opsUrl}/metrics`)).text();
    expect(names.filter((name) => !text.includes(`# TYPE assent_${name} `))).toEqual([]);
    await eventually(async () => {
      expect(await metric(worker.opsUrl, 'assent_records_total{outcome="stored"}')).toBeGreaterThan(0);
      expect(await metric(worker.opsUrl, 'assent_queue_jobs{shard="0",state="failed"}')).toBe(0);
    });
  });

  it.each(['api', 'worker'])(
    'of the %s lives, is ready, and shows its state to people, with the queues',
    async (name) => {
      const { opsUrl } = name === 'api' ? stack.api : worker;
      expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
      expect((await fetch(`${opsUrl}/nothing`)).status).toBe(404);
      await eventually(async () => {
        const response = await fetch(`${opsUrl}/readyz`);
        expect([response.status, await response.json()]).toEqual([200, { ready: true, postgres: true, redis: true }]);
      });
      const html = await eventually(async () => {
        const page = await answered(opsUrl);
        expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
        const shown = await page.text();
        expect(shown).toMatch(/Ready: all parts work.*Shard 0/s);
        return shown;
      });
      const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
      expect(links.length).toBeGreaterThan(3);
      for (const link of links) await answered(opsUrl + link);
    },
  );

  it('of every worker says when housekeeping last succeeded, whichever worker ran it', async () => {
    const { env, sql } = stack;
    const succeededAt = async (opsUrl: string, task: string) =>
      (await metric(opsUrl, `assent_housekeeping_last_success_timestamp_seconds{task="${task}"}`)) || 0;
    const other = await startWorker({ ...env, RECORD_RETENTION_MONTHS: '12' });
    const before = await succeededAt(other.opsUrl, 'visitors');
    await eventually(async () => expect(await succeededAt(other.opsUrl, 'visitors')).toBeGreaterThan(before));
    // once it has run, the next time is in an hour
    await eventually(async () => {
      const due =
        await sql`select from tasks where name = 'userAgents' and holder is null and due_at > now() + interval '1 minute'`;
      expect(due.count).toBe(1);
    });
    await sql`update tasks set succeeded_at = to_timestamp(9) where name = 'userAgents'`;
    for (const { opsUrl } of [worker, other])
      await eventually(async () => expect(await succeededAt(opsUrl, 'userAgents')).toBe(9));
    // of its own tasks alone
    await eventually(async () => expect(await succeededAt(other.opsUrl, 'retention')).toBeGreaterThan(9));
    expect(await succeededAt(worker.opsUrl, 'retention')).toBe(0);
    await other.stop();
  });

  it("has the queue's page, with all its files, which loads nothing else and never changes anything", async () => {
    const { opsUrl } = stack.api;
    const policy =
      "default-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data:;object-src 'none';form-action 'none';frame-ancestors 'none'";
    const page = await answered(`${opsUrl}/queues`);
    expect(page.headers.get('content-security-policy')).toBe(policy);
    const html = await page.text();
    expect(html).toContain('Assent');
    expect(html).not.toMatch(/(?:src|href)="https?:/);
    const base = /<base href="([^"]*)"/.exec(html)?.[1] ?? '/';
    const files = [...html.matchAll(/(?:src|href)="(static\/[^"]*)"/g)].map(([, link]) => `${base}${link}`);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) await answered(opsUrl + file);
    const listed = async () => {
      const answer = await answered(`${opsUrl}/queues/api/queues`);
      return ((await answer.json()) as { queues: ListedQueue[] }).queues[0];
    };
    const queue = await listed();
    expect(queue).toMatchObject({ readOnlyMode: true, isPaused: false });
    const own = { origin: opsUrl, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of [`/${queue?.name}/pause`, `/${queue?.name}/add`, '/pause', `/${queue?.name}/obliterate`]) {
        const { status } = await fetch(`${opsUrl}/queues/api/queues${path}`, { method, headers: own, body: '{}' });
        expect([method, path, status]).toEqual([method, path, 403]);
      }
    }
    expect(await listed()).toMatchObject({ name: queue?.name, isPaused: false });
  });

  const ask = (target: string, host: string) =>
    exchange(stack.api.opsUrl, [`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]);

  it.each(['/', '/livez', '/readyz', '/metrics', '/queues', '/nothing'])(
    '%s is there for probes, lets nobody guess its type, and is no page of another name',
    async (path) => {
      expect((await ask(path, 'localhost.evil.example:3001')).status).toBe(403);
      // ready, and with what it asks of Redis
      await eventually(async () => {
        const { status, headers } = await ask(path, '127.0.0.1:3001');
        expect(status).toBe(path === '/nothing' ? 404 : 200);
        expect([headers.get('x-content-type-options'), headers.get('access-control-allow-origin')]).toEqual([
          ...['nosniff', null],
        ]);
      });
    },
  );

  it('survives requests for what is no path', async () => {
    for (const target of ['*', '/%', '//', 'http://', '/queues/%ff'])
      expect([target, (await ask(target, 'a')).status < 500]).toEqual([target, true]);
  });
});
