import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Receipt } from '#libs/contract/responses';
import { type Answer, type ProblemAnswer, request } from '../support/client.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { exchange, problemIn } from '../support/raw-http.ts';
import { type Stack, useStack } from '../support/stack.ts';

const limit = 16 * 1024;
const decided = '{"decision":"accept_all"}';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** A valid body of exactly that many bytes. */
const bodyOf = (bytes: number) => decided + ' '.repeat(bytes - decided.length);

describe('the body of a record', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  const post = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
    request<Receipt & ProblemAnswer>(stack.api.baseUrl, `/v1/consent/${stack.domainId}/record`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.apiKey, ...headers },
      body: body ?? null,
      duplex: 'half',
    });

  const expectNextToWork = async () => expect((await post(decided)).status).toBe(202);

  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['nothing', ''],
    ['white space', ' \n'],
    ['an array', `[${decided}]`],
    ['null', 'null'],
    ['a string', '"accept_all"'],
    ['a number', '17'],
    ['a body that breaks off', '{"decision":"accept_all"'],
    ['two objects', decided + decided],
    ['names without quotes', '{decision:"accept_all"}'],
    ['10,000 brackets that are never closed', '['.repeat(10_000)],
    [
      'a byte that is not UTF-8',
      Buffer.concat([Buffer.from('{"decision":"accept_all","x":"'), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
    ['an overlong UTF-8 sequence', Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc0, 0xaf, 0x22, 0x7d])])],
    ['UTF-16', Buffer.from(decided, 'utf16le')],
  ])('%s is invalid_json', async (_, body) => {
    expectProblem(await post(body), 400, 'invalid_json');
    await expectNextToWork();
  });

  it('a value 8,000 deep in an unknown field is left out and the decision is kept', async () => {
    const { status, body } = await post(`{"decision":"accept_all","deep":${deep(8_000)}}`);
    expect(status).toBe(202);
    expect(body.ignored).toEqual(['deep']);
  });

  it.each([
    ['decision', '/decision'],
    ['id', '/id'],
    ['preferences', '/preferences'],
    ['metadata', '/metadata'],
    ['gpc', '/gpc'],
  ])('a value 8,000 deep as %s is refused by name', async (field, path) => {
    expectBlame(
      await post(
        `{"decision":"accept_all","${field}":${deep(8_000)}}`.replace(/^(.*"decision":)"accept_all","decision":/, '$1'),
      ),
      path,
    );
  });

  it.each(['preferences', 'metadata'])('a value 8,000 deep inside %s is refused', async (field) => {
    expectBlame(await post(`{"decision":"accept_all","${field}":{"deep":${deep(7_900)}}}`), `/${field}/deep`);
    await expectNextToWork();
  });

  describe('of at most 16 KiB', () => {
    const chunked = (text: string) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          const bytes = Buffer.from(text);
          for (let from = 0; from < bytes.length; from += 4_000) controller.enqueue(bytes.subarray(from, from + 4_000));
          controller.close();
        },
      });

    it('is taken up to the last byte, with Content-Length and chunked', async () => {
      expect((await post(bodyOf(limit))).status).toBe(202);
      expect((await post(chunked(bodyOf(limit)))).status).toBe(202);
    });

    it.each<[string, () => RequestInit['body']]>([
      ['one byte more, with Content-Length', () => bodyOf(limit + 1)],
      ['one byte more, chunked', () => chunked(bodyOf(limit + 1))],
      ['20,000 bytes of nested arrays', () => `{"decision":"accept_all","deep":${deep(10_000)}}`],
      ['1 MiB, with Content-Length', () => bodyOf(64 * limit)],
    ])('%s is payload_too_large', async (_, body) => {
      expectProblem(await post(body()), 413, 'payload_too_large');
      await expectNextToWork();
    });

    it('a client that is still sending gets that answer too', async () => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        expectProblem(await post(chunked(bodyOf(4 * limit))), 413, 'payload_too_large');
      }
    });

    it('what announces a gigabyte is refused without waiting for it', async () => {
      const answer = await exchange(stack.api.baseUrl, [
        [
          `POST /v1/consent/${stack.domainId}/record HTTP/1.1`,
          'Host: assent',
          'Content-Type: application/json',
          `X-Api-Key: ${stack.apiKey}`,
          'Content-Length: 1073741824',
          '',
          '{"decision":',
        ].join('\r\n'),
      ]);
      expect(answer.status).toBe(413);
      expect(problemIn(answer).code).toBe('payload_too_large');
      expect(answer.duration).toBeLessThan(9_000);
    });
  });

  describe('is JSON by its Content-Type', () => {
    it.each([
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'APPLICATION/JSON',
    ])('%s is taken', async (type) => {
      expect((await post(decided, { 'content-type': type })).status).toBe(202);
    });

    it.each([
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=utf-16',
      'application/jsonp',
      'json',
    ])('%s is unsupported_media_type', async (type) => {
      expectProblem(await post(decided, { 'content-type': type }), 415, 'unsupported_media_type');
    });

    it('no type at all is unsupported_media_type', async () => {
      const answer: Answer<ProblemAnswer> = await request(stack.api.baseUrl, `/v1/consent/${stack.domainId}/record`, {
        method: 'POST',
        headers: { 'x-api-key': stack.apiKey },
        body: Buffer.from(decided),
      });
      expectProblem(answer, 415, 'unsupported_media_type');
    });

    it.each([
      ['gzip', gzipSync(decided)],
      ['deflate, br', Buffer.from(decided)],
    ] as const)('a body in %s is unsupported_media_type', async (encoding, body) => {
      expectProblem(await post(body, { 'content-encoding': encoding }), 415, 'unsupported_media_type');
      await expectNextToWork();
    });
  });
});
