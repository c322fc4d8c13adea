import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askForToken } from '#libs/proof/timestamps/authority';
import { type Answer, hasOpenssl, startTimeAuthority, type TimeAuthority } from '../support/time-authority.ts';

let imprint: Buffer;
let authority: TimeAuthority;

setFlagsFromString('--expose-gc');
const collectGarbage = () => void runInNewContext('gc()');

const never = new AbortController().signal;
const ask = (timeout = 60_000) => askForToken({ url: authority.url, timeout }, imprint, never);

/** The query with one byte changed; openssl answers that one instead. */
const answerAnother =
  (change: (query: Buffer) => void): Answer =>
  async (query, response) => {
    const changed = Buffer.from(query);
    change(changed);
    expect(changed).not.toEqual(query);
    response.end(await authority.reply(changed));
  };
const increment = (bytes: Buffer, at: number) => bytes.writeUInt8((bytes.readUInt8(at) + 1) & 0xff, at);

describe.skipIf(!hasOpenssl)('the token of a time-stamping authority', () => {
  beforeAll(async () => {
    authority = await startTimeAuthority();
  });
  beforeEach(() => {
    imprint = randomBytes(32);
    authority.answerWith();
  });

  it('is one that openssl verifies for this hash, and for no other', async () => {
    const token = await ask();
    expect(await authority.verify(token, imprint.toString('hex'))).toBe('Verification: OK');
    await expect(authority.verify(token, randomBytes(32).toString('hex'))).rejects.toThrow('message imprint mismatch');
  });

  it('is asked for as RFC 3161 wants, with the certificate and a nonce that is never the same', async () => {
    const before = authority.requests.length;
    for (let count = 0; count < 20; count += 1) {
      authority.answerWith((_, response) => void response.writeHead(500).end());
      await expect(ask()).rejects.toThrow();
    }
    const made = authority.requests.slice(before);
    expect(new Set(made.map(({ type }) => type))).toEqual(new Set(['application/timestamp-query']));
    expect(new Set(made.map(({ query }) => query.subarray(-11).toString('hex'))).size).toBe(20);
    // but for the nonce, the same bytes as openssl's own
    const own = await authority.query('-digest', imprint.toString('hex'), '-sha256', '-cert');
    const [{ query } = { query: Buffer.alloc(0) }] = made;
    const withoutNonce = (bytes: Buffer) => bytes.subarray(2, bytes.indexOf(imprint) + 32);
    expect(withoutNonce(query)).toEqual(withoutNonce(own));
    expect(query.subarray(-3).toString('hex')).toBe('0101ff');
    expect(query.subarray(-13, -11).toString('hex')).toBe('0208');
  });

  const notAToken = 'the time-stamping authority answered with something else than a time-stamp';
  const refused: [string, Answer, string][] = [
    [
      'says that it refuses, with its reason',
      async (_, response) => {
        const query = await authority.query('-digest', randomBytes(64).toString('hex'), '-sha512');
        response.end(await authority.reply(query));
      },
      'the time-stamping authority refused: rejection (Message digest algorithm is not supported., badAlg)',
    ],
    [
      'stamps another hash',
      answerAnother((query) => increment(query, query.indexOf(imprint))),
      'the time-stamp is one of another hash',
    ],
    [
      'answers another request',
      answerAnother((query) => increment(query, query.length - 4)),
      'the time-stamp answers another request',
    ],
    [
      'answers a request without a nonce',
      async (_, response) => {
        const query = await authority.query('-digest', imprint.toString('hex'), '-sha256', '-cert', '-no_nonce');
        response.end(await authority.reply(query));
      },
      'the time-stamp answers another request',
    ],
    [
      'leaves its certificate out',
      answerAnother((query) => query.writeUInt8(0, query.length - 1)),
      'the time-stamp lacks the certificate that was asked for',
    ],
    ['answers with a page', (_, response) => void response.end('<!doctype html><title>Log in</title>'), notAToken],
    ['answers with nothing', (_, response) => void response.end(), notAToken],
    [
      'is cut off in its answer',
      async (query, response) => void response.end((await authority.reply(query)).subarray(0, -40)),
      notAToken,
    ],
    [
      'never stops answering',
      (_, response) => {
        const more = () => {
          while (response.write(Buffer.alloc(16 * 1024)));
        };
        response.on('drain', more);
        more();
      },
      'the time-stamping authority answered with more than 65536 bytes',
    ],
    [
      'fails',
      (_, response) => void response.writeHead(500).end('sorry'),
      'the time-stamping authority answered with 500',
    ],
    ['sends us elsewhere', (_, response) => void response.writeHead(302, { location: '/' }).end(), 'fetch failed'],
  ];
  it.each(refused)('is refused where the authority %s', async (_, answer, message) => {
    authority.answerWith(answer);
    await expect(ask()).rejects.toThrow(message);
  });

  it.each<[string, Answer]>([
    ['does not answer', () => {}],
    ['answers with headers alone', (_, response) => response.flushHeaders()],
    ['goes silent in the middle', (_, response) => void response.write(Buffer.alloc(10))],
  ])('is given up in time where the authority %s', async (_, answer) => {
    authority.answerWith(answer);
    // the garbage collector must not take the timeout
    const collecting = setInterval(collectGarbage, 20);
    await expect(ask(300).finally(() => clearInterval(collecting))).rejects.toThrow('no answer within 300 ms');
  });

  it('is given up at once when the worker stops', async () => {
    const stopping = new AbortController();
    authority.answerWith(() => stopping.abort(new Error('stopping')));
    const asking = askForToken({ url: authority.url, timeout: 60_000 }, imprint, stopping.signal);
    await expect(asking).rejects.toThrow('stopping');
  });
});
