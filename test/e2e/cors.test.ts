import { beforeAll, describe, expect, it } from 'vitest';
import type { ShownDomain } from '#libs/contract/manage';
import { createAdministration } from '#libs/store/tenants/administration';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const listed = ['https://shop.example', 'http://localhost:8080', 'https://*.example.com'];
const exposed = 'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id';

describe('a page of another site', () => {
  let stack: Stack;
  let closed: { domainId: string; apiKey: string };

  beforeAll(async () => {
    stack = await useStack();
    const admin = createAdministration(stack.db, 'test');
    const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'closed', origins: listed });
    closed = await admin.createKey(domainId);
  });

  const preflight = (domainId: string, origin: string): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, `/v1/consent/${domainId}/record`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });
  const record = (origin: string, { domainId, apiKey } = closed, body: unknown = { decision: 'custom' }) =>
    stack.client.record(domainId, apiKey, body, { origin });

  const expectPreflight = (answer: Answer<unknown>, origin: string) => {
    expect(answer.status).toBe(204);
    expect(answer.body).toBe('');
    const { headers } = answer;
    expect({
      origin: headers.get('access-control-allow-origin'),
      methods: headers.get('access-control-allow-methods'),
      headers: headers.get('access-control-allow-headers'),
      age: headers.get('access-control-max-age'),
      vary: headers.get('vary'),
      credentials: headers.has('access-control-allow-credentials'),
    }).toEqual({
      origin,
      methods: 'POST',
      headers: 'content-type, x-api-key',
      age: '86400',
      vary: 'Origin',
      credentials: false,
    });
  };

  // first, while the process has noted nothing within this second
  describe('that was refused', () => {
    let own: { domainId: string; apiKey: string };
    const change = async (origins: string[]) => {
      const { organizationId } = stack.tenant;
      await createAdministration(stack.db, 'test').changeDomain(organizationId, own.domainId, { origins });
    };
    const refused = async () => {
      const { body } = await request<ShownDomain>(stack.api.baseUrl, `/v1/organization/domains/${own.domainId}`, {
        headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId, { scope: 'manage' })}` },
      });
      return body.refusedOrigins.map(({ origin }) => origin);
    };
    /** Tries again, because a process notes only ten a second. */
    const isTold = (origin: string) =>
      eventually(async () => {
        expectProblem(await record(origin, own), 403, 'origin_not_allowed');
        expect((await refused())[0]).toBe(origin);
      });

    beforeAll(async () => {
      const admin = createAdministration(stack.db, 'test');
      const made = await admin.createDomain(stack.tenant.organizationId, { name: 'own', origins: listed });
      own = await admin.createKey(made.domainId);
    });

    it('is told to those who manage the domain, unless its key was wrong, until it is on the list', async () => {
      await record('https://guess.example', { ...own, apiKey: closed.apiKey });
      await record(`https://${'long.'.repeat(50)}example`, own);
      await record('https://*.wild.example', own);
      await record('null', own);
      await isTold('https://blog.example');
      expect(await refused()).toEqual(['https://blog.example']);
      await change([...listed, 'https://blog.example']);
      expect(await refused()).toEqual([]);
      await change(listed);
      expect(await refused()).toEqual(['https://blog.example']);
    });

    it('is told when a browser asked first and never sent its key', async () => {
      await eventually(async () => {
        expectProblem(await preflight(own.domainId, 'https://asked.example'), 403, 'origin_not_allowed');
        expect((await refused())[0]).toBe('https://asked.example');
      });
    });

    it('is one of at most ten, the newest', async () => {
      const origins = Array.from({ length: 12 }, (_, number) => `https://shop-${number}.example`);
      for (const origin of origins) await isTold(origin);
      expect(await refused()).toEqual(origins.toReversed().slice(0, 10));
      const [stored] = await stack.db.run(
        (sql) => sql<{ count: number }[]>`
          select count(*)::int as count from refused_origins join domains on number = domain_number
          where id = ${own.domainId}`,
      );
      expect(stored?.count).toBe(10);
    });

    it('is told for 30 days', async () => {
      await stack.db.run((sql) => sql`update refused_origins set refused_at = refused_at - interval '31 days'`);
      expect(await refused()).toEqual([]);
    });
  });

  it.each(['https://anything.example', 'http://localhost:3000', 'null'])(
    'at %s may record where no origin is listed',
    async (origin) => {
      expectPreflight(await preflight(stack.domainId, origin), '*');
      const { status, headers } = await record(origin, stack);
      expect(status).toBe(202);
      expect(headers.get('access-control-allow-origin')).toBe('*');
    },
  );

  it.each(['https://shop.example', 'http://localhost:8080', 'https://www.example.com', 'https://a.b.c.example.com'])(
    'at %s may record where it is listed',
    async (origin) => {
      expectPreflight(await preflight(closed.domainId, origin), origin);
      const { status, headers } = await record(origin);
      expect(status).toBe(202);
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-expose-headers')).toBe(exposed);
      expect(headers.get('vary')).toBe('Origin');
    },
  );

  it.each([
    'https://example.com',
    'https://evil-example.com',
    'https://example.com.evil.example',
    'https://www.example.com.evil.example',
    'https://www.example.com:8443',
    'http://www.example.com',
    'https://evil.example/.example.com',
    'https://.example.com',
    'https://evil.example#.example.com',
    'https://evil.example?.example.com',
    'https://evil@www.example.com',
    'https://*.example.com',
    'https://shop.example.evil.example',
    'https://shop.example:8443',
    'http://shop.example',
    'https://SHOP.example.',
    'http://localhost',
    'null',
    'x',
  ])('at %s may not', async (origin) => {
    for (const answer of [await preflight(closed.domainId, origin), await record(origin)]) {
      expectProblem(answer, 403, 'origin_not_allowed');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('vary')).toBe('Origin');
    }
  });

  it('what sends no origin, such as a server, may record for any domain', async () => {
    const { status, headers } = await stack.client.record(closed.domainId, closed.apiKey, { decision: 'custom' });
    expect(status).toBe(202);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('vary')).toBe('Origin');
  });

  it.each<[string, number, () => Promise<Answer<ProblemAnswer>>]>([
    ['a key that is wrong', 401, () => record('https://shop.example', { ...closed, apiKey: 'x' })],
    ['a body that is broken', 400, () => record('https://shop.example', closed, '{')],
    ['a field that is wrong', 400, () => record('https://shop.example', closed, { decision: 'x' })],
    ['a body that is too large', 413, () => record('https://shop.example', closed, ' '.repeat(20_000))],
  ])('can read the error after %s (%i)', async (_, status, attempt) => {
    const answer = await attempt();
    expect(answer.status).toBe(status);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(answer.headers.get('access-control-expose-headers')).toBe(exposed);
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  it('can read that a method is not taken', async () => {
    const { status, headers } = await request<ProblemAnswer>(
      stack.api.baseUrl,
      `/v1/consent/${closed.domainId}/record`,
      { method: 'PUT', headers: { origin: 'https://evil.example' } },
    );
    expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([405, '*', 'Origin']);
    expect(headers.get('access-control-expose-headers')).toBe(exposed);
  });

  it('cannot tell an unknown domain from one without a list', async () => {
    const answers = async (domainId: string) => {
      const attempts = [
        await preflight(domainId, 'https://shop.example'),
        await record('https://shop.example', { domainId, apiKey: 'x' }),
      ];
      return attempts.map(({ status, headers, body }) => {
        const rest = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
        return { status, headers: rest, code: body.code };
      });
    };
    expect(await answers('dom_unknown')).toEqual(await answers(stack.domainId));
  });

  it('cannot read what only a token opens', async () => {
    const { headers } = await request<ProblemAnswer>(stack.api.baseUrl, '/v1/organization', {
      headers: { origin: 'https://shop.example' },
    });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it.each(['dom_unknown', '%00', 'not%20a%20domain', 'x'.repeat(65)])(
    'a preflight for %s is no failure',
    async (domainId) => {
      expect((await preflight(domainId, 'https://shop.example')).status).toBeLessThan(500);
    },
  );
});
