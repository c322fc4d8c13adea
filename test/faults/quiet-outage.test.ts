/** What is written, and what the metrics tell, while both stores are away. */
import { describe, expect, it } from 'vitest';
import { flood } from '../support/flood.ts';
import { openGate } from '../support/gate.ts';
import { sampleOf } from '../support/metrics.ts';
import { restartRedis } from '../support/outage.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** Lines of one kind that a process may write at once; after that it is one a second. */
const few = 5;

const stores = await openStores();
const { redis } = stores;
const postgres = await openGate(stores.env.DATABASE_URL);
const env = { ...stores.env, DATABASE_URL: postgres.url };
const tenant = await makeTenant(stores.db);
const [api, worker] = await Promise.all([startApi(env), startWorker(env)]);
const body = '{"decision":"custom"}';
const request = [
  `POST /v1/consent/${at(tenant.domainIds, 0)}/record HTTP/1.1`,
  'Host: a',
  `X-Api-Key: ${at(tenant.apiKeys, 0)}`,
  'Content-Type: application/json',
  `Content-Length: ${body.length}`,
  '',
  body,
].join('\r\n');
// the key is known
await flood(api.baseUrl, request, { rate: 100, seconds: 0.1 });
postgres.shut();
const late = await startApi(env);
// the worker has jobs in hand that it cannot store
await eventually(async () => {
  await flood(api.baseUrl, request, { rate: 100, seconds: 0.2 });
  expect(worker.lines.join()).toContain('Postgres is down');
});
/** What the worker has written that has this in its text. */
const told = (text: string) =>
  worker.lines
    .map((line): { msg: string; err?: { message: string } } => JSON.parse(line))
    .filter(({ msg }) => msg.includes(text));
/** How often that Redis takes jobs, and that it takes none. */
const toldOfRedis = () => [told('Redis takes jobs').length, told('Redis takes no jobs').length];
// a busy machine may have kept Redis from answering before
await eventually(() => expect(told('Redis takes').at(-1)?.msg).toBe('Redis takes jobs'));
const [ends = 0, outages = 0] = toldOfRedis();
redis.kill();
await redis.exited;

const before = [api.lines.length, worker.lines.length];
const start = performance.now();
const found = await flood(api.baseUrl, request, { rate: 300, seconds: 1 });
/** what each wrote meanwhile, and for how many seconds */
const written = [api.lines, worker.lines].map((lines, index) => lines.slice(before[index]));
const lasted = (performance.now() - start) / 1_000;

describe('with both stores down, under a flood of records', () => {
  it('every request is answered, and of each kind a process writes a few lines, and then one a second', () => {
    expect([...found.answers]).toEqual([[503, found.sent]]);
    for (const lines of written) {
      const texts = lines.map((line) => String(JSON.parse(line).msg));
      const most = Math.max(...texts.map((text) => texts.filter((each) => each === text).length));
      // the outage is in the log
      expect({ texts, most: most > 0 && most <= few + lasted + 1 }).toEqual({ texts, most: true });
    }
  });

  it('the metrics of the API tell what the log leaves out', async () => {
    const route = 'route="/v1/consent/:domainId/record",method="POST",status="503"';
    const failed = await sampleOf(api.opsUrl, `assent_http_request_duration_seconds_count{${route}}`);
    expect(failed).toBeGreaterThanOrEqual(found.sent);
    const lines = api.lines
      .map((line): { msg: string; status?: number; reason?: string } => JSON.parse(line))
      .filter(({ msg }) => msg === 'slow or failed request');
    // one that was slow, before the outage, has none
    expect(lines.filter(({ status, reason }) => status === 503 && !reason)).toEqual([]);
    expect(lines.some(({ reason }) => /ECONN(RESET|REFUSED)/.test(reason ?? ''))).toBe(true);
    const suppressed = await sampleOf(api.opsUrl, 'assent_log_lines_suppressed_total{level="warn"}');
    expect(suppressed).toBeGreaterThan(0);
    expect(lines.length + suppressed).toBeGreaterThanOrEqual(failed);
  });

  it('the metrics tell of tasks in the background that fail without a word', async () => {
    for (const [url, task] of [
      [api.opsUrl, 'announce_shards'],
      [late.opsUrl, 'keep_widget_files'],
      [worker.opsUrl, 'find_shards'],
      [worker.opsUrl, 'observe_queues'],
    ] as const) {
      const failures = `assent_background_errors_total{task="${task}"}`;
      await eventually(async () => expect([task, (await sampleOf(url, failures)) > 0]).toEqual([task, true]));
    }
  });

  it('a worker tells an outage of Redis once, however long it is, and its end', async () => {
    expect(toldOfRedis()).toEqual([ends, outages + 1]);
    const errors = told('worker error').map(({ msg, err }) => `${msg} ${err?.message}`);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBe(new Set(errors).size);
    postgres.open();
    await restartRedis(redis);
    await eventually(() => expect(toldOfRedis()).toEqual([ends + 1, outages + 1]));
  });
});
