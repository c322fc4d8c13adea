import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NoticePut, NoticesPage } from '#libs/notices/contract';
import type { Receipt } from '#libs/record/contract';
import { type Answer, createClient, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { expectProblem } from '../support/problems.ts';
import { at, type StackWithApi, useStackWithApi } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const hashOf = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const documentOf = (title: string, fields: object = {}) =>
  JSON.stringify({ language: 'de-AT', version: '2026-11', title, ...fields });
/** `{"a":{"a":…}}`, that many levels deep */
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
const ofBytes = (bytes: number) => JSON.stringify({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

type Put = Answer<NoticePut & ProblemAnswer>;
/** A domain of an organization of its own, and the address from which its notices come. */
interface Site extends StackWithApi {
  ip: string;
}

let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `198.51.${Math.floor(addresses / 250)}.${(addresses % 250) + 1}`;
};
async function newSite(options: Parameters<typeof makeTenant>[1] = {}): Promise<Site> {
  const tenant = await makeTenant(stack.db, options);
  const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
  return { ...stack, tenant, client: createClient(stack.api.baseUrl, tenant), domainId, apiKey, ip: newAddress() };
}

function put(site: Site, document: string | Uint8Array, options: { hash?: string; headers?: object } = {}) {
  const { hash = hashOf(document), headers = {} } = options;
  return request<NoticePut & ProblemAnswer>(site.api.baseUrl, `/v1/consent/${site.domainId}/notices/${hash}`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      'x-api-key': site.apiKey,
      'x-forwarded-for': site.ip,
      ...headers,
    },
    body: document as string,
  });
}

const record = (site: Site, notice: string): Promise<Answer<Receipt>> =>
  site.client.record(site.domainId, site.apiKey, { decision: 'accept_all', notice });
const list = (site: Site, query = '') =>
  site.client.get<NoticesPage & ProblemAnswer>(`/v1/consent/${site.domainId}/notices?${query}`);

const stack = await useStackWithApi({ env: { TRUSTED_PROXY_HOPS: '1' } });

