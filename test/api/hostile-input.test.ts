/** Bytes as they go over the wire: what a client's own encoder would mend is not mended here. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { exchange, problemIn, type RawAnswer } from '../support/raw-http.ts';
import { at, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const limit = 16 * 1024;
const decided = '{"decision":"custom"}';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** A valid body of exactly that many bytes. */
const bodyOf = (bytes: number) => decided + ' '.repeat(bytes - decided.length);
const fields = (text: string) => `{"decision":"custom",${text}}`;
const chunked = 'Transfer-Encoding: chunked';
const inOneChunk = (text: string | Buffer) =>
  Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), Buffer.from(text), Buffer.from('\r\n0\r\n\r\n')]);
const json = 'Content-Type: application/json';
const hex = (text: string, bytes: string) => Buffer.concat([Buffer.from(text), Buffer.from(bytes, 'hex')]);

const stack = await useStackWithApi();

describe('a hostile request', () => {
  const send = (line: string, headers: string[], body: string | Buffer = '') => {
    const head = [`${line} HTTP/1.1`, 'Host: assent', 'Connection: close', ...headers, '', ''].join('\r\n');
    return exchange(stack.api.baseUrl, [Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])]);
  };
  const post = (body: string | Buffer, headers: string[] = [json]) => {
    const isSized = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
    const length = isSized ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    const all = [`X-Api-Key: ${stack.apiKey}`, ...length, ...headers];
    return send(`POST /v1/consent/${stack.domainId}/record`, all, body);
  };
  const authorization = () => `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
  const get = (target: string, ...headers: string[]) => send(`GET ${target}`, [...headers, authorization()]);
  const expectRefusal = (response: RawAnswer, ...expected: [number, string][]) =>
    expect(expected).toContainEqual([response.status, problemIn(response).code]);

  it.each([
    ['a line break', 'dom_x%0d%0aX-Injected:%20yes'],
    ['bytes that are not UTF-8', '%ff%fe'],
    ['a broken escape', '%zz'],
    ['an escaped slash', '..%2f..%2fetc'],
    ['a name from the prototype', '__proto__'],
  ])('with %s in the id of a domain is refused, reading and recording', async (_, id) => {
    const response = await get(`/v1/consent/${id}/records`);
    expectRefusal(response, [400, 'invalid_request'], [404, 'domain_not_found'], [404, 'not_found']);
    expect(response.headers.get('x-injected')).toBeNull();
    const recorded = await send(`POST /v1/consent/${id}/record`, [`X-Api-Key: ${stack.apiKey}`, 'Content-Length: 0']);
    expectRefusal(recorded, [401, 'invalid_api_key'], [404, 'not_found']);
  });

  it('stores a visitor’s id as it was, and it does nothing on its way', async () => {
    expectRefusal(await get('/v1/consent/x/records?visitorId=%ed%a0%80'), [400, 'invalid_request']);
    const visitorId = '\u202e\u001b[31m\r\nX-Injected: yes"}\n{"level":"info"}\u2028\u0007<script>';
    const response = await post(fields(`"visitorId":${JSON.stringify(visitorId)}`));
    expect([response.status, response.headers.get('x-injected')]).toEqual([202, null]);
    await eventually(async () => {
      const { body } = await stack.client.records(stack.domainId, new URLSearchParams({ visitorId }).toString());
      expect(at(body.records, 0)).toMatchObject({ id: JSON.parse(response.body).id, visitorId });
    });
    for (const line of stack.api.lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  it.each([
    ...['http://[::bad/v1/organization', 'http://a%00b:x/v1/organization#//[', 'http://a:99999999/v1/organization'],
    ...['http://', 'ftp://assent/v1/organization', 'v1/organization', '*'],
  ])('for the target %s is no failure of ours', async (target) => {
    const responses = [await get(target), await send(`POST ${target}`, ['Content-Length: 0'])];
    for (const { status } of responses) expect(status).toBeLessThan(500);
  });

  it('for an absolute target is the same request (RFC 9112, 3.2.2)', async () => {
    for (const origin of ['http://assent', 'HTTP://evil.example:80', 'https://user@[::1]:3000'])
      expect((await get(`${origin}/v1/organization`)).status).toBe(200);
    expect((await get('http://assent?x=1')).status).toBe(200);
    const line = `POST http://assent/v1/consent/${stack.domainId}/record`;
    const headers = [`X-Api-Key: ${stack.apiKey}`, json, `Content-Length: ${decided.length}`];
    expect((await send(line, headers, decided)).status).toBe(202);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['a list', `[${decided}]`],
    ['null', 'null'],
    ['a body that breaks off', '{"decision":"custom"'],
    ['10,000 brackets that are never closed', '['.repeat(10_000)],
    ['a byte that is not UTF-8', hex('{"decision":"custom","x":"', 'ff227d')],
    ['UTF-16', Buffer.from(`\ufeff${decided}`, 'utf16le')],
  ])('with %s as its body is invalid_json', async (_, body) => {
    expectRefusal(await post(body), [400, 'invalid_json']);
  });

  it.each<[string, string, string]>([
    ['a value 8,000 deep in an unknown field', `"deep":${deep(8_000)}`, '/deep'],
    ['a value 7,900 deep in a map', `"metadata":{"deep":${deep(7_900)}}`, '/metadata/deep'],
    // in one word, not one by one
    ['1,200 entries', `"metadata":{${Array.from({ length: 1_200 }, (_, n) => `"${n}":{}`).join()}}`, '/metadata'],
  ])('with %s in a field is taken without it, and strictly refused by name', async (_, text, path) => {
    const { status, body } = await post(fields(text));
    expect([status, JSON.parse(body).ignored]).toEqual([202, [path.slice(1).replace('/', '.')]]);
    const response = await post(fields(text), [json, 'Prefer: handling=strict']);
    expectRefusal(response, [400, 'invalid_request']);
    expect(problemIn(response).errors?.map((error) => error.path)).toEqual([path]);
  });

  it('has at most 16 KiB of body, by its length, in a chunk or in many, and none of it packed', async () => {
    expect((await post(bodyOf(limit))).status).toBe(202);
    expect((await post(inOneChunk(bodyOf(limit)), [json, chunked])).status).toBe(202);
    const tooLarge: [number, string] = [413, 'payload_too_large'];
    expectRefusal(await post(bodyOf(limit + 1)), tooLarge);
    expectRefusal(await post(inOneChunk(bodyOf(limit + 1)), [json, chunked]), tooLarge);
    expectRefusal(await post(`${'1\r\n \r\n'.repeat(17_000)}0\r\n\r\n`, [json, chunked]), tooLarge);
    const extended = await post(`1;${'x'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`, [json, chunked]);
    expectRefusal(extended, [400, 'invalid_request'], tooLarge);
    // refused without waiting for it
    expectRefusal(await post('{"decision":', [json, 'Content-Length: 1073741824']), tooLarge);
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024, ' '));
    const packed: [number, string] = [415, 'unsupported_media_type'];
    expectRefusal(await post(bomb, [json, 'Content-Encoding: gzip']), packed);
    expectRefusal(await post(inOneChunk(bomb), [json, 'Content-Encoding: gzip', chunked]), packed);
    const wrong = await post(bomb, [json, 'Transfer-Encoding: gzip, chunked']);
    expectRefusal(wrong, [400, 'invalid_request'], [400, 'invalid_json']);
    // where nothing is packed, as some clients say it
    expect((await post(decided, [json, 'Content-Encoding: UTF-8'])).status).toBe(202);
  });

  it('whose client is still sending can read that it sends too much', async () => {
    const pieces = Array.from({ length: 16 }, () => Buffer.alloc(4_000, ' '));
    const response = await request<ProblemAnswer>(stack.api.baseUrl, `/v1/consent/${stack.domainId}/record`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.apiKey },
      body: ReadableStream.from(pieces) as ReadableStream<Uint8Array>,
      duplex: 'half',
    });
    expectProblem(response, 413, 'payload_too_large');
  });

  it('has at most 16 KiB of headers and address, in however many headers, each of which is read', async () => {
    const tooMuch: [number, string] = [400, 'invalid_request'];
    expectRefusal(await get('/v1/organization', `X-A: ${'x'.repeat(16_384)}`), tooMuch);
    expectRefusal(await get(`/v1/organization?x=${'x'.repeat(16_384)}`), tooMuch);
    expect((await get('/v1/organization', `X-A: ${'x'.repeat(12_000)}`)).status).toBe(200);
    expect((await get('/v1/organization', ...Array<string>(2_500).fill('a:b'))).status).toBe(200);
  });

  it('prefers nothing where its preferences are too many to compare', async () => {
    const page = 'Accept: text/html';
    expect((await get('/nowhere', page)).body).toContain('<!doctype html>');
    expect(problemIn(await get('/nowhere', `${page}${',a/b'.repeat(400)}`)).code).toBe('not_found');
  });

  it('did no harm: nothing failed, and the next record is taken', async () => {
    expect((await post(decided)).status).toBe(202);
    expect(stack.api.events('bug')).toEqual([]);
  });
});
