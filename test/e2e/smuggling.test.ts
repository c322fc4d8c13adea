import { beforeAll, describe, expect, it } from 'vitest';
import { recordedIn } from '../support/metrics.ts';
import { exchange } from '../support/raw-http.ts';
import { type Stack, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const body = '{"decision":"custom"}';
const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/**
 * Two requests look like one to a proxy, or one like two. Whatever the shape, a request that hides in another's body is
 * never carried out.
 */
describe('a request hidden in another', () => {
  let stack: Stack;
  /** records that were sent openly */
  let inSight = 0;

  beforeAll(async () => {
    stack = await useStackWithApi();
  });

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
  const hidden = () => record('Connection: close');
  const inChunks = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

  const recorded = async () => recordedIn(await (await fetch(`${stack.api.opsUrl}/metrics`)).text());
  /** How many records `bytes` make, and the answers' statuses; no answer is one too. */
  const send = async (bytes: string | Buffer) => {
    const before = await recorded();
    const answer = await exchange(stack.api.baseUrl, [bytes]).catch(() => null);
    const statuses = answer
      ? [answer.status, ...[...answer.body.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))]
      : [];
    return { records: (await recorded()) - before, statuses };
  };

  it('would be noticed: two in plain sight are two', async () => {
    expect(await send(record() + hidden())).toEqual({ records: 2, statuses: [202, 202] });
    inSight += 2;
  });

  it.each<[string, () => string]>([
    ['Content-Length beside chunks', () => head('Content-Length: 4', 'Transfer-Encoding: chunked') + chunk + hidden()],
    ['chunks beside Content-Length', () => head('Transfer-Encoding: chunked', 'Content-Length: 4') + chunk + hidden()],
    ['Content-Length twice', () => head('Content-Length: 0', `Content-Length: ${body.length}`) + hidden()],
    ['the same Content-Length twice', () => head('Content-Length: 0', 'Content-Length: 0') + hidden()],
    ['a list of Content-Lengths', () => head('Content-Length: 0, 0') + hidden()],
    ['Content-Length with a sign', () => head('Content-Length: +0') + hidden()],
    ['Content-Length in hexadecimal', () => head('Content-Length: 0x0') + hidden()],
    ['Content-Length over two lines', () => head('Content-Length: 0\r\n 0') + hidden()],
    ['a space before the colon', () => head('Transfer-Encoding : chunked') + chunk + hidden()],
    ['a tab before the colon', () => head('Content-Length\t: 0') + hidden()],
    ['an encoding that only looks like chunks', () => head('Transfer-Encoding: xchunked') + chunk + hidden()],
    ['chunks that are not the last encoding', () => head('Transfer-Encoding: chunked, identity') + chunk + hidden()],
    ['chunks after a vertical tab', () => head('Transfer-Encoding: \u000bchunked') + chunk + hidden()],
    ['two encodings', () => head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + chunk + hidden()],
    ['a chunk whose size overflows', () => `${head('Transfer-Encoding: chunked')}fffffffffffffffff\r\n${hidden()}`],
    ['a chunk size in disguise', () => `${head('Transfer-Encoding: chunked')}0x0\r\n\r\n${hidden()}`],
    ['a chunk longer than it says', () => `${head('Transfer-Encoding: chunked')}1\r\n${body}\r\n0\r\n\r\n${hidden()}`],
    ['a bare line feed after the chunks', () => `${head('Transfer-Encoding: chunked')}0\n\n${hidden()}`],
    ['a bare carriage return in a header', () => head('X-A: b\rContent-Length: 0') + hidden()],
    ['a line feed in a header', () => head('X-A: b\nContent-Length: 0\n') + hidden()],
    ['NUL in a header', () => head('X-A: b\0', 'Content-Length: 0') + hidden()],
    ['a header that begins with a space', () => head(' Content-Length: 0') + hidden()],
    ['a request line with two targets', () => `POST /v1/consent/x/record /x HTTP/1.1\r\nHost: a\r\n\r\n${hidden()}`],
    ['a tunnel', () => `CONNECT assent:80 HTTP/1.1\r\nHost: a\r\n\r\n${hidden()}`],
    [
      'what would be another protocol',
      () => head('Upgrade: h2c', 'Connection: Upgrade', `Content-Length: ${hidden().length}`) + hidden(),
    ],
  ])('behind %s is refused with it', async (_, bytes) => {
    const { records, statuses } = await send(bytes());
    expect([records, statuses.filter((status) => status < 400)]).toEqual([0, []]);
    expect(statuses.length).toBeLessThanOrEqual(1);
  });

  it.each<[string, () => string]>([
    [
      'the body of a read',
      () => `GET /v1/organization HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden().length}\r\n\r\n${hidden()}`,
    ],
    [
      'the chunks of a read',
      () => `GET /v1/organization HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${inChunks(hidden())}`,
    ],
    ['the body of a refused record', () => head('X-Api-Key: x', `Content-Length: ${hidden().length}`) + hidden()],
    ['the body of a preflight', () => head(`Content-Length: ${hidden().length}`).replace('POST', 'OPTIONS') + hidden()],
  ])('in %s is not carried out, and the one in plain sight after it is', async (_, bytes) => {
    const { records, statuses } = await send(bytes() + record('Connection: close'));
    expect(records).toBe(1);
    inSight += 1;
    expect(statuses).toHaveLength(2);
    expect(statuses.at(-1)).toBe(202);
  });

  it('behind chunks in HTTP/1.0 is not carried out: the connection ends with the first (RFC 9112, 6.1)', async () => {
    const before = await recorded();
    const first = head('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + chunk;
    await send(first + hidden());
    await eventually(async () => expect(await recorded()).toBe(before + 1));
    inSight += 1;
  });

  it('did no harm: the next one is recorded, and none was recorded late', async () => {
    expect(await send(hidden())).toEqual({ records: 1, statuses: [202] });
    expect(await recorded()).toBe(inSight + 1);
  });
});
