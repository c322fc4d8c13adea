import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor } from '../support/client.ts';
import { exchange, problemIn, type RawAnswer } from '../support/raw-http.ts';
import { type StackWithApi, useStackWithApi } from '../support/stack.ts';

/** Milliseconds: headers have 3.5 s, an answer 4.7 s, a whole request 5.5 s; the rest is what a busy machine may add. */
const inTime = 12_000;
const body = '{"decision":"custom"}';

describe('what is not a whole HTTP request', () => {
  let stack: StackWithApi;

  beforeAll(async () => {
    stack = await useStackWithApi();
  });

  /** The head of a record request with these headers instead of its own Content-Length. */
  const head = (...headers: string[]) =>
    [
      `POST /v1/consent/${stack.domainId}/record HTTP/1.1`,
      'Host: assent',
      'Content-Type: application/json',
      `X-Api-Key: ${stack.apiKey}`,
      ...headers,
      '',
      '',
    ].join('\r\n');

  const expectRefusal = (answer: RawAnswer) => {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
    const problem = problemIn(answer);
    expect(problem).toMatchObject({ status: answer.status, code: expect.stringMatching(/./) });
    expect(answer.headers.get('x-request-id')).toBe(problem.requestId);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  };

  const expectNextToWork = async () => {
    const { status } = await stack.client.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    expect(status).toBe(202);
  };

  it.each<[string, () => string | Buffer]>([
    ['a Content-Length that is no number', () => head('Content-Length: abc') + body],
    ['a negative Content-Length', () => head('Content-Length: -1') + body],
    ['a Content-Length beyond any number', () => head(`Content-Length: ${'9'.repeat(40)}`) + body],
    ['two Content-Lengths that differ', () => head('Content-Length: 21', 'Content-Length: 22') + body],
    ['Content-Length beside chunks', () => head('Content-Length: 21', 'Transfer-Encoding: chunked') + body],
    ['an unknown Transfer-Encoding', () => head('Transfer-Encoding: gibberish') + body],
    ['a chunk whose size is no number', () => `${head('Transfer-Encoding: chunked')}xyz\r\n${body}`],
    ['a header without a colon', () => head('nonsense')],
    ['a header with a space in its name', () => head('X Y: z')],
    ['a header with NUL', () => head('X-A: a\0b')],
    ['headers of 20 KiB', () => head(`X-A: ${'x'.repeat(20_480)}`)],
    // but for this it would be taken
    ['no Host', () => head('Content-Length: 21', 'Connection: close').replace('Host: assent\r\n', '') + body],
    ['an unknown method', () => 'GIMME /v1/organization HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no version', () => 'GET /v1/organization\r\n\r\n'],
    ['an unknown version', () => 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS handshake', () => Buffer.from('16030100c8010000c40303', 'hex')],
    ['garbage', () => '\u0001\u0002\u0003\r\n\r\n'],
  ])('%s is refused as a problem, and the next request works', async (_, bytes) => {
    expectRefusal(await exchange(stack.api.baseUrl, [bytes()]));
    await expectNextToWork();
  });

  it.each([
    ['two', ['Host: shop']],
    ['the same twice', ['Host: assent']],
    ['a second that is empty', ['Host:']],
    ['a third', ['Host: assent', 'hOST: shop']],
  ])('of several Hosts (%s) none is chosen', async (_, hosts) => {
    const answer = await exchange(stack.api.baseUrl, [
      head(...hosts, 'Content-Length: 21', 'Connection: close') + body,
    ]);
    expectRefusal(answer);
    expect([answer.status, problemIn(answer).code]).toEqual([400, 'invalid_request']);
    await expectNextToWork();
  });

  it('of several Authorizations none is chosen', async () => {
    const authorization = `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
    const read = (...headers: string[]) =>
      exchange(stack.api.baseUrl, [
        ['GET /v1/organization HTTP/1.1', 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n'),
      ]);
    expect((await read(authorization)).status).toBe(200);
    expect((await read(authorization, authorization)).status).toBe(401);
  });

  it('what is refused of a HEAD has no body, since none may follow', async () => {
    const bytes = `HEAD /v1/organization HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(20_480)}\r\n\r\n`;
    const { status, body: text } = await exchange(stack.api.baseUrl, [bytes]);
    expect([status, text]).toEqual([400, '']);
  });

  it('an Expect that nobody can meet is ignored or refused as a problem', async () => {
    const headers = ['Expect: a miracle', 'Content-Length: 21', 'Connection: close'];
    const answer = await exchange(stack.api.baseUrl, [head(...headers) + body]);
    if (answer.status !== 202) expectRefusal(answer);
    expect(answer.headers.get('x-request-id')).toMatch(/./);
  });

  it('a body that breaks off does no harm', async () => {
    const attempt = exchange(stack.api.baseUrl, [head('Content-Length: 100') + body], { patience: 300 });
    await expect(attempt).rejects.toThrow('without an answer');
    await expectNextToWork();
    expect(stack.api.events('bug')).toEqual([]);
  });

  it('a record in small pieces is taken', async () => {
    const pieces = [...`${head('Content-Length: 21', 'Connection: close')}${body}`].join('').match(/.{1,40}/gs) ?? [];
    const answer = await exchange(stack.api.baseUrl, pieces, { pause: 5 });
    expect(answer.status).toBe(202);
  });

  // each takes as long as the service's patience, so all wait at once
  describe.concurrent('that comes too slowly', () => {
    const ofRequest = /^the request did not arrive in time/;
    const ofBody = /^the body did not arrive in time/;

    it.each<[string, () => string[], number, RegExp]>([
      ['nothing at all', () => [], 0, ofRequest],
      ['headers that stop', () => ['POST /v1/consent/x/record HTTP/1.1\r\nHost: a\r\n'], 0, ofRequest],
      ['headers that trickle', () => [...`GET / HTTP/1.1\r\nHost: ${'a'.repeat(200)}`], 100, ofRequest],
      ['a body that stops', () => [head('Content-Length: 21'), '{"dec'], 0, ofBody],
      ['a body that trickles', () => [head('Content-Length: 200'), ...' '.repeat(200)], 100, ofBody],
      ['a body that never starts', () => [head('Content-Length: 21')], 0, ofBody],
      [
        'chunks that never end',
        () => [head('Transfer-Encoding: chunked'), ...Array(200).fill('1\r\n \r\n')],
        100,
        ofBody,
      ],
    ])('%s: answered and ended in time', async (_, chunks, pause, detail) => {
      const answer = await exchange(stack.api.baseUrl, chunks(), { pause });
      const problem = problemIn(answer);
      expect(problem).toMatchObject({ status: 503, code: 'unavailable', detail: expect.stringMatching(detail) });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
      expect(answer.duration).toBeLessThan(inTime);
    });

    it.each([
      ['headers that stop', ['POST /v1/consent/x/record HTTP/1.1\r\nHost: a\r\n']],
      ['headers that trickle', [...`GET / HTTP/1.1\r\nHost: ${'a'.repeat(200)}`]],
    ])('%s, after a request that was answered: answered and ended too', async (_, second) => {
      const first = head('Content-Length: 21') + body;
      const answer = await exchange(stack.api.baseUrl, [first, ...second], { pause: 100 });
      expect(answer.status).toBe(202);
      expect(answer.body).toMatch(/HTTP\/1\.1 503 .*"detail":"the request did not arrive in time/s);
    });

    // the answer comes at once, and must stay the only one
    it('a body that stops, of a request already refused: ended soon after', async () => {
      const answer = await exchange(stack.api.baseUrl, [head('X-Api-Key: x', 'Content-Length: 21'), '{"dec']);
      expectRefusal(answer);
      expect(answer.status).toBe(401);
      expect(answer.duration).toBeLessThan(inTime);
    });
  });

  it('counts as no fault of the service', async () => {
    const metrics = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/method="POST",status="503"\} [1-9]/);
    expect(metrics).toMatch(/^assent_http_faults_total 0$/m);
  });

  it('silent connections keep nobody waiting', async () => {
    const silent = Array.from({ length: 50 }, () =>
      exchange(stack.api.baseUrl, [], { patience: 500 }).catch(() => null),
    );
    await expectNextToWork();
    await Promise.all(silent);
  });
});
