import { describe, expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { type ProblemAnswer, request } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { expectBlame, expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const stores = useStores();
const tenant = await makeTenant(stores.db, { domains: 2 });
const { db } = stores;
const { domainIds } = tenant;
const api = await startApi({ ...stores.env, DEMO_DOMAIN: at(domainIds, 0), DEMO_API_KEY: at(tenant.apiKeys, 0) });

describe('what the demo shop shows of a visitor', () => {
  const look = <Body = ProblemAnswer>(visitorId: string) => request<Body>(api.baseUrl, `/demo/records/${visitorId}`);

  it('is what that visitor decided on that domain of late, and nothing about the visitor', async () => {
    const [domainId, other] = [at(domainIds, 0), at(domainIds, 1)];
    const now = Date.now();
    const of = (visitorId: string, index: number, domain = domainId) =>
      recordAt(now + index, {
        domainId: domain,
        visitorId,
        decision: 'custom',
        preferences: { analytics: index % 2 === 0 },
        ip: '203.0.113.0',
        userAgent: 'a browser',
        pageUrl: 'https://shop.example/private',
        country: 'CH',
      });
    const own = Array.from({ length: 7 }, (_, index) => of('me', index));
    await persist(db, [...own, of('somebody-else', 9), of('me', 9, other)]);
    const { body } = await look<object[]>('me');
    expect(body).toEqual(
      own
        .slice(2)
        .reverse()
        .map(({ id, preferences }, index) => ({
          id,
          decision: 'custom',
          decidedAt: new Date(now + 6 - index).toISOString(),
          preferences,
          source: 'banner',
        })),
    );
    expect((await look<object[]>('nobody')).body).toEqual([]);
  });

  it('is also what the server of the shop may do now', async () => {
    const domainId = at(domainIds, 0);
    await persist(db, [
      recordAt(Date.now() + 20, { domainId, visitorId: 'asks', decision: 'custom', preferences: { analytics: true } }),
    ]);
    const { body } = await request(api.baseUrl, '/demo/current/asks');
    expect(body).toEqual({ preferences: { analytics: true }, valid: true });
  });

  it('is asked for by an id that the log can hold, at most 300 times a minute from one address', async () => {
    holdTheMinute();
    for (const visitorId of ['%00', 'v'.repeat(129)]) expectBlame(await look(visitorId), '/visitorId');
    // some came before
    const responses = await Promise.all(Array.from({ length: 297 }, () => look('%00')));
    expectBlame(at(responses, 0), '/visitorId');
    expectProblem(await look('me'), 429, 'rate_limited');
  });

  it('is there only where it is asked for', async () => {
    const plain = await startApi(useStores().env);
    for (const file of ['/demo', '/demo/shop.js', '/demo/records/v-1'])
      expect((await request<ProblemAnswer>(plain.baseUrl, file)).status).toBe(404);
  });

  it('its page may load nothing from elsewhere and run nothing inline', async () => {
    const page = await fetch(`${api.baseUrl}/demo`);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(await page.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
  });
});
