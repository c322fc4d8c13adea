import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { type ProblemAnswer, request } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { exchange } from '../support/raw-http.ts';
import { startApi } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0';
const shop = 'https://shop.example';
const perMinute = 3;

const stores = await openStores();
const tenant = await makeTenant(stores.db, { domains: 6, origins: [shop] });
const [api, limited] = await Promise.all([
  startApi(stores.env),
  startApi({ ...stores.env, DISPLAY_RATE_PER_MINUTE: String(perMinute) }),
]);

// without a worker what is counted stays where the API put it
describe('POST displays', () => {
  const send = (domain: number, init: RequestInit = {}, to = api) =>
    request<ProblemAnswer>(to.baseUrl, `/v1/consent/${at(tenant.domainIds, domain)}/displays`, {
      method: 'POST',
      ...init,
      headers: { 'x-api-key': at(tenant.apiKeys, domain), 'user-agent': browser, ...init.headers },
    });
  const show = (domain: number, body: string, headers: Record<string, string> = {}, to = api) =>
    send(domain, { body, headers: { 'content-type': 'application/json', ...headers } }, to);
  const stored = (domain: number) =>
    stores.sql<{ banner_version: string; variant: string; language: string; displays: number }>`
        select min(day) as day, banner_version, variant, language, sum(displays)::int as displays
        from displays join domains d on d.number = domain_number where d.id = ${at(tenant.domainIds, domain)}
        group by 2, 3, 4 order by displays desc`;
  // midnight may pass before what is counted is compared
  const begun = dayOf(Date.now());
  const counted = (values: { bannerVersion?: string; variant?: string; language?: string }, displays: number) => ({
    day: expect.stringMatching(`^(?:${begun}|${addDays(begun, 1)})$`),
    banner_version: values.bannerVersion ?? '',
    variant: values.variant ?? '',
    language: values.language ?? '',
    displays,
  });
  const inAll = async (domain: number) => (await stored(domain)).reduce((sum, { displays }) => sum + displays, 0);

  it('counts by version, variant and language, nothing as none, and leaves out what is wrong, and crawlers', async () => {
    const values = { bannerVersion: '2.1', variant: 'autumn:short', language: 'de-AT' };
    for (let count = 0; count < 4; count += 1) {
      const { status, headers, body } = await show(0, JSON.stringify({ ...values, visitorId: 'left out' }));
      expect([status, body, headers.get('content-type')]).toEqual([204, '', null]);
    }
    expect((await show(0, '{}')).status).toBe(204);
    expect((await send(0)).status).toBe(204);
    // without the detail that is wrong
    for (const body of ['{"variant":7,"language":"de_AT"}', '{"variant":"7","language":"de-AT","bannerVersion":[1]}'])
      expect((await show(5, body)).status).toBe(204);
    // no crawler, and nothing that does not name itself; they hear the same
    for (const userAgent of ['Googlebot/2.1', 'curl/8.5.0'])
      expect((await show(1, '{}', { 'user-agent': userAgent })).status).toBe(204);
    const path = `/v1/consent/${at(tenant.domainIds, 1)}/displays`;
    const nameless = await exchange(api.baseUrl, [
      `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-api-key: ${at(tenant.apiKeys, 1)}\r\n\r\n`,
    ]);
    expect(nameless.status).toBe(204);
    expect((await show(1, '{}')).status).toBe(204);
    await eventually(async () =>
      expect([await stored(0), await stored(5), await stored(1)]).toEqual([
        [counted(values, 4), counted({}, 2)],
        [counted({ variant: '7', language: 'de-AT' }, 2)],
        [counted({}, 1)],
      ]),
    );
  });

  it.each<[string, string, number, string, Record<string, string>?]>([
    ['a list', '[]', 400, 'invalid_json'],
    ['strictly, a NUL', '{"variant":"\\u0000"}', 400, 'invalid_request', { prefer: 'handling=strict' }],
    ['another origin', '{}', 403, 'origin_not_allowed', { origin: 'https://evil.example' }],
    ['a token instead of a key', '{', 401, 'invalid_api_key', { 'x-api-key': '', authorization: 'Bearer x' }],
  ])('refuses %s', async (_, body, status, code, headers) => {
    const response = await show(2, body, { origin: shop, ...headers });
    expectProblem(response, status, code);
    expect(response.headers.get('access-control-allow-origin')).toBe(status === 403 ? null : shop);
    expect(await inAll(2)).toBe(0);
  });

  it(`takes ${perMinute} a minute from one address where that is the limit`, async () => {
    for (let count = 0; count < perMinute; count += 1) expect((await show(3, '{}', {}, limited)).status).toBe(204);
    const refused = await show(3, '{}', { origin: shop }, limited);
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('ratelimit-policy')).toBe('"display";q=3;w=60');
    expect((await show(4, '{}', {}, limited)).status).toBe(204);
  });

  it('adds up what several processes count, and processes that end store the rest', async () => {
    for (const to of [api, limited, api, api]) expect((await show(4, '{}', {}, to)).status).toBe(204);
    const ends = await Promise.all([api.stop(), limited.stop()]);
    expect(ends).toEqual([true, true]);
    expect(await inAll(4)).toBe(5);
  });
});
