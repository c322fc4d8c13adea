/** Bytes that are no whole request of HTTP, and requests that hide in others. */
import { describe, expect, it } from 'vitest';
import { tokenFor } from '../support/client.ts';
import { recordedIn } from '../support/metrics.ts';
import { exchange, problemIn, type RawAnswer } from '../support/raw-http.ts';
import { useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const body = '{"decision":"custom"}';
const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
const large = `X-A: ${'x'.repeat(20_480)}`;

const stack = await useStackWithApi();

/** The head of a record request, without its length. */
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
const record = (...headers: string[]) => head(`Content-Length: ${body.length}`, ...headers) + body;
const chunked = head('Transfer-Encoding: chunked');
const metrics = async () => (await fetch(`${stack.api.opsUrl}/metrics`)).text();

const expectRefusal = (answer: RawAnswer) => {
  const problem = problemIn(answer);
  expect(problem).toMatchObject({ status: answer.status, code: expect.stringMatching(/./) });
  expect([answer.status >= 400, answer.status < 500]).toEqual([true, true]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  expect(answer.headers.get('x-request-id')).toBe(problem.requestId);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
};

const ofRequest = /^the request did not arrive in time/;
const ofBody = /^the body did not arrive in time/;
const stopped = 'POST /v1/consent/x/record HTTP/1.1\r\nHost: a\r\n';
// from now on the key is known, and none of them waits for Postgres
expect((await exchange(stack.api.baseUrl, [record('Connection: close')])).status).toBe(202);
/** Each takes as long as the service's patience, so all wait beside the other tests. */
const tooSlow = (
  [
    ['headers that stop', [stopped], 0, ofRequest],
    ['headers that trickle', [...`GET / HTTP/1.1\r\nHost: ${'a'.repeat(200)}`], 100, ofRequest],
    ['a body that stops', [head('Content-Length: 21'), '{"dec'], 0, ofBody],
    ['a body that trickles', [head('Content-Length: 200'), ...' '.repeat(200)], 100, ofBody],
    ['chunks that never end', [chunked, ...Array<string>(200).fill('1\r\n \r\n')], 100, ofBody],
  ] as const
).map(([name, chunks, pause, detail]) => ({
  name,
  detail,
  answer: exchange(stack.api.baseUrl, [...chunks], { pause }),
}));
const stopsAfterAnother = exchange(stack.api.baseUrl, ['GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n', stopped], {
  pause: 100,
});
/** Of a connection that browsers and load balancers keep ready, longer than headers may take. */
const keptReady = exchange(stack.api.baseUrl, ['', record('Connection: close')], { pause: 4_500 });
const stopsRefused = exchange(stack.api.baseUrl, [head('X-Api-Key: x', 'Content-Length: 21'), '{"dec']);

describe('what is not a whole HTTP request', () => {
  it.each<[string, string | Buffer]>([
    ['a Content-Length that is no number', head('Content-Length: abc') + body],
    ['a chunk whose size is no number', `${chunked}xyz\r\n${body}`],
    ['a header without a colon', head('nonsense')],
    ['a header with NUL', head('X-A: a\0b')],
    ['headers of 20 KiB', head(large)],
    // but for these it would be taken
    ['no Host', record('Connection: close').replace('Host: assent\r\n', '')],
    ['two Hosts', record('Host: shop', 'Connection: close')],
    ['a second Host that is empty', record('hOST:', 'Connection: close')],
    ['an unknown method', 'GIMME /v1/organization HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100c8010000c40303', 'hex')],
  ])('%s is refused as a problem', async (_, bytes) => {
    expectRefusal(await exchange(stack.api.baseUrl, [bytes]));
  });

  it('of several Authorizations none is chosen', async () => {
    const authorization = `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
    const read = async (...headers: string[]) => {
      const lines = ['GET /v1/organization HTTP/1.1', 'Host: a', 'Connection: close', ...headers, '', ''];
      return (await exchange(stack.api.baseUrl, [lines.join('\r\n')])).status;
    };
    expect([await read(authorization), await read(authorization, authorization)]).toEqual([200, 401]);
  });

  it('what is refused of a HEAD has no body, since none may follow', async () => {
    const bytes = `HEAD /v1/organization HTTP/1.1\r\nHost: a\r\n${large}\r\n\r\n`;
    const { status, body: text } = await exchange(stack.api.baseUrl, [bytes]);
    expect([status, text]).toEqual([400, '']);
  });

  it('an Expect that nobody can meet is ignored or refused as a problem', async () => {
    const answer = await exchange(stack.api.baseUrl, [record('Expect: a miracle', 'Connection: close')]);
    if (answer.status !== 202) expectRefusal(answer);
    expect(answer.headers.get('x-request-id')).toMatch(/./);
  });

  it('a record in small pieces is taken, also beside connections that are silent', async () => {
    for (let count = 0; count < 50; count += 1)
      void exchange(stack.api.baseUrl, [], { patience: 500 }).catch(() => null);
    const pieces = record('Connection: close').match(/.{1,40}/gs) ?? [];
    expect((await exchange(stack.api.baseUrl, pieces, { pause: 5 })).status).toBe(202);
  });
});

/**
 * Two requests look like one to a proxy, or one like two. A request that hides in another's body is
 * never carried out.
 */
describe('a request hidden in another', () => {
  const hidden = record('Connection: close');
  const recorded = async () => recordedIn(await metrics());
  /** How many records `bytes` make, and the statuses of the responses; no response counts, too. */
  const send = async (bytes: string) => {
    const before = await recorded();
    const answer = await exchange(stack.api.baseUrl, [bytes]).catch(() => null);
    const statuses = answer
      ? [answer.status, ...[...answer.body.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))]
      : [];
    return { records: (await recorded()) - before, statuses };
  };

  it('would be noticed: two in plain sight are two', async () => {
    expect(await send(record() + hidden)).toEqual({ records: 2, statuses: [202, 202] });
  });

  it.each<[string, string]>([
    ['Content-Length beside chunks', head('Content-Length: 4', 'Transfer-Encoding: chunked') + chunk],
    ['Content-Length twice', head('Content-Length: 0', `Content-Length: ${body.length}`)],
    ['a list of Content-Lengths', head('Content-Length: 0, 0')],
    ['Content-Length with a sign', head('Content-Length: +0')],
    ['Content-Length over two lines', head('Content-Length: 0\r\n 0')],
    ['a space before the colon', head('Transfer-Encoding : chunked') + chunk],
    ['an encoding that only looks like chunks', head('Transfer-Encoding: xchunked') + chunk],
    ['chunks that are not the last encoding', head('Transfer-Encoding: chunked, identity') + chunk],
    ['a chunk whose size overflows', `${chunked}fffffffffffffffff\r\n`],
    ['a chunk longer than it says', `${chunked}1\r\n${body}\r\n0\r\n\r\n`],
    ['a bare line feed after the chunks', `${chunked}0\n\n`],
    ['a bare carriage return in a header', head('X-A: b\rContent-Length: 0')],
    ['a header that begins with a space', head(' Content-Length: 0')],
    ['a tunnel', 'CONNECT assent:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'what would be another protocol',
      head('Upgrade: h2c', 'Connection: Upgrade, close', `Content-Length: ${hidden.length}`),
    ],
  ])('behind %s is refused with it', async (_, bytes) => {
    const { records, statuses } = await send(bytes + hidden);
    expect([records, statuses.filter((status) => status < 400)]).toEqual([0, []]);
    expect(statuses.length).toBeLessThanOrEqual(1);
  });

  it.each<[string, string]>([
    ['the body of a read', `GET /v1/organization HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n`],
    ['the body of a refused record', head('X-Api-Key: x', `Content-Length: ${hidden.length}`)],
    ['the body of a preflight', head(`Content-Length: ${hidden.length}`).replace('POST', 'OPTIONS')],
  ])('in %s is not carried out, and the one in plain sight after it is', async (_, bytes) => {
    const { records, statuses } = await send(bytes + hidden + record('Connection: close'));
    expect([records, statuses.length, statuses.at(-1)]).toEqual([1, 2, 202]);
  });

  it('behind chunks in HTTP/1.0 is not carried out: the connection ends with the first (RFC 9112, 6.1)', async () => {
    const before = await recorded();
    await send(chunked.replace('HTTP/1.1', 'HTTP/1.0') + chunk + hidden);
    await eventually(async () => expect(await recorded()).toBe(before + 1));
    // and none was recorded late
    expect(await send(hidden)).toEqual({ records: 1, statuses: [202] });
    expect(await recorded()).toBe(before + 2);
  });
});

describe('what comes too slowly', () => {
  it.each(tooSlow)('$name: a response and the end', async ({ answer, detail }) => {
    const found = await answer;
    const expected = { status: 503, code: 'unavailable', detail: expect.stringMatching(detail) };
    expect(problemIn(found)).toMatchObject(expected);
    expect(Number(found.headers.get('retry-after'))).toBeGreaterThan(0);
    expect([found.status, found.headers.get('connection')]).toEqual([503, 'close']);
  });

  it('headers that stop, after a complete request: a response and the end, too', async () => {
    const { status, body } = await stopsAfterAnother;
    expect(status).toBe(404);
    expect(body).toMatch(/HTTP\/1\.1 503 .*"detail":"the request did not arrive in time/s);
  });

  it('a connection that asks for nothing at first is kept ready for its request', async () => {
    expect((await keptReady).status).toBe(202);
  });

  // the response comes at once, and must stay the only one
  it('a body that stops, of a request already refused: ended soon after', async () => {
    const answer = await stopsRefused;
    expectRefusal(answer);
    expect(answer.status).toBe(401);
  });

  it('a body that breaks off is no fault of the service, and the next request works', async () => {
    const attempt = exchange(stack.api.baseUrl, [head('Content-Length: 100') + body], { patience: 300 });
    await expect(attempt).rejects.toThrow('without an answer');
    expect((await exchange(stack.api.baseUrl, [record('Connection: close')])).status).toBe(202);
    expect(stack.api.events('bug')).toEqual([]);
    expect(await metrics()).toMatch(/method="POST",status="503"\} [1-9]/);
    expect(await metrics()).toMatch(/^assent_http_faults_total 0$/m);
  });
});
