import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { tokenFor } from '../support/client.ts';
import { makeId } from '../support/ids.ts';
import { exchange, problemIn, type RawAnswer } from '../support/raw-http.ts';
import { at, type StackWithApi, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** The bytes as they go over the wire: what a client's own encoder would mend is not mended here. */
describe('hostile bytes', () => {
  let stack: StackWithApi;

  beforeAll(async () => {
    stack = await useStackWithApi();
  });

  const post = (body: string | Buffer, ...headers: string[]): Promise<RawAnswer> => {
    const bytes = Buffer.from(body);
    const head = [
      `POST /v1/consent/${stack.domainId}/record HTTP/1.1`,
      'Host: assent',
      'Content-Type: application/json',
      `X-Api-Key: ${stack.apiKey}`,
      ...(headers.some((header) => /^(content-length|transfer-encoding):/i.test(header))
        ? []
        : [`Content-Length: ${bytes.length}`]),
      'Connection: close',
      ...headers,
    ];
    return exchange(stack.api.baseUrl, [Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])]);
  };
  const get = (target: string, ...headers: string[]): Promise<RawAnswer> => {
    const authorization = `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
    const head = [`GET ${target} HTTP/1.1`, 'Host: assent', authorization, 'Connection: close', ...headers];
    return exchange(stack.api.baseUrl, [Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1')]);
  };
  const expectRefusal = (answer: RawAnswer, ...expected: [number, string][]) => {
    expect(expected).toContainEqual([answer.status, problemIn(answer).code]);
    expect(answer.duration).toBeLessThan(9_000);
  };
  const fields = (text: string) => `{"decision":"custom",${text}}`;

  describe('in ids', () => {
    const ids: [string, string][] = [
      ['NUL', '%00'],
      ['a line break', 'dom_x%0d%0aX-Injected:%20yes'],
      ['a control character', 'dom_x%1b%5b31m'],
      ['a bidi control', 'dom_%e2%80%aex'],
      ['a letter of another script that looks the same', 'd%d0%bem_x'],
      ['half a surrogate pair', '%ed%a0%80'],
      ['bytes that are not UTF-8', '%ff%fe'],
      ['a broken escape', '%zz'],
      ['an escaped slash', '..%2f..%2fetc'],
      ['a name from the prototype', '__proto__'],
      ['65 characters', 'x'.repeat(65)],
    ];

    it.each(ids)('of a domain, %s is refused in a read', async (_, id) => {
      for (const rest of ['records', 'stats?from=2026-01-01&to=2026-01-02']) {
        const answer = await get(`/v1/consent/${id}/${rest}`);
        expectRefusal(answer, [400, 'invalid_request'], [404, 'domain_not_found'], [404, 'not_found']);
        expect(answer.headers.get('x-injected')).toBeNull();
      }
    });

    it.each(ids)('of a domain, %s is refused in a record', async (_, id) => {
      const head = `POST /v1/consent/${id}/record HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${stack.apiKey}\r\nConnection: close`;
      const answer = await exchange(stack.api.baseUrl, [`${head}\r\nContent-Length: 0\r\n\r\n`]);
      expectRefusal(answer, [401, 'invalid_api_key'], [404, 'not_found']);
    });

    it.each<[string, string]>([
      ['NUL', '\\u0000'],
      ['a bidi control', '\u202e'],
      ['a control character', '\\u001b'],
      ['half a surrogate pair', '\\ud800'],
      ['a line break', '\\n'],
    ])('of a record, %s is refused', async (_, text) => {
      const id = makeId();
      for (const hostile of [`${id}${text}`, `${text}${id}`, `${id.slice(0, -1)}${text}`])
        expectRefusal(await post(fields(`"id":"${hostile}"`)), [400, 'invalid_request']);
    });

    it('of a visitor, what Postgres cannot hold is refused', async () => {
      for (const hostile of ['\\u0000', '\\ud800', '\\udc00\\ud800', 'a\\u0000b'])
        expectRefusal(await post(fields(`"visitorId":"${hostile}"`)), [400, 'invalid_request']);
      expectRefusal(await get('/v1/consent/x/records?visitorId=%00'), [400, 'invalid_request']);
      expectRefusal(await get('/v1/consent/x/records?visitorId=%ed%a0%80'), [400, 'invalid_request']);
    });

    it('of a visitor, everything else comes back as it was and does nothing on its way', async () => {
      const visitorId = '\u202e\u001b[31m\r\nX-Injected: yes"}\n{"level":"info"}\u2028\u0007<script>';
      const answer = await post(fields(`"visitorId":${JSON.stringify(visitorId)}`));
      expect([answer.status, answer.headers.get('x-injected')]).toEqual([202, null]);
      const { id } = JSON.parse(answer.body) as { id: string };
      await eventually(async () => {
        const { body } = await stack.client.records(stack.domainId, new URLSearchParams({ visitorId }).toString());
        expect(at(body.records, 0)).toMatchObject({ id, visitorId });
      });
      for (const line of stack.api.lines) expect(() => JSON.parse(line)).not.toThrow();
    });
  });

  describe('in a target', () => {
    it.each([
      'http://[::bad/v1/organization',
      'http://a%00b:x/v1/organization#//[',
      'http://a:99999999/v1/organization',
      'http://',
      'http:///',
      'ftp://assent/v1/organization',
      'v1/organization',
      '*',
    ])('%s is no failure of ours', async (target) => {
      const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${stack.apiKey}\r\nConnection: close`;
      const answers = [await get(target), await exchange(stack.api.baseUrl, [`${head}\r\nContent-Length: 0\r\n\r\n`])];
      for (const { status } of answers) expect({ target, failed: status >= 500 }).toEqual({ target, failed: false });
    });

    it('the absolute form is the same request (RFC 9112, 3.2.2)', async () => {
      for (const origin of ['http://assent', 'HTTP://evil.example:80', 'https://user@[::1]:3000'])
        expect((await get(`${origin}/v1/organization`)).status).toBe(200);
      expect((await get('http://assent?x=1')).status).toBe(200);
      const target = `http://assent/v1/consent/${stack.domainId}/record`;
      const head = ['Host: a', `X-Api-Key: ${stack.apiKey}`, 'Content-Type: application/json', 'Connection: close'];
      const bytes = `POST ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: 21\r\n\r\n{"decision":"custom"}`;
      expect((await exchange(stack.api.baseUrl, [bytes])).status).toBe(202);
    });
  });

  describe('in a body', () => {
    it.each<[string, string | Buffer]>([
      ['half a surrogate pair as bytes', Buffer.concat([Buffer.from('{"x":"'), Buffer.from('eda080227d', 'hex')])],
      ['NUL between the tokens', '{"decision":\0"custom"}'],
      ['a raw line break in a string', '{"decision":"cus\ntom"}'],
      ['a byte order mark of UTF-16', Buffer.from('fffe7b007d00', 'hex')],
      ['brackets that never end', '{"a":'.repeat(3_000)],
      ['a number that never ends', `{"gpc":${'1'.repeat(15_000)}`],
      ['what is after the object', '{"decision":"custom"}{"decision":"custom"}'],
    ])('%s is invalid_json', async (_, body) => {
      expectRefusal(await post(body), [400, 'invalid_json']);
    });

    it('__proto__ and its kin change nothing but themselves', async () => {
      const body = fields(
        '"__proto__":{"source":"api","bot":true},"constructor":{"prototype":{"gpc":true}},"visitorId":"proto"',
      );
      const answer = await post(body);
      expect(answer.status).toBe(202);
      const { id, ignored } = JSON.parse(answer.body) as { id: string; ignored: string[] };
      expect(ignored.sort()).toEqual(['__proto__', 'constructor']);
      await eventually(async () => {
        const { body: page } = await stack.client.records(stack.domainId, 'visitorId=proto');
        expect(at(page.records, 0)).toMatchObject({ id, source: 'banner', gpc: null });
      });
      for (const field of ['preferences', 'metadata'])
        expectRefusal(await post(fields(`"${field}":{"__proto__":true}`)), [400, 'invalid_request']);
      expect(JSON.parse((await post(fields('"source":"banner"'))).body)).not.toHaveProperty('source');
    });

    it('what the server sets itself cannot be sent', async () => {
      const forged = { ip: '6.6.6.6', bot: false, country: 'XX', receivedAt: '2000-01-01', organizationId: 'org_x' };
      const own = { domainId: 'dom_x', userAgent: 'forged', requestId: 'forged', visitorId: 'assigned' };
      const answer = await post(JSON.stringify({ decision: 'custom', ...forged, ...own }));
      const { ignored } = JSON.parse(answer.body) as { ignored: string[] };
      const { visitorId: _, ...rest } = own;
      expect(ignored.sort()).toEqual([...Object.keys(forged), ...Object.keys(rest)].sort());
      await eventually(async () => {
        const { body: page } = await stack.client.records(stack.domainId, 'visitorId=assigned');
        const stored = at(page.records, 0);
        // without a user agent it is no browser, whatever it says
        const set = { domainId: stack.domainId, ip: '127.0.0.0', country: null, userAgent: null, bot: true };
        expect(stored).toMatchObject(set);
        expect(stored.receivedAt).not.toContain('2000');
      });
    });
  });

  describe('in size', () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024, ' '));
    const chunked = (text: string | Buffer) =>
      Buffer.concat([Buffer.from(`${text.length.toString(16)}\r\n`), Buffer.from(text), Buffer.from('\r\n0\r\n\r\n')]);

    it('10 MiB in 10 KiB of gzip are not unpacked, with a length or in chunks', async () => {
      expect(bomb.length).toBeLessThan(16 * 1024);
      const encoded = 'Content-Encoding: gzip';
      expectRefusal(await post(bomb, encoded), [415, 'unsupported_media_type']);
      expectRefusal(await post(chunked(bomb), encoded, 'Transfer-Encoding: chunked'), [415, 'unsupported_media_type']);
      expectRefusal(
        await post(bomb, 'Transfer-Encoding: gzip, chunked'),
        [400, 'invalid_request'],
        [400, 'invalid_json'],
      );
    });

    it('one chunk, many chunks and endless extensions of chunks are limited alike', async () => {
      const inChunks = 'Transfer-Encoding: chunked';
      const tooLarge: [number, string] = [413, 'payload_too_large'];
      expectRefusal(await post(chunked(' '.repeat(16 * 1024 + 1)), inChunks), tooLarge);
      expectRefusal(await post(`${'1\r\n \r\n'.repeat(17_000)}0\r\n\r\n`, inChunks), tooLarge);
      const extended = await post(`1;${'x'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`, inChunks);
      expectRefusal(extended, [400, 'invalid_request'], tooLarge);
    });

    it('16 KiB of headers or of address are refused; less is read, in however many headers', async () => {
      const tooMuch: [number, string] = [400, 'invalid_request'];
      expectRefusal(await get('/v1/organization', `X-A: ${'x'.repeat(16_384)}`), tooMuch);
      expectRefusal(await get(`/v1/organization?x=${'x'.repeat(16_384)}`), tooMuch);
      expect((await get('/v1/organization', `X-A: ${'x'.repeat(12_000)}`)).status).toBe(200);
      expect((await get('/v1/organization', ...Array<string>(4_000).fill('a:b'))).status).toBe(200);
    });

    it('the header after thousands of others is read as every other', async () => {
      const others = Array<string>(2_500).fill('a:b');
      const authorization = `Authorization: Bearer ${tokenFor(stack.tenant.organizationId)}`;
      const head = ['GET /v1/organization HTTP/1.1', 'Host: assent', ...others, authorization, 'Connection: close'];
      expect((await exchange(stack.api.baseUrl, [`${head.join('\r\n')}\r\n\r\n`])).status).toBe(200);
    });

    it('thousands of entries are refused in one word, not one by one', async () => {
      const many = (value: string) => Array.from({ length: 1_200 }, (_, index) => `" ${index}":${value}`).join();
      for (const [field, limit] of [
        ['preferences', 64],
        ['metadata', 16],
      ]) {
        const answer = await post(fields(`"${field}":{${many('{}')}}`));
        expectRefusal(answer, [400, 'invalid_request']);
        expect(problemIn(answer).errors).toEqual([
          { path: `/${field}`, message: `must have at most ${limit} entries` },
        ]);
      }
    });

    it('thousands of parameters are refused, and the first wrong ones are named', async () => {
      const many = Array.from({ length: 2_000 }, (_, index) => `p${index}`).join('&');
      expectRefusal(await get(`/v1/organization?${many}`), [400, 'invalid_request']);
      expectRefusal(await get(`/v1/consent/x/records?${'limit=1&'.repeat(1_500)}`), [400, 'invalid_request']);
    });
  });

  it('did no harm: nothing failed, and the next record is taken', async () => {
    expect((await post('{"decision":"custom"}')).status).toBe(202);
    expect(stack.api.events('bug')).toEqual([]);
  });
});
