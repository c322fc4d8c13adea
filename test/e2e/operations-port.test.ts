import { beforeAll, describe, expect, it } from 'vitest';
import { versionOf } from '../../scripts/release/check.ts';
import { root } from '../../scripts/stack/paths.ts';
import { exchange } from '../support/raw-http.ts';
import { startApi, startWorker, type Worker } from '../support/service.ts';
import { type OwnStack, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

interface ListedQueue {
  name: string;
  readOnlyMode: boolean;
  isPaused: boolean;
}

describe('the operations port', () => {
  let stack: OwnStack;
  let worker: Worker;

  beforeAll(async () => {
    stack = await startStack({ worker: false });
    worker = await startWorker(stack.env);
  });

  const metric = async (opsUrl: string, sample: string) => {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
    return line === undefined ? undefined : Number(line.slice(sample.length));
  };

  it.each(['api', 'worker'])('of the %s says that it lives and is ready', async (name) => {
    const { opsUrl } = name === 'api' ? stack.api : worker;
    expect((await fetch(`${opsUrl}/livez`)).status).toBe(200);
    await eventually(async () => {
      const response = await fetch(`${opsUrl}/readyz`);
      expect([response.status, await response.json()]).toEqual([200, { ready: true, postgres: true, redis: true }]);
    });
    expect((await fetch(`${opsUrl}/nothing`)).status).toBe(404);
  });

  it('of the API has its metrics, which count', async () => {
    const { opsUrl } = stack.api;
    const response = await fetch(`${opsUrl}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    for (const name of [
      'http_request_duration_seconds',
      'records_total',
      'refusals_total',
      'redis_usable',
      'stats_reads_total',
    ]) {
      expect(text).toContain(`# TYPE assent_${name} `);
    }
    expect(text).toContain(`\nassent_build_info{version="${versionOf(root)}"} 1\n`);
    // what only a worker, or an API with a replica, knows: a 0 would hide that there is none
    expect(text).not.toMatch(/^assent_(replica_used|replica_lag|logs_halted|timestamp_age|epoch_interval)\S* /m);
    const { body } = await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    expect(await metric(opsUrl, `assent_records_total{outcome="${body.status}"}`)).toBe(1);
    expect(await metric(opsUrl, 'assent_redis_usable')).toBe(1);
    expect(await metric(opsUrl, 'assent_ready')).toBe(1);
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

  it('of the worker has its metrics, which count', async () => {
    const text = await (await fetch(`${worker.opsUrl}/metrics`)).text();
    for (const name of [
      'persist_duration_seconds',
      'raise_duration_seconds',
      'owed_raises',
      'epochs_closed',
      'postgres_running',
      'persist_batch_records',
      'queue_jobs',
      'queue_oldest_job_age_seconds',
      'counter_fills_total',
      'counter_drift_total',
    ]) {
      expect(text).toContain(`# TYPE assent_${name} `);
    }
    const before = (await metric(worker.opsUrl, 'assent_records_total{outcome="stored"}')) ?? 0;
    await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    await eventually(async () => {
      expect(await metric(worker.opsUrl, 'assent_records_total{outcome="stored"}')).toBeGreaterThan(before);
      expect(await metric(worker.opsUrl, 'assent_queue_jobs{shard="0",state="failed"}')).toBe(0);
    });
  });

  it('of every worker says when housekeeping last succeeded, whichever worker ran it and whenever this one started', async () => {
    const { db, env } = stack;
    const succeededAt = async (opsUrl: string, task: string) =>
      (await metric(opsUrl, `assent_housekeeping_last_success_timestamp_seconds{task="${task}"}`)) ?? 0;
    const other = await startWorker({ ...env, RECORD_RETENTION_MONTHS: '12' });
    const before = await succeededAt(other.opsUrl, 'visitors');
    await eventually(async () => expect(await succeededAt(other.opsUrl, 'visitors')).toBeGreaterThan(before), {
      within: 20_000,
    });
    // once it has run, the next time is in an hour
    await eventually(async () => {
      await db.run((sql) => sql`update housekeeping_tasks set succeeded_at = to_timestamp(9) where task = 'bookmarks'`);
      for (const { opsUrl } of [worker, other]) {
        expect(await succeededAt(opsUrl, 'bookmarks')).toBe(9);
        expect(await succeededAt(opsUrl, 'retention')).toBeGreaterThan(9);
      }
    });
    await other.stop();
    const third = await startWorker(env);
    await eventually(async () => expect(await succeededAt(third.opsUrl, 'retention')).toBe(0), { within: 20_000 });
    expect(await succeededAt(third.opsUrl, 'bookmarks')).toBe(9);
    await third.stop();
  });

  it.each(['api', 'worker'])('of the %s shows its state to people, with the queues', async (name) => {
    const { opsUrl } = name === 'api' ? stack.api : worker;
    const html = await eventually(async () => {
      const page = await fetch(opsUrl);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const shown = await page.text();
      for (const text of ['Ready: all parts work', '<th scope="row">postgres</th><td>works</td>', 'Shard 0'])
        expect(shown).toContain(text);
      return shown;
    });
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) await eventually(async () => expect((await fetch(opsUrl + link)).status).toBe(200));
  });

  it("has the queue's page, with all its files", async () => {
    const page = await fetch(`${stack.api.opsUrl}/queues`);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain('Assent');
    const base = /<base href="([^"]*)"/.exec(html)?.[1] ?? '/';
    const files = [...html.matchAll(/(?:src|href)="(static\/[^"]*)"/g)].map(([, link]) => `${base}${link}`);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect((await fetch(stack.api.opsUrl + file)).status).toBe(200);
    expect((await fetch(`${stack.api.opsUrl}/queues/api/queues`)).status).toBe(200);
  });

  it("the queue's page changes nothing, whoever asks", async () => {
    const { opsUrl } = stack.api;
    const [queue] = ((await (await fetch(`${opsUrl}/queues/api/queues`)).json()) as { queues: ListedQueue[] }).queues;
    expect(queue).toMatchObject({ readOnlyMode: true, isPaused: false });
    const own = { origin: opsUrl, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const foreign = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' };
    for (const headers of [own, foreign, {}]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const path of [`/${queue?.name}/pause`, `/${queue?.name}/add`, '/pause', `/${queue?.name}/obliterate`]) {
          const response = await fetch(`${opsUrl}/queues/api/queues${path}`, { method, headers, body: '{}' });
          expect({ method, path, status: response.status }).toEqual({ method, path, status: 403 });
        }
      }
    }
    const after = (await (await fetch(`${opsUrl}/queues/api/queues`)).json()) as { queues: ListedQueue[] };
    expect(after.queues[0]).toMatchObject({ name: queue?.name, isPaused: false });
  });

  it.each(['/livez', '/readyz', '/metrics', '/queues', '/queues/api/queues'])(
    '%s is not on the public port',
    async (path) => {
      expect((await fetch(stack.api.baseUrl + path)).status).toBe(404);
    },
  );

  it.each(['/', '/livez', '/readyz', '/metrics', '/queues'])(
    "%s is there for probes by address and by loopback's own name, and for no page that has its name lead here",
    async (path) => {
      const statusFor = async (host: string) => {
        const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
        return (await exchange(stack.api.opsUrl, [head])).status;
      };
      for (const host of ['127.0.0.1:3001', 'localhost:3001', 'LOCALHOST', '[::1]:3001', '10.1.2.3:3001'])
        expect([host, await statusFor(host)]).toEqual([host, 200]);
      for (const host of ['evil.example', 'localhost.evil.example:3001', '127.0.0.1.evil.example'])
        expect([host, await statusFor(host)]).toEqual([host, 403]);
      const withoutHost = `GET ${path} HTTP/1.0\r\n\r\n`;
      expect((await exchange(stack.api.opsUrl, [withoutHost])).status).toBe(200);
    },
  );

  it('survives requests for what is no path', async () => {
    const api = await startApi(stack.env);
    for (const target of ['*', '/%', '//', 'http://', '/queues/%ff']) {
      const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const answer = await exchange(api.opsUrl, [request]);
      expect({ target, failed: answer.status >= 500 }).toEqual({ target, failed: false });
    }
    expect((await fetch(`${api.opsUrl}/livez`)).status).toBe(200);
  });
});