describe('a notice', () => {
  it('is wanted by the receipts of records that name it until it is put; then it is there, byte for byte', async () => {
    const site = await newSite({ consentLog: false, monthlyRecordLimit: 1 });
    const document = `{ "title" : "Käse 🧀 <b>&",\n "language":"de-AT","version":"2026-11", "n": 1.0 }`;
    const hash = hashOf(document);
    expect((await record(site, hash)).body.notice).toBe('wanted');
    expect((await record(site, hash)).body.notice).toBe('wanted');
    expect(await list(site)).toMatchObject({ status: 200, body: { notices: [], nextCursor: null } });
    expectProblem(await site.client.get(`/v1/consent/${site.domainId}/notices/${hash}`), 404, 'notice_not_found');

    const first = await put(site, document);
    expect([first.status, first.body]).toEqual([201, { notice: hash }]);
    expect([(await put(site, document)).status, (await record(site, hash)).body.notice]).toEqual([200, undefined]);

    const { status, body } = await list(site);
    expect([status, body.nextCursor]).toEqual([200, null]);
    const [listed] = body.notices;
    expect(body.notices).toEqual([
      {
        notice: hash,
        language: 'de-AT',
        version: '2026-11',
        variant: null,
        model: null,
        firstSeenAt: listed?.firstSeenAt,
        records: listed?.records,
      },
    ]);
    // three name it, and count once their epoch is closed
    expect([0, 1, 2, 3]).toContain(listed?.records);
    expect(Math.abs(Date.now() - Date.parse(listed?.firstSeenAt ?? ''))).toBeLessThan(60_000);
    const response = await fetch(`${site.api.baseUrl}/v1/consent/${site.domainId}/notices/${hash}`, {
      headers: { authorization: `Bearer ${tokenFor(site.tenant.organizationId)}` },
    });
    expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(document);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="notice-${hash.slice(0, 12)}.json"`,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    // another domain does not hold it
    const other = await newSite();
    expect([(await record(other, hash)).body.notice, (await list(other)).body.notices]).toEqual(['wanted', []]);
    expect((await put(other, document)).status).toBe(201);
  });

  it('says its language and version where it names them as it should, and is kept in any case', async () => {
    const site = await newSite();
    const nothing = { language: null, version: null };
    const longest = { language: 'l'.repeat(35), version: 'ß'.repeat(64) };
    const documents: [string, object][] = [
      ['{}', nothing],
      ['{"language":17,"version":["1"]}', nothing],
      [JSON.stringify({ language: 'l'.repeat(36), version: 'v'.repeat(65) }), nothing],
      // what Postgres cannot store
      ['{"language":"de\\u0000","version":"\\ud800"}', nothing],
      [JSON.stringify(longest), longest],
      [ofBytes(16 * 1024), nothing],
      [nested(16), nothing],
    ];
    for (const [document] of documents) expect((await put(site, document)).status).toBe(201);
    expect((await list(site)).body.notices.toReversed()).toEqual(
      documents.map(([document, said]) => expect.objectContaining({ notice: hashOf(document), ...said })),
    );
  });

  let refusing: Site | undefined;
  it.each<[string, string | Uint8Array, number, string, { hash?: string; headers?: object }?]>([
    ['bytes that do not match', '{}', 400, 'invalid_request', { hash: hashOf('{ }') }],
    ['16 KiB and a byte', ofBytes(16 * 1024 + 1), 413, 'payload_too_large'],
    ['text that is not JSON', 'Wir verwenden Cookies', 400, 'invalid_request'],
    ['a list', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['a byte order mark', '\ufeff{}', 400, 'invalid_request'],
    ['what is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_request'],
    ['17 levels', nested(17), 400, 'invalid_request'],
    ['thousands of levels', nested(2_700), 400, 'invalid_request'],
    ['a hash in upper case', '{}', 400, 'invalid_request', { hash: hashOf('{}').toUpperCase() }],
    ['a hash that is none', '{}', 400, 'invalid_request', { hash: 'x' }],
    ['an unknown parameter', '{}', 400, 'invalid_request', { hash: `${hashOf('{}')}?force=true` }],
    ['compressed bytes', '{}', 415, 'unsupported_media_type', { headers: { 'content-encoding': 'gzip' } }],
  ])('%s: refused, and nothing is kept', async (_, document, status, code, options = {}) => {
    refusing ??= await newSite();
    expectProblem(await put(refusing, document, options), status, code);
    expect((await list(refusing)).body.notices).toEqual([]);
  });

  it('that is refused again and again from one address is not looked at any more, for a minute', async () => {
    onTestFinished(holdTheMinute());
    const site = await newSite();
    const responses = await Promise.all(Array.from({ length: 62 }, () => put(site, '[]')));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(60).fill(400), 429, 429]);
    expect((await put({ ...site, ip: newAddress() }, '{}')).status).toBe(201);
  });

  it('is put by pages whose origin is listed, which can read the answer', async () => {
    const origin = 'https://shop.example';
    const site = await newSite({ origins: [origin] });
    const path = `/v1/consent/${site.domainId}/notices/${hashOf('{}')}`;
    const headers = { origin, 'access-control-request-method': 'PUT' };
    const allowed = await request<ProblemAnswer>(site.api.baseUrl, path, { method: 'OPTIONS', headers });
    expect([allowed.status, allowed.headers.get('access-control-allow-methods')]).toEqual([204, 'POST, PUT']);
    for (const [status, document] of [
      [201, '{}'],
      [400, '[]'],
    ] as const) {
      const answer = await put(site, document, { headers: { origin } });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, origin]);
    }
  });

  it('is one of a list, newest first, page by page', async () => {
    const site = await newSite();
    const hashes: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const document = documentOf(`number ${n}`);
      hashes.unshift(hashOf(document));
      await put(site, document);
    }
    const found: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body }: Answer<NoticesPage> = await list(site, `limit=2${cursor && `&cursor=${cursor}`}`);
      found.push(body.notices.map(({ notice }) => notice));
      cursor = body.nextCursor;
    }
    expect(found).toEqual([hashes.slice(0, 2), hashes.slice(2, 4), hashes.slice(4)]);
    // a cursor of another list is none of this one
    const other = await newSite();
    const { body } = await list(site, 'limit=2');
    expectProblem(await list(other, `cursor=${body.nextCursor}`), 400, 'invalid_request');
  });

  it('is listed by the days until which it was first seen, or alone', async () => {
    const site = await newSite();
    const hashes: string[] = [];
    for (const document of ['{"n":1}', '{"n":2}', '{"n":3}']) {
      await put(site, document);
      hashes.push(hashOf(document));
    }
    const [first = '', second = '', third = ''] = hashes;
    for (const [hash, time] of [
      [first, '2026-03-02T23:59:59.999Z'],
      [second, '2026-03-03T23:59:59.999Z'],
      [third, '2026-03-04T00:00:00Z'],
    ] as const)
      await stack.sql`
        update notices set first_seen_at = ${time}
        where hash = decode(${hash}, 'hex')
          and domain_number = (select number from domains where id = ${site.domainId})`;
    const listed = async (query: string) => (await list(site, query)).body.notices.map(({ notice }) => notice);
    expect(await listed('to=2026-03-03')).toEqual([second, first]);
    expect(await listed(`notice=${third}`)).toEqual([third]);
    expect(await listed(`notice=${third}&to=2026-03-03`)).toEqual([]);
    expect(await listed(`notice=${hashOf('{}')}`)).toEqual([]);
    const { body } = await list(site, 'to=2026-03-03&limit=1');
    expect(await listed(`to=2026-03-03&limit=1&cursor=${body.nextCursor}`)).toEqual([first]);
    for (const query of [`to=2026-03-04&cursor=${body.nextCursor}`, 'to=2026-02-30', 'notice=x', 'from=2026-03-03'])
      expectProblem(await list(site, query), 400, 'invalid_request');
  });

  it('says its variant, or the model of its places, where the widget made it', async () => {
    const site = await newSite();
    const longest = `${'e'.repeat(31)}:${'v'.repeat(31)}`;
    const documents: [string, string | null][] = [
      [`{"title":"Käse 🧀","variant":"${longest}"}`, longest],
      ['{"title":"a","variant":"test:b"} ', null],
      ['{"title":"a","part":{"b":1,"variant":"test:b"}}', null],
      ['{"title":",\\"variant\\":\\"test:b\\"","n":"}"}', null],
      ['{"title":"a","variant":"test b"}', null],
      ['{"title":"\\u0000","variant":7}', null],
      ['{"title":"a","model":"opt_out"}', null],
      ['{"title":"a","model":"opt_in"}', null],
    ];
    for (const [document] of documents) expect((await put(site, document)).status).toBe(201);
    const listed = (await list(site)).body.notices.toReversed();
    expect(listed.map(({ notice, variant }) => [notice, variant])).toEqual(
      documents.map(([document, variant]) => [hashOf(document), variant]),
    );
    expect(listed.map(({ model }) => model)).toEqual(
      documents.map(([document]) => (document.includes('opt_out') ? 'opt_out' : null)),
    );
  });

  /** As many of a domain that others have put, one after the other. */
  const fill = ({ domainId }: Site, count: number) => stack.sql`
    select put_notice(${domainId}, sha256(document), document, null, null, 1000)
    from (select convert_to('{"n":' || n || '}', 'UTF8') as document from generate_series(1, ${count}) n) made`;
  const from = (site: Site, ip: string, title: string) =>
    put(site, documentOf(title), { headers: { 'x-forwarded-for': ip } });
  const expectRefused = (answer: Put, limit: number) => {
    expectProblem(answer, 429, 'rate_limited');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
    expect(answer.headers.get('ratelimit-policy')).toMatch(new RegExp(`q=${limit};w=86400$`));
    expect(answer.body.detail).toContain(String(limit));
  };

  it('new in a day is one of 20 from one address; known ones, and other addresses, are not concerned', async () => {
    const site = await newSite();
    const [mine, another] = [newAddress(), newAddress()];
    await fill(site, 21);
    for (let n = 1; n <= 21; n += 1)
      expect((await put(site, `{"n":${n}}`, { headers: { 'x-forwarded-for': mine } })).status).toBe(200);
    // at once: none slips through
    const responses = await Promise.all(Array.from({ length: 25 }, (_, n) => from(site, mine, `address ${n}`)));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(429)]);
    expectRefused(await from(site, mine, 'one more'), 20);
    const kept = responses.findIndex(({ status }) => status === 201);
    expect((await from(site, mine, `address ${kept}`)).status).toBe(200);
    expect((await from(site, another, 'one more')).status).toBe(201);
  });

  it('new in a day is one of 500 of its domain; with the scope manage there is no bound', async () => {
    const site = await newSite();
    await fill(site, 499);
    expect((await from(site, newAddress(), 'domain 0')).status).toBe(201);
    expectRefused(await from(site, newAddress(), 'the 501st'), 500);
    expect((await from(site, newAddress(), 'domain 0')).status).toBe(200);
    const manage = (domainId = site.domainId, document = documentOf('the 501st')) =>
      put({ ...site, domainId }, document, {
        headers: {
          'x-api-key': '',
          authorization: `Bearer ${tokenFor(site.tenant.organizationId, { scope: 'manage', sub: 'release-bot' })}`,
        },
      });
    expectProblem(await manage('dom_unknown'), 404, 'domain_not_found');
    expect((await manage()).status).toBe(201);
    expect((await manage()).status).toBe(200);
    // what a page has put is kept for good from now on
    expect((await manage(site.domainId, documentOf('domain 0'))).status).toBe(200);
    const acts = await stack.sql<{ actor: string; details: object }>`
      select actor, details from administrative_acts where act = 'notice.put' and subject = ${site.domainId} order by id`;
    expect([...acts]).toEqual(
      ['the 501st', 'domain 0'].map((title) => ({
        actor: 'release-bot',
        details: { notice: hashOf(documentOf(title)) },
      })),
    );
  });
});
