import type { AddressInfo } from 'node:net';
import { SpanStatusCode } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import Koa from 'koa';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { State } from '#libs/base/http/context';
import { exchange } from '#libs/base/http/exchange';
import { createBaseMetrics } from '#libs/base/ops/metrics';
import { sayOnce } from '#libs/base/ops/opentelemetry/exporter';
import { createSpans } from '#libs/base/ops/opentelemetry/spans';
import { createLog } from '#libs/base/ops/process-log';
import { inSpan, linksOf, maxLinks, type Origin, originsOf, parentOf } from '#libs/base/ops/tracing';
import { addRequests, requestsIn } from '#libs/record/queue-tracing';

const spanAt = (n: number) => ({
  traceId: n.toString(16).padStart(32, 'a'),
  spanId: n.toString(16).padStart(16, 'b'),
  traceFlags: 1,
});
const originAt = (n: number, requests: number[] = []): Origin => ({ span: spanAt(n), requests: requests.map(spanAt) });
const idsOf = (links: { context: { spanId: string } }[]) => links.map(({ context }) => context.spanId);

describe('what a span comes from', () => {
  it('is its parent where it is one, and linked to, jobs before requests, where they are several', () => {
    expect(parentOf([])).toBeUndefined();
    expect([parentOf([originAt(1)]), linksOf([originAt(1)])]).toEqual([spanAt(1), []]);
    expect(parentOf([originAt(1), originAt(2)])).toBeUndefined();
    expect(idsOf(linksOf([originAt(1, [3, 4]), originAt(2)]))).toEqual([1, 2, 3, 4].map((n) => spanAt(n).spanId));
    expect(idsOf(linksOf([originAt(1, [2, 3])]))).toEqual([2, 3].map((n) => spanAt(n).spanId));
    // to no more than a span may
    const jobs = Array.from({ length: 100 }, (_, n) => originAt(n + 1, [1_000 + n, 2_000 + n]));
    expect(linksOf(jobs)).toHaveLength(maxLinks);
    // each once
    const [one, other] = [originAt(1), originAt(2)];
    expect(originsOf([[one], [], [one], [other]].map((origins) => ({ origins })))).toEqual([one, other]);
  });

  it('is carried by a job as BullMQ writes it, with its requests where they are several', () => {
    const metadata = JSON.stringify({ traceparent: '00-…-01' });
    expect(addRequests(metadata, [])).toBe(metadata);
    expect(requestsIn(addRequests(metadata, [1, 2].map(spanAt)))).toMatchObject([1, 2].map(spanAt));
    const many = Array.from({ length: 500 }, (_, n) => spanAt(n + 1));
    const { requests: carried } = JSON.parse(addRequests(metadata, many));
    expect(carried).toHaveLength(maxLinks);
    expect(requestsIn(JSON.stringify({ requests: [...carried, ...carried] }))).toHaveLength(maxLinks);
    // what is none of ours
    for (const text of ['', 'no JSON', 'null', '7', '"text"']) expect(requestsIn(text)).toBeUndefined();
    const requests = [7, null, 'garbage', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`];
    expect(requestsIn(JSON.stringify({ requests }))).toEqual([]);
  });
});

describe('spans', () => {
  let exporter: InMemorySpanExporter;
  let spans: ReturnType<typeof createSpans>;
  beforeEach(() => {
    exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    spans = createSpans(provider.getTracer('test'));
  });
  const [sampled, unsampled] = ['01', '00'].map((flags) => `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-${flags}`);
  const answer = { route: '/v1/x/:id', method: 'GET', status: 200 };
  const ended = () => exporter.getFinishedSpans();

  it('of a request with an API key, or with nothing, has a trace of its own and links to the one that was named', () => {
    for (const traceparent of [sampled, unsampled]) spans.request({ traceparent })?.end(answer);
    expect(ended()).toHaveLength(2);
    for (const span of ended()) {
      expect(span.spanContext().traceId).not.toBe('ab'.repeat(16));
      expect(span.parentSpanContext).toBeUndefined();
      expect(span.links).toMatchObject([{ context: { traceId: 'ab'.repeat(16) } }]);
      expect(span.name).toBe('GET /v1/x/:id');
    }
  });

  it('of a request with a token goes on with the trace that its caller named, once the token was accepted', () => {
    const refused = spans.request({ traceparent: sampled, authorization: 'Bearer x' });
    expect(refused?.origins()).toEqual([]);
    refused?.end({ ...answer, status: 401 });
    expect(ended()).toEqual([]);
    const known = spans.request({ traceparent: sampled, authorization: 'Bearer x' });
    known?.trust();
    expect(known?.origins()).toMatchObject([{ span: { traceId: 'ab'.repeat(16) } }]);
    known?.end(answer);
    expect(ended()).toMatchObject([{ parentSpanContext: { spanId: 'cd'.repeat(8) }, links: [] }]);
    expect(spans.request({ traceparent: unsampled, authorization: 'Bearer x' })).toBeUndefined();
  });

  it('take what is no traceparent for no trace', () => {
    for (const traceparent of ['garbage', undefined, ['00', '01'], `${sampled}-`.repeat(2)]) {
      spans.request({ traceparent, authorization: 'Bearer x' })?.end(answer);
      expect(ended().at(-1)).toMatchObject({ links: [], parentSpanContext: undefined });
    }
    expect(ended()).toHaveLength(4);
  });

  it('of a path that does not exist hold nothing of it', () => {
    spans.request({})?.end({ route: 'none', method: 'GET', status: 404 });
    expect(ended()).toMatchObject([
      { name: 'GET', attributes: { 'http.request.method': 'GET', 'http.response.status_code': 404 } },
    ]);
    expect(Object.keys(ended()[0]?.attributes ?? {})).not.toContain('http.route');
  });

  it('of what fails say so, by the kind of the error and not by its text', async () => {
    const error = Object.assign(new Error('Key (visitor)=(42) already exists'), { code: '23505' });
    const work = () =>
      inSpan({ ...spans, close: async () => {} }, 'persist', [originAt(1)], {}, () => Promise.reject(error));
    await expect(work()).rejects.toBe(error);
    expect(ended()).toMatchObject([
      { name: 'persist', status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': '23505' }, events: [] },
    ]);
    expect(JSON.stringify(ended()[0]?.status)).not.toContain('visitor');
    // and none for work that comes from nothing sampled
    expect(await inSpan({ ...spans, close: async () => {} }, 'persist', [], {}, async (self) => self)).toEqual([]);
    expect(ended()).toHaveLength(1);
  });

  it('of a request that fails are found from its log line', async () => {
    const lines: string[] = [];
    const log = createLog('test', 'info', { destination: { write: (line) => void lines.push(line) } });
    const app = new Koa<State>();
    app.use(exchange({ log, metrics: createBaseMetrics(), tracing: { ...spans, close: async () => {} } }));
    app.use(() => {
      throw new Error('broken');
    });
    const server = app.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
    const [span] = ended();
    expect(span).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': '500' } });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(JSON.parse(line).trace_id).toBe(span?.spanContext().traceId);
  });
});

it('that spans are lost is said once, and that they are no longer', () => {
  const { SUCCESS, FAILED } = ExportResultCode;
  const results = [SUCCESS, FAILED, FAILED, SUCCESS];
  const events: unknown[] = [];
  const say = ({ event }: { event?: unknown }) => void events.push(event);
  const onFailure = vi.fn();
  const ofCollector = {
    export: (_: unknown, done: (result: ExportResult) => void) => done({ code: results.shift() ?? FAILED }),
    shutdown: async () => {},
  };
  const exporter = sayOnce(ofCollector, { info: say, warn: say }, onFailure);
  const passedOn: ExportResultCode[] = [];
  for (let n = 0; n < 4; n += 1) exporter.export([], ({ code }) => passedOn.push(code));
  expect(passedOn).toEqual([SUCCESS, FAILED, FAILED, SUCCESS]);
  expect(events).toEqual(['spans_lost', 'spans_sent']);
  expect(onFailure).toHaveBeenCalledTimes(2);
});
