import { beforeAll, describe, expect, it } from 'vitest';
import type { FullRecord } from '#libs/contract/responses';
import { timeOf } from '#libs/contract/uuid';
import { makeId } from '../support/ids.ts';
import { at, type Stack, useStack } from '../support/stack.ts';
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
};

describe('what is stored of a record', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 2 } });
  });

  const record = (fields: object, headers: Record<string, string> = {}) =>
    stack.client.record(stack.domainId, stack.apiKey, { decision: 'accept_all', ...fields }, headers);

  const stored = (id: string, domainId = stack.domainId): Promise<FullRecord> =>
    eventually(async () => {
      const { body } = await stack.client.records(domainId);
      return at(
        body.records.filter((each) => each.id === id),
        0,
      );
    });

  it('is every field that was sent, and when it was decided and received', async () => {
    const id = makeId();
    const before = Date.now();
    const { status, body } = await record({ id, ...everyField }, { 'user-agent': 'Browser/1.0' });
    expect(status).toBe(202);
    const decidedAt = new Date(timeOf(id)).toISOString();
    expect(body).toEqual({
      id,
      status: expect.stringMatching(/^(queued|persisted)$/),
      decidedAt,
      receivedAt: body.receivedAt,
      notice: 'wanted',
    });
    expect(Date.parse(body.receivedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.receivedAt)).toBeLessThanOrEqual(Date.now());
    expect(await stored(id)).toEqual({
      ...everyField,
      id,
      domainId: stack.domainId,
      decidedAt,
      receivedAt: body.receivedAt,
      ip: '127.0.0.0',
      userAgent: 'Browser/1.0',
      country: null,
      bot: true,
      erasedAt: null,
      // this stack seals nothing
      log: null,
      position: null,
    });
  });

  it('is null where nothing was sent, and the source is the banner', async () => {
    const { body } = await record({}, { 'user-agent': '' });
    expect(body.decidedAt).toBe(body.receivedAt);
    expect(await stored(body.id)).toEqual({
      id: body.id,
      domainId: stack.domainId,
      decision: 'accept_all',
      decidedAt: body.decidedAt,
      receivedAt: body.receivedAt,
      source: 'banner',
      visitorId: null,
      preferences: null,
      bannerVersion: null,
      policyVersion: null,
      language: null,
      pageUrl: null,
      country: null,
      ip: '127.0.0.0',
      userAgent: null,
      tcString: null,
      gppString: null,
      gpc: null,
      metadata: null,
      notice: null,
      variant: null,
      bot: true,
      erasedAt: null,
      log: null,
      position: null,
    });
  });

  it("is not a program's for want of a user agent where a site's own server sends it", async () => {
    for (const source of ['api', 'import']) {
      const { body } = await record({ source }, { 'user-agent': '' });
      expect(await stored(body.id)).toMatchObject({ source, userAgent: null, bot: false });
    }
  });

  it('is not an unknown field, which the receipt names', async () => {
    const { status, body } = await stack.client.record(
      stack.domainId,
      stack.apiKey,
      '{"decision":"withdraw","consent":true,"ip":"203.0.113.9","country":"XX","__proto__":{"source":"api"},"domainId":"other"}',
    );
    expect(status).toBe(202);
    expect(body.ignored?.toSorted()).toEqual(['__proto__', 'consent', 'country', 'domainId', 'ip']);
    const kept = await stored(body.id);
    expect(kept).toMatchObject({ domainId: stack.domainId, ip: '127.0.0.0', country: null, source: 'banner' });
    expect(kept).not.toHaveProperty('consent');
  });

  it('is the id in lower case, so that one id in two spellings is one record', async () => {
    const id = makeId();
    const upper = await record({ id: id.toUpperCase() });
    const lower = await record({ id });
    expect([upper.body.id, lower.body.id]).toEqual([id, id]);
    await stored(id);
    const last = await record({});
    await stored(last.body.id);
    const { body } = await stack.client.records(stack.domainId);
    expect(body.records.filter((each) => each.id.toLowerCase() === id)).toHaveLength(1);
  });

  it('is the first that came with an id, whatever a later one says', async () => {
    const id = makeId();
    await record({ id, decision: 'reject_all', visitorId: 'first' });
    await stored(id);
    expect((await record({ id, decision: 'accept_all', visitorId: 'second' })).status).toBe(202);
    const last = await record({});
    await stored(last.body.id);
    expect(await stored(id)).toMatchObject({ decision: 'reject_all', visitorId: 'first' });
  });

  it('belongs to the domain it was sent to: the same id on two domains is two records', async () => {
    const id = makeId();
    const [, other = ''] = stack.tenant.domainIds;
    await record({ id, decision: 'custom' });
    await stack.client.record(other, at(stack.tenant.apiKeys, 1), { decision: 'withdraw', id });
    expect((await stored(id)).decision).toBe('custom');
    expect((await stored(id, other)).decision).toBe('withdraw');
  });

  it.each([
    ['https://example.com/shop/cart?token=secret', 'https://example.com/shop/cart'],
    ['https://example.com/shop#user=17', 'https://example.com/shop'],
    ['https://example.com/a?b#c?d', 'https://example.com/a'],
    ['https://example.com/a#b?c', 'https://example.com/a'],
    ['https://ann:secret@example.com/a', 'https://example.com/a'],
    ['https://ann@example.com:8443/a?b@c', 'https://example.com:8443/a'],
    ['https://example.com/@ann/post?x=1', 'https://example.com/@ann/post'],
    ['http://[2001:db8::1]:8080/x?y', 'http://[2001:db8::1]:8080/x'],
  ])('of the page %s is %s', async (pageUrl, kept) => {
    const { body } = await record({ pageUrl });
    expect((await stored(body.id)).pageUrl).toBe(kept);
  });

  it.each<[string, object, Record<string, string>, boolean | null]>([
    ['neither field nor header', {}, {}, null],
    ['the header alone', {}, { 'sec-gpc': '1' }, true],
    ['the header against the field', { gpc: false }, { 'sec-gpc': '1' }, true],
    ['a header that is not 1', {}, { 'sec-gpc': '0' }, null],
    ['the field alone', { gpc: true }, {}, true],
  ])('of Global Privacy Control is what %s says', async (_, fields, headers, gpc) => {
    const { body } = await record(fields, headers);
    expect((await stored(body.id)).gpc).toBe(gpc);
  });

  it('is at most 512 characters of the user agent', async () => {
    const { body } = await record({}, { 'user-agent': `A${'b'.repeat(600)}` });
    expect((await stored(body.id)).userAgent).toBe(`A${'b'.repeat(511)}`);
  });
});
