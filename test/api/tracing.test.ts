import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { describe, expect, inject, it } from 'vitest';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { atEnd } from '../support/at-end.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const recordSpan = 'POST /v1/consent/:domainId/record';
const [server, producer, consumer, internal] = [2, 4, 5, 1];

/** As whoever asks for it sends it. */
const named = (flags: '00' | '01') => ({ traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-${flags}` });
const namedTrace = 'ab'.repeat(16);

const [own, second] = await Promise.all([startCollector(), startCollector()]);
const stores = await openStores();
const collector = own;
const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=secret%20of%20the%20collector',
};
const tenant = await makeTenant(stores.db);
const coverage = mkdtempSync(path.join(inject('folder'), 'coverage-'));
const start = (env: Record<string, string>) => startApiProcess({ ...stores.env, ...env });
const [traced, sparingApi, off, tracedWorker] = await Promise.all([
  start(tracing),
  start({ OTEL_EXPORTER_OTLP_ENDPOINT: second.endpoint, OTEL_TRACES_SAMPLER_ARG: '0' }),
  start({ NODE_V8_COVERAGE: coverage }),
  startWorkerProcess({ ...stores.env, ...tracing }),
]);
const worker = tracedWorker;
const api = traced;
/** samples none by itself, and has a collector of its own */
const sparing = { api: sparingApi, collector: second };
const untraced = { api: off, coverage };
const redis = await openRedis(stores.redis.url);
const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
queue.on('error', () => {});
atEnd(() => queue.close());

describe('tracing', () => {
  const record = async (through: ApiProcess, body: object = {}, headers: Record<string, string> = {}) => {
    const client = createClient(through.baseUrl, tenant);
    const sent = { decision: 'custom', ...body };
    const answer = await client.record(at(tenant.domainIds, 0), at(tenant.apiKeys, 0), sent, headers);
    expect(answer.status).toBe(202);
    return answer.body;
  };
  /** In a pause of Redis a record is stored without the queue. */
  const queued: typeof record = (...given) =>
    eventually(async () => {
      const body = await record(...given);
      expect(body.status).toBe('queued');
      return body;
    });
  const isStored = async (id: string) => {
    const rows = await stores.sql`select 1 from records where id = ${id}`;
    if (rows.length === 0) throw new Error(`${id} is not stored`);
  };
  const waitingJobs = async () =>
    (await queue.getJobs(['waiting'])).map(({ name, data, opts }) => ({ name, data, opts }));
  const readNamed = (token: string) =>
    fetch(`${sparing.api.baseUrl}/v1/organization`, { headers: { authorization: `Bearer ${token}`, ...named('01') } });

  it('follows one request to its record and its counters in one trace, which no caller can choose', async () => {
    const private_ = { visitorId: 'visitor-of-a-trace', pageUrl: 'https://shop.example/of-a-trace?secret=1' };
    await queued(api, private_, {
      ...named('01'),
      'user-agent': 'agent-of-a-trace',
      'x-request-id': 'id-of-a-visitor',
    });

    const { traceId } = at(await collector.until('process record', 1), 0);
    const trace = await eventually(() => {
      const found = collector.spans.filter((span) => span.traceId === traceId);
      expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining([recordSpan, 'raise counters']));
      return found;
    });
    const [request, raised] = [recordSpan, 'raise counters'].map((wanted) => trace.find(({ name }) => name === wanted));
    const parentOf = (span: CollectedSpan) => trace.find(({ spanId }) => spanId === span.parentSpanId);
    const way: CollectedSpan[] = [];
    for (let span: CollectedSpan | undefined = raised; span; span = parentOf(span)) way.unshift(span);
    expect(way.map(({ service, name, kind }) => [service, name, kind])).toEqual([
      ['assent-api', recordSpan, server],
      ['assent-api', 'queue record', producer],
      ['assent-worker', 'process record', consumer],
      ['assent-worker', 'persist', internal],
      ['assent-worker', 'raise counters', internal],
    ]);
    expect(trace).toHaveLength(way.length);
    const instances = new Set(trace.map(({ instance }) => instance));
    expect([...instances]).toEqual(Array(2).fill(expect.stringMatching(/-\d+$/)));
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/consent/:domainId/record',
      'http.response.status_code': 202,
    });
    expect(way[3]?.attributes).toMatchObject({ 'assent.jobs': 1, 'assent.records': 1 });
    expect(traceId).not.toBe(namedTrace);
    expect(request?.links).toMatchObject([{ traceId: namedTrace }]);

    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': 'secret of the collector' });
    const all = collector.bodies.join();
    for (const secret of [
      ...tenant.domainIds,
      ...tenant.apiKeys,
      ...['visitor-of-a-trace', 'of-a-trace', 'agent-of-a-trace', 'id-of-a-visitor', '127.0.0.1'],
    ])
      expect(all).not.toContain(secret);
  });

  it('that is off adds nothing to jobs and loads nothing, and its worker stores jobs that carry a trace', async () => {
    await worker.stop();
    await queued(untraced.api, {}, named('01'));
    const [plain] = await waitingJobs();
    await queued(api);
    const jobs = await waitingJobs();
    const carrying = jobs.find(({ opts }) => opts.telemetry);
    expect(plain?.opts).toEqual({ attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, stackTraceLimit: 3 });
    expect(carrying?.opts).toEqual({ ...plain?.opts, telemetry: { metadata: expect.stringContaining('traceparent') } });
    expect(Object.keys(carrying?.data)).toEqual(Object.keys(plain?.data));

    const other = await startWorkerProcess({ ...stores.env, NODE_V8_COVERAGE: untraced.coverage });
    for (const { data } of jobs) await eventually(() => isStored(data.records[0].id));
    await Promise.all([other.stop(), untraced.api.stop()]);
    const loaded = filesIn(untraced.coverage);
    expect(loaded.filter((file) => file.endsWith('main.js'))).toHaveLength(2);
    expect(loaded.filter(exportsSpans)).toEqual([]);
    expect(['api', 'worker'].flatMap(filesOf).filter(exportsSpans)).toHaveLength(2);
  });

  it('sends nothing of what is not sampled, whatever a visitor sends, but goes on with the trace of a known caller', async () => {
    await queued(sparing.api, {}, named('01'));
    await queued(sparing.api, {}, { ...named('01'), authorization: 'Bearer of.no.use' });
    expect((await waitingJobs()).map(({ opts }) => opts.telemetry)).toEqual([undefined, undefined]);
    expect((await readNamed('of.no.use')).status).toBe(401);
    expect((await readNamed(tokenFor(tenant.organizationId))).status).toBe(200);
    await sparing.collector.until('GET /v1/organization', 1);
    expect(sparing.collector.spans).toMatchObject([{ traceId: namedTrace, parentSpanId: 'cd'.repeat(8) }]);
  });

  it('whose collector hangs says so once, and holds up neither records nor the end', async () => {
    sparing.collector.hang();
    await readNamed(tokenFor(tenant.organizationId));
    await sparing.api.logged('spans_lost');
    for (let n = 0; n < 20; n += 1) await record(sparing.api);
    await readNamed(tokenFor(tenant.organizationId));
    expect(await sparing.api.stop()).toEqual({ code: 0, signal: null });
    expect(sparing.api.events('spans_lost')).toHaveLength(1);
  });

  it('has what went straight to Postgres below its request, and sends the last spans before the process ends', async () => {
    await stores.redis.stop();
    const direct = () => collector.named('persist').filter(({ service }) => service === 'assent-api');
    await eventually(async () => {
      await record(api);
      expect(direct().length).toBeGreaterThan(0);
    });
    const sent = collector.named(recordSpan).length;
    await record(api);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    expect(collector.named(recordSpan).length).toBeGreaterThan(sent);
    for (const { parentSpanId, traceId } of direct())
      expect(collector.named(recordSpan)).toContainEqual(expect.objectContaining({ spanId: parentSpanId, traceId }));
  });
});

/** Of our own build, by V8's coverage. */
function filesIn(folder: string): string[] {
  const reports = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
  const urls = reports.flatMap((report): { url: string }[] => JSON.parse(report).result).map(({ url }) => url);
  return urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
}

function filesOf(app: string): string[] {
  const folder = path.join(inject('dist'), 'apps', app);
  return readdirSync(folder).flatMap((name) => (name.endsWith('.js') ? path.join(folder, name) : []));
}

const exportsSpans = (file: string): boolean => readFileSync(file, 'utf8').includes('/v1/traces');
