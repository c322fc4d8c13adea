import { describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import type { ShownDomain } from '#libs/tenants/contract';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem, indistinguishable } from '../support/problems.ts';
import { useStack, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const listed = ['https://shop.example', 'http://localhost:8080', 'https://*.example.com'];
const shownTo = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, Preference-Applied',
  vary: 'Origin',
});
const mine = 'https://shop.example';

const stack = await useStack();
/** a domain with a list */
const closed = await withOwnDomain(stack, listed);

describe('a page of another site', () => {
  const preflight = (origin: string, { domainId }: { domainId: string } = closed): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, `/v1/consent/${domainId}/record`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key,prefer',
        'x-request-id': 'same',
      },
    });
  const record = (
    origin: string,
    { domainId, apiKey }: { domainId: string; apiKey: string } = closed,
    body: unknown = { decision: 'custom' },
  ) => stack.client.record(domainId, apiKey, body, { 'x-request-id': 'same', ...(origin && { origin }) });
  const cors = ({ headers }: Answer<unknown>) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

  it('that was refused is shown to those who manage the domain, unless its key was wrong, until it is on the list', async () => {
    const own = await withOwnDomain(stack, listed);
    const change = (origins: string[]) =>
      createAdministration(stack.db, 'test').changeDomain(stack.tenant.organizationId, own.domainId, { origins });
    const refused = async () => {
      const { body } = await request<ShownDomain>(stack.api.baseUrl, `/v1/organization/domains/${own.domainId}`, {
        headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'manage' })}` },
      });
      return body.refusedOrigins.map(({ origin }) => origin);
    };
    /** Tries again, because a process notes only ten a second. */
    const isTold = (
      origin: string,
      attempt: (origin: string, of: typeof own) => Promise<Answer<ProblemAnswer>> = record,
    ) =>
      eventually(async () => {
        expectProblem(await attempt(origin, own), 403, 'origin_not_allowed');
        expect((await refused())[0]).toBe(origin);
      });
    await record('https://guess.example', { ...own, apiKey: closed.apiKey });
    for (const origin of [`https://${'long.'.repeat(50)}example`, 'https://*.wild.example', 'null'])
      await record(origin, own);
    await isTold('https://blog.example');
    expect(await refused()).toEqual(['https://blog.example']);
    await change([...listed, 'https://blog.example']);
    expect(await refused()).toEqual([]);
    await change(listed);
    expect(await refused()).toEqual(['https://blog.example']);
    // of at most ten the newest stay, for 30 days
    await stack.sql`
      insert into refused_origins (domain_number, origin, refused_at)
      select number, 'https://' || n || '.example', now() - n * interval '1 hour'
      from domains, generate_series(1, 12) as n where id = ${own.domainId}`;
    // a browser asks first, and may never send its key
    await isTold('https://asked.example', preflight);
    const newest = [
      'https://asked.example',
      'https://blog.example',
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `https://${n}.example`),
    ];
    expect(await refused()).toEqual(newest);
    const aged = await stack.sql`
      update refused_origins set refused_at = refused_at - interval '31 days'
      where domain_number = (select number from domains where id = ${own.domainId})`;
    expect(aged.count).toBe(10);
    expect(await refused()).toEqual([]);
  });

  it.each(['https://anything.example', 'null'])('at %s may record where no origin is listed', async (origin) => {
    const responses = [await preflight(origin, stack), await record(origin, stack)];
    expect(responses.map(({ status, headers }) => [status, headers.get('access-control-allow-origin')])).toEqual([
      [204, '*'],
      [202, '*'],
    ]);
  });

  it.each([mine, 'http://localhost:8080', 'https://www.example.com', 'https://a.b.c.example.com'])(
    'at %s may record where it is listed',
    async (origin) => {
      const response = await record(origin);
      expect([response.status, cors(response)]).toEqual([202, shownTo(origin)]);
      const asked = await preflight(origin);
      expect([asked.status, asked.body, cors(asked)]).toEqual([
        204,
        '',
        {
          ...shownTo(origin),
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'content-type, x-api-key, prefer',
          'access-control-max-age': '86400',
        },
      ]);
    },
  );

  it.each([
    ...['https://example.com', 'https://evil-example.com', 'https://example.com.evil.example', 'https://.example.com'],
    ...['https://www.example.com.evil.example', 'https://www.example.com:8443', 'http://www.example.com'],
    ...['https://evil.example/.example.com', 'https://evil.example#.example.com', 'https://evil.example?.example.com'],
    ...['https://evil@www.example.com', 'https://*.example.com', 'https://shop.example.evil.example', 'null', 'x'],
    ...['https://shop.example:8443', 'http://shop.example', 'https://SHOP.example.', 'http://localhost'],
  ])('at %s may not', async (origin) => {
    for (const response of [await preflight(origin), await record(origin)]) {
      expectProblem(response, 403, 'origin_not_allowed');
      expect(cors(response)).toEqual({ vary: 'Origin' });
    }
  });

  it('what sends no origin, such as a server, may record for any domain', async () => {
    const response = await record('');
    expect([response.status, cors(response)]).toEqual([202, { vary: 'Origin' }]);
  });

  it.each<[string, number, () => Promise<Answer<ProblemAnswer>>]>([
    ['a key that is wrong', 401, () => record(mine, { ...closed, apiKey: 'x' })],
    ['a body that is broken', 400, () => record(mine, closed, '{')],
    ['a body that is too large', 413, () => record(mine, closed, ' '.repeat(20_000))],
  ])('can read the error after %s (%i)', async (_, status, attempt) => {
    const response = await attempt();
    expect([response.status, cors(response)]).toEqual([status, shownTo(mine)]);
  });

  it('can read that a method is not taken, and nothing of what only a token opens', async () => {
    const headers = { origin: mine };
    const path = `/v1/consent/${closed.domainId}/record`;
    const put = await request<ProblemAnswer>(stack.api.baseUrl, path, { method: 'PUT', headers });
    expect([put.status, cors(put)]).toEqual([405, shownTo('*')]);
    expect(cors(await request<ProblemAnswer>(stack.api.baseUrl, '/v1/organization', { headers }))).toEqual({});
  });

  it('looks the same for an unknown domain and for one without a list', async () => {
    const responses = async (domainId: string) =>
      [await preflight(mine, { domainId }), await record(mine, { domainId, apiKey: 'x' })].map(indistinguishable);
    const expected = await responses(stack.domainId);
    for (const domainId of ['dom_unknown', '%00', 'not%20a%20domain', 'x'.repeat(65)])
      expect([domainId, await responses(domainId)]).toEqual([domainId, expected]);
  });
});
