/** A record on its way from the request to the log and the counts; the rules of its fields are in test/record/body.unit.test.ts. */
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, makeIdAt, timeOf } from '#libs/base/terms/calendar';
import { acceptedAhead, acceptedPast, decisions } from '#libs/base/terms/terms';
import type { FullRecord } from '#libs/record/contract';
import type { ShownDomain } from '#libs/tenants/contract';
import { request, tokenFor } from '../support/client.ts';
import { makeId } from '../support/ids.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { at, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const everyField = {
  decision: 'custom',
  visitorId: 'visitor 👋',
  preferences: { necessary: true, 'ads:personal': false },
  source: 'preferences',
  bannerVersion: 'b-3',
  policyVersion: '2026-11',
  language: 'de-AT',
  pageUrl: 'https://example.com/a/b',
  tcString: 'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
  gppString: 'DBABMA~CPXxRfAPXxRfAAfKABENB',
  gpc: false,
  metadata: { campaign: 'autumn', visits: 3, share: 0.25, returning: true },
  notice: '0123456789abcdef'.repeat(4),
  variant: 'green button',
  model: 'opt_in',
};
const nothing = Object.fromEntries(Object.keys(everyField).map((field) => [field, null]));
/** of what the service sets; this stack seals nothing */
const set = { country: null, ip: '127.0.0.0', bot: true, erasedAt: null, log: null, position: null, region: null };
const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const named = (agent: string) => ({ 'user-agent': agent });
const minute = 60_000;

const stack = await useStack({ tenant: { domains: 3 } });

