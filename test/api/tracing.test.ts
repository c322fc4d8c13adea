/** Traces from one process to the next. That nothing of them is loaded where they are off, `test/support/rooms.ts` says. */
import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { queuePrefix, recordQueue } from '#libs/record/queue';
import { atEnd } from '../support/at-end.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { type Addresses, startApi, startApiProcess, startWorker, startWorkerProcess } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const recordSpan = 'POST /v1/consent/:domainId/record';
const [server, producer, consumer, internal] = [2, 4, 5, 1];

/** For anybody. */
const namedTrace = 'ab'.repeat(16);
const named = { traceparent: `00-${namedTrace}-${'cd'.repeat(8)}-01` };

const stores = await openStores();
const [collector, second] = await Promise.all([startCollector(), startCollector()]);
const tracing = {
  ...stores.env,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=secret%20of%20the%20collector',
};
const tenant = await makeTenant(stores.db);
/** samples none by itself, and has a collector of its own */
const ofFew = { ...stores.env, OTEL_EXPORTER_OTLP_ENDPOINT: second.endpoint, OTEL_TRACES_SAMPLER_ARG: '0' };
const [api, sparing, worker] = await Promise.all([
  startApiProcess(tracing),
  startApiProcess(ofFew),
  startWorkerProcess(tracing),
]);
const redis = await openRedis(stores.redis.url);
const queue = new Queue(recordQueue(0), { connection: redis.client, prefix: queuePrefix });
queue.on('error', () => {});
atEnd(() => queue.close());

describe('tracing', () => {
  const record = async (through: Addresses, body: object = {}, headers: Record<string, string> = {}) => {
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
    fetch(`${sparing.baseUrl}/v1/organization`, { headers: { authorization: `Bearer ${token}`, ...named } });

  it('follows one request to its record and its counters in one trace, which no caller can choose', async () => {
    const private_ = { visitorId: 'visitor-of-a-trace', pageUrl: 'https://shop.example/of-a-trace?secret=1' };
    await queued(api, private_, {
      ...named,
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

  it('that is off adds nothing to jobs, and its worker stores jobs that carry a trace', async () => {
    await worker.stop();
    await queued(await startApi(stores.env), {}, named);
    const [plain] = await waitingJobs();
    await queued(api);
    const jobs = await waitingJobs();
    const carrying = jobs.find(({ opts }) => opts.telemetry);
    expect(plain?.opts).toEqual({ attempts: 5, backoff: { type: 'exponential', delay: 1_000 }, stackTraceLimit: 3 });
    expect(carrying?.opts).toEqual({ ...plain?.opts, telemetry: { metadata: expect.stringContaining('traceparent') } });
    expect(Object.keys(carrying?.data)).toEqual(Object.keys(plain?.data));

    const other = await startWorker(stores.env);
    for (const { data } of jobs) await eventually(() => isStored(data.records[0].id));
    await other.stop();
  });

  it('sends nothing of what is not sampled, regardless of what a visitor sends, but continues the trace of a known caller', async () => {
    await queued(sparing, {}, named);
    await queued(sparing, {}, { ...named, authorization: 'Bearer of.no.use' });
    expect((await waitingJobs()).map(({ opts }) => opts.telemetry)).toEqual([undefined, undefined]);
    expect((await readNamed('of.no.use')).status).toBe(401);
    expect((await readNamed(tokenFor(tenant.organizationId))).status).toBe(200);
    await second.until('GET /v1/organization', 1);
    expect(second.spans).toMatchObject([{ traceId: namedTrace, parentSpanId: 'cd'.repeat(8) }]);
  });

  it('whose collector refuses spans says so, and one that hangs holds up neither records nor the end', async () => {
    second.fail('refuses');
    await readNamed(tokenFor(tenant.organizationId));
    await sparing.logged('spans_lost');
    second.fail('hangs');
    for (let n = 0; n < 20; n += 1) await record(sparing);
    await readNamed(tokenFor(tenant.organizationId));
    expect(await sparing.stop()).toEqual({ code: 0, signal: null });
  });

  it('has what went straight to Postgres below its request, and sends the last spans before the process ends', async () => {
    await stores.redis.stop();
    await eventually(async () => expect((await record(api)).status).toBe('persisted'));
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    const direct = collector.named('persist').filter(({ service }) => service === 'assent-api');
    expect(direct.length).toBeGreaterThan(0);
    for (const { parentSpanId, traceId } of direct)
      expect(collector.named(recordSpan)).toContainEqual(expect.objectContaining({ spanId: parentSpanId, traceId }));
  });
});
