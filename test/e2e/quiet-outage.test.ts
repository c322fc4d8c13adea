import { beforeAll, describe, expect, it } from 'vitest';
import { flood } from '../support/flood.ts';
import { openGate } from '../support/gate.ts';
import { restartRedis } from '../support/outage.ts';
import { type ApiProcess, type Service, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** Lines that one process may write in a second. */
const few = 5;
const seconds = 5;

describe('with both stores down, under 1,000 records a second', () => {
  let api: ApiProcess;
  let worker: Service & { opsUrl: string };
  let env: { DATABASE_URL: string; REDIS_URL: string };
  let found: Awaited<ReturnType<typeof flood>>;
  /** what each process wrote, and for how long, in seconds */
  let written: { name: string; lines: string[]; lasted: number }[];

  beforeAll(async () => {
    const { url, db } = await openDatabase();
    const [postgres, redis] = await Promise.all([openGate(url), openRedisServer()]);
    const tenant = await makeTenant(db);
    env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    [api, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
    const body = JSON.stringify({ decision: 'custom', preferences: { analytics: true } });
    const request = [
      `POST /v1/consent/${at(tenant.domainIds, 0)}/record HTTP/1.1`,
      'Host: a',
      `X-Api-Key: ${at(tenant.apiKeys, 0)}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
    // the key is known, and the worker has jobs in hand that it cannot store
    await flood(api.baseUrl, request, { rate: 100, seconds: 0.1 });
    postgres.shut();
    await flood(api.baseUrl, request, { rate: 1_000, seconds: 1 });
    await eventually(() => expect(worker.lines.join()).toContain('Postgres is down'));
    redis.kill();
    await redis.exited;

    const services = [
      { name: 'api', lines: api.lines },
      { name: 'worker', lines: worker.lines },
    ];
    const before = services.map(({ lines }) => lines.length);
    const start = performance.now();
    found = await flood(api.baseUrl, request, { rate: 1_000, seconds });
    const lasted = (performance.now() - start) / 1_000;
    written = services.map(({ name, lines }, index) => ({ name, lines: lines.slice(before[index]), lasted }));
  }, 60_000);

  const metric = async (opsUrl: string, sample: string) => {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
    return Number(line?.slice(sample.length) ?? 0);
  };

  it('every request is answered, in time', async () => {
    expect(found.sent).toBeGreaterThan(seconds * 750);
    expect([...found.answers]).toEqual([[503, found.sent]]);
    // by the service's clock: on a busy machine requests wait in the sockets behind those before them
    const labels = 'route="/v1/consent/:domainId/record",method="POST",status="503"';
    const duration = 'assent_http_request_duration_seconds';
    const inTime = await metric(api.opsUrl, `${duration}_bucket{le="5",${labels}}`);
    expect(inTime).toBeGreaterThanOrEqual(found.sent);
    expect(inTime).toBe(await metric(api.opsUrl, `${duration}_count{${labels}}`));
  });

  it('a process writes a few lines a second', () => {
    for (const { name, lines, lasted } of written) {
      expect({ name, perSecond: lines.length / lasted, lines: lines.slice(0, 50) }).toMatchObject({
        perSecond: expect.toSatisfy((count: number) => count <= few),
      });
      // the outage is in the log
      expect({ name, lines: lines.length }).not.toEqual({ name, lines: 0 });
    }
  });

  it('the metrics of the API tell what the log leaves out', async () => {
    const route = 'route="/v1/consent/:domainId/record",method="POST",status="503"';
    const failed = await metric(api.opsUrl, `assent_http_request_duration_seconds_count{${route}}`);
    expect(failed).toBeGreaterThanOrEqual(found.sent);
    interface Line {
      msg: string;
      status?: number;
      reason?: string;
      suppressed?: number;
    }
    const parsed = api.lines.map((line): Line => JSON.parse(line));
    const lines = parsed.filter(({ msg }) => msg === 'slow or failed request');
    // one that was slow, before the outage, has none
    expect(lines.filter(({ status, reason }) => status === 503 && !reason)).toEqual([]);
    expect(lines.some(({ reason }) => /ECONN(RESET|REFUSED)/.test(reason ?? ''))).toBe(true);
    const suppressed = await metric(api.opsUrl, 'assent_log_lines_suppressed_total{level="warn"}');
    expect(lines.length + suppressed).toBeGreaterThanOrEqual(failed);
    // each line says what came before it, so only the last second is in the metric alone
    const told = lines.reduce((sum, line) => sum + 1 + (line.suppressed ?? 0), 0);
    expect(told).toBeGreaterThan(failed / 2);
    expect(told).toBeLessThanOrEqual(lines.length + suppressed);
  });

  it('the metrics tell of tasks in the background that fail without a word', async () => {
    const failures = (opsUrl: string, task: string) => metric(opsUrl, `assent_background_errors_total{task="${task}"}`);
    await eventually(async () => expect(await failures(api.opsUrl, 'announce_shards')).toBeGreaterThan(0));
    const { opsUrl } = await startApiProcess(env);
    await eventually(async () => expect(await failures(opsUrl, 'keep_widget_files')).toBeGreaterThan(0));
    await eventually(async () => expect(await failures(worker.opsUrl, 'find_shards')).toBeGreaterThan(0));
    await eventually(async () => expect(await failures(worker.opsUrl, 'observe_queues')).toBeGreaterThan(0));
    expect(await metric(worker.opsUrl, 'assent_log_lines_suppressed_total{level="warn"}')).toBeGreaterThan(0);
  });
});

it('a worker tells an outage of Redis once, however long it is, and its end', async () => {
  const { env, redis } = await openStores();
  const worker = await startWorkerProcess(env);
  const told = (text: string) =>
    worker.lines
      .map((line): { msg: string; err?: { message: string } } => JSON.parse(line))
      .filter(({ msg }) => msg.includes(text));
  await eventually(() => expect(told('Redis takes jobs')).toHaveLength(1));
  redis.kill();
  await eventually(async () => {
    const { degraded } = (await (await fetch(`${worker.opsUrl}/readyz`)).json()) as { degraded: { since: string }[] };
    expect(Date.now() - Date.parse(at(degraded, 0).since)).toBeGreaterThan(3_000);
  });
  expect(told('Redis takes no jobs')).toHaveLength(1);
  await restartRedis(redis);
  await eventually(() => expect(told('Redis takes jobs')).toHaveLength(2));
  const errors = told('worker error').map(({ msg, err }) => `${msg} ${err?.message}`);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.length).toBe(new Set(errors).size);
});