describe('a record', () => {
  const record = (fields: object, headers: Record<string, string> = {}, domain = 0) =>
    stack.client.record(
      at(stack.tenant.domainIds, domain),
      at(stack.tenant.apiKeys, domain),
      { decision: 'accept_all', ...fields },
      headers,
    );
  const stored = (id: string, domain = 0): Promise<FullRecord> =>
    eventually(async () => {
      const { body } = await stack.client.records(at(stack.tenant.domainIds, domain), 'limit=200');
      const found = body.records.filter((each) => each.id.toLowerCase() === id);
      expect(found).toHaveLength(1);
      return at(found, 0);
    });
  const today = dayOf(Date.now());
  const stats = (query: string) => stack.client.stats(at(stack.tenant.domainIds, 2), query);

  it('of each kind, and one that is sent twenty times at once, are in the log and counted once', async () => {
    const id = makeId();
    const sent = await Promise.all([
      ...decisions.map((decision) => record({ decision }, {}, 2)),
      ...Array.from({ length: 20 }, () => record({ decision: 'custom', id }, {}, 2)),
    ]);
    expect(sent.map(({ status }) => status)).toEqual(Array(24).fill(202));
    expect(new Set(sent.slice(4).map(({ body }) => body.id))).toEqual(new Set([id]));
    const breakdown = { accept_all: 1, reject_all: 1, custom: 2, withdraw: 1 };
    await eventually(async () => {
      const { body, headers } = await stats(`from=${today}&to=${addDays(today, 1)}`);
      expect([headers.get('x-stats-source'), body.breakdown]).toEqual(['redis', breakdown]);
    });
    await stored(id, 2);
    expect((await stack.client.orgStats()).body).toMatchObject({ total: 5, breakdown, recordsTotal: 5 });
  });

  it('is stored with every field that was sent, and when it was decided and received', async () => {
    const id = makeId();
    const before = Date.now();
    const { status, body } = await record({ id, ...everyField }, named('Browser/1.0'));
    const decidedAt = new Date(timeOf(id)).toISOString();
    const { receivedAt } = body;
    expect([status, body]).toEqual([
      202,
      { id, status: expect.stringMatching(/^(queued|persisted)$/), decidedAt, receivedAt, notice: 'wanted' },
    ]);
    expect(Date.parse(receivedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(receivedAt)).toBeLessThanOrEqual(Date.now());
    const { domainId } = stack;
    const expected = { ...everyField, ...set, id, domainId, decidedAt, receivedAt, userAgent: 'Browser/1.0' };
    expect(await stored(id)).toEqual(expected);
  });

  it('is stored with nulls where nothing was sent, and with nothing that is the service’s to say', async () => {
    const forged = { ip: '6.6.6.6', bot: false, country: 'XX', receivedAt: '2000-01-01', organizationId: 'org_x' };
    const own = { domainId: 'dom_x', userAgent: 'forged', requestId: 'forged', consent: true };
    const text = JSON.stringify({ decision: 'withdraw', ...forged, ...own });
    const withPrototype = text.replace('{', '{"__proto__":{"source":"api"},');
    const { status, body } = await stack.client.record(stack.domainId, stack.apiKey, withPrototype, named(''));
    expect(status).toBe(202);
    expect(body.ignored?.toSorted()).toEqual(['__proto__', ...Object.keys({ ...forged, ...own })].toSorted());
    const { id, decidedAt, receivedAt } = body;
    expect(decidedAt).toBe(receivedAt);
    const sent = { id, domainId: stack.domainId, decision: 'withdraw', decidedAt, receivedAt, source: 'banner' };
    expect(await stored(id)).toEqual({ ...nothing, ...set, ...sent, userAgent: null });
  });

  it('is the first that came with its id in either case, and another one on another domain', async () => {
    const id = makeId();
    const first = await record({ id: id.toUpperCase(), decision: 'reject_all', visitorId: 'first' });
    await stored(id);
    const second = await record({ id, visitorId: 'second' });
    expect([first.body.id, second.status, second.body.id]).toEqual([id, 202, id]);
    await record({ id, decision: 'withdraw' }, {}, 1);
    // what came after it is there
    await stored((await record({})).body.id);
    expect(await stored(id)).toMatchObject({ id, decision: 'reject_all', visitorId: 'first' });
    expect((await stored(id, 1)).decision).toBe('withdraw');
  });

  it('is stored without what its page, its headers and its user agent hold beyond need', async () => {
    const latin1 = (text: string) => Buffer.from(text).toString('latin1');
    const cases: [fields: object, headers: Record<string, string>, expected: Partial<FullRecord>][] = [
      [{ pageUrl: 'https://ann:secret@example.com/a?b#c' }, {}, { pageUrl: 'https://example.com/a' }],
      [{ gpc: false }, { 'sec-gpc': '1' }, { gpc: true }],
      [{}, { 'sec-gpc': '0' }, { gpc: null }],
      [{ gpc: true }, {}, { gpc: true }],
      [{}, named(`A${'b'.repeat(600)}`), { userAgent: `A${'b'.repeat(511)}` }],
      // some send UTF-8, which is cut between its characters
      [{}, named(latin1(`Ergänzendes/1.0 ${'x'.repeat(495)}😀`)), { userAgent: `Ergänzendes/1.0 ${'x'.repeat(495)}` }],
      [{}, named('Caf\u00e9/1.0'), { userAgent: 'Café/1.0' }],
      // a browser names itself; a site's own server need not
      [{ source: 'api' }, named(''), { userAgent: null, bot: false }],
      [{ source: 'api' }, { ...named(''), origin: 'https://shop.example' }, { userAgent: null, bot: true }],
      // apps' client libraries; what calls itself a crawler is one
      [{ source: 'api' }, named('Shop/1 CFNetwork/1410.0.3 Darwin/22.6.0'), { bot: false }],
      [{ source: 'api' }, named('ktor-client'), { bot: false }],
      [{}, named('okhttp/4.12.0'), { bot: true }],
      [{ source: 'api' }, named('facebookexternalhit/1.1 (+http://www.facebook.com/uatext.php)'), { bot: true }],
      // only an import says so of a record
      [{ source: 'import' }, named(''), { source: 'api', userAgent: null, bot: false }],
      [{}, named(browser), { bot: false }],
      [{}, named(browser.replace('Chrome/', 'HeadlessChrome/')), { bot: true }],
      [{}, named('Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'), { bot: true }],
    ];
    const responses = await Promise.all(cases.map(([fields, headers]) => record(fields, headers)));
    for (const [index, [, , expected]] of cases.entries())
      expect(await stored(at(responses, index).body.id)).toMatchObject(expected);
  });

  /** By field. */
  const leftOut = async () => {
    const metrics = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
    const found = metrics.matchAll(/^assent_ignored_fields_total\{field="(\w+)"\} (\d+)$/gm);
    return new Map([...found].map(([, field = '', count]) => [field, Number(count)]));
  };

  it('by a signal, where nobody is asked first, is stored without address, user agent, page and metadata', async () => {
    const { visitorId, notice, pageUrl, metadata } = everyField;
    const sent = { decision: 'reject_all', source: 'gpc', visitorId, notice, pageUrl, metadata };
    const send = async (model: string, agent = browser) => {
      const { body } = await record({ ...sent, model }, { ...named(agent), 'sec-gpc': '1' });
      expect(body).not.toHaveProperty('ignored');
      return stored(body.id);
    };
    const left = { decision: 'reject_all', source: 'gpc', gpc: true, visitorId, notice, bot: false };
    const without = { ip: null, userAgent: null, pageUrl: null, metadata: null };
    for (const model of ['opt_out', 'none']) expect(await send(model)).toMatchObject({ ...left, ...without, model });
    // one that asks first, and a crawler, which is told apart by what is not stored
    expect(await send('opt_in')).toMatchObject({ ...left, ip: '127.0.0.0', userAgent: browser, pageUrl, metadata });
    expect(await send('opt_out', 'Googlebot/2.1')).toMatchObject({ ...left, ...without, bot: true });
  });

  it('is taken without what is wrong with it, which its receipt, a metric and the domain’s settings name', async () => {
    const wrong = { tcString: 'x'.repeat(5_000), metadata: { shop: { id: 'secret' }, plan: 'b' }, 'a secret': 1 };
    const mended = { language: 'en_US', visitorId: 12_345, pageUrl: '/about', preferences: { ad_storage: 'granted' } };
    const before = await leftOut();
    const { status, body } = await record(
      { ...wrong, ...mended, gppString: null },
      { origin: 'https://shop.example' },
      1,
    );
    expect([status, body.ignored]).toEqual([202, ['tcString', 'metadata.shop', 'a secret']]);
    expect(await stored(body.id, 1)).toMatchObject({
      ...{ language: 'en-US', visitorId: '12345', pageUrl: 'https://shop.example/about' },
      ...{ preferences: { ad_storage: true }, metadata: { plan: 'b' }, tcString: null, gppString: null },
    });
    const after = await leftOut();
    for (const field of ['tcString', 'metadata', 'unknown'])
      expect(after.get(field)).toBeGreaterThan(before.get(field) ?? 0);
    await eventually(async () => {
      const shown = await request<ShownDomain>(
        stack.api.baseUrl,
        `/v1/organization/domains/${at(stack.tenant.domainIds, 1)}`,
        { headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'manage' })}` } },
      );
      const ignoredAt = expect.any(String);
      const told = shown.body.ignoredFields.toSorted((a, b) => (a.field < b.field ? -1 : 1));
      expect(told).toMatchObject([{ field: 'metadata.shop' }, { field: 'tcString', length: 5_000, ignoredAt }]);
    });
    const fields = Array.from({ length: 30 }, (_, index) => `x${index}`);
    const { body: many } = await record(Object.fromEntries(fields.map((field) => [field, 1])));
    expect(many.ignored).toEqual([...fields.slice(0, 20), '…']);
  });

  it('is refused for what decides, and for a detail where strict handling is preferred, which the answer says', async () => {
    const refused = await record({ id: `${makeId()}\n`, decision: 'custom', gpc: 'y', preferences: { 'a/b~c': true } });
    expectBlame(refused, '/id', '/preferences/a~1b~0c');
    for (const prefer of ['handling=strict', 'respond-async, Handling="strict"; x=1, handling=lenient']) {
      const detail = await record(
        { visitorId: 'a\ud800b', source: 'import', metadata: { a: {} }, unknown: 1 },
        { prefer },
      );
      expectBlame(detail, '/visitorId', '/metadata/a', '/unknown');
      const taken = await record({ preferences: [], visitorId: null }, { prefer });
      for (const { headers } of [detail, taken]) expect(headers.get('preference-applied')).toBe('handling=strict');
      expect(taken.status).toBe(202);
      expectBlame(await record({ source: 'import' }, { prefer }), '/source');
    }
    const lenient = await record({ gpc: 'y' }, { prefer: 'x="a, handling=strict", handling=lenient' });
    expect([lenient.status, lenient.headers.get('preference-applied')]).toEqual([202, null]);
  });

  it.each([
    ['30 days ago', -acceptedPast + minute],
    ['5 minutes ahead', acceptedAhead],
  ])('whose id is of %s counts for its own day', async (_, ahead) => {
    const time = Date.now() + ahead;
    const { status, body } = await record({ id: makeIdAt(time) });
    expect([status, body.decidedAt]).toEqual([202, new Date(time).toISOString()]);
    const day = `from=${dayOf(time)}&to=${dayOf(time)}`;
    await eventually(async () => {
      const { body: page } = await stack.client.records(stack.domainId, `${day}&limit=200`);
      expect(page.records.map(({ id }) => id)).toContain(body.id);
    });
  });

  it.each([
    ['30 days ago and more', -acceptedPast - 1],
    ['5 minutes ahead and more', acceptedAhead + minute],
  ])('whose id is of %s is refused, and corrected by serverTime it is taken', async (_, ahead) => {
    const before = Date.now();
    const response = await record({ id: makeIdAt(before + ahead) });
    expectProblem(response, 400, 'id_time_out_of_range');
    expect(response.body.errors?.map((error) => error.path)).toEqual(['/id']);
    const serverTime = Date.parse(response.body.serverTime ?? '');
    expect(serverTime).toBeGreaterThanOrEqual(before);
    expect(serverTime).toBeLessThanOrEqual(Date.now());
    expect((await record({ id: makeIdAt(serverTime) })).status).toBe(202);
  });
});
