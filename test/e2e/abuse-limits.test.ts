import { beforeAll, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/store/tenants/administration';
import { makeApiKey } from '#libs/store/tenants/tenants';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { at, type Stack, useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const perMinute = 5;

/** Every attempt comes from an address of its own, unless a test says otherwise. */
let addresses = 0;
const nextAddress = () => {
  addresses += 1;
  return `198.18.${addresses >> 8}.${addresses & 255}`;
};

const expectLimited = (answer: Answer<ProblemAnswer>, policy: string) => {
  expectProblem(answer, 429, 'rate_limited');
  const { headers } = answer;
  expect(headers.get('ratelimit-policy')).toBe(`"${policy}";q=${perMinute};w=60`);
  expect(headers.get('ratelimit')).toMatch(new RegExp(`^"${policy}";r=0;t=([1-9]|[1-5]\\d|60)$`));
  expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
};

describe(`with ${perMinute} of each a minute`, () => {
  let stack: Stack;

  beforeAll(async () => {
    const limit = String(perMinute);
    stack = await useStackWithApi({
      env: {
        RECORD_RATE_PER_MINUTE: limit,
        READ_RATE_PER_MINUTE: limit,
        FAILURE_RATE_PER_MINUTE: limit,
        TRUSTED_PROXY_HOPS: '1',
      },
    });
  });

  const record = (address: string, apiKey = stack.apiKey, headers: Record<string, string> = {}) =>
    stack.client.record(
      stack.domainId,
      apiKey,
      { decision: 'custom' },
      { 'x-forwarded-for': address, 'x-request-id': 'same', ...headers },
    );
  /** Although its address has failed too often. A process that hears late of the key's creation forgets it once more. */
  const expectKnown = (address: string) =>
    eventually(async () => {
      expect((await record(nextAddress())).status).toBe(202);
      expect((await record(address)).status).toBe(202);
    });
  const read = (
    authorization: string,
    address = nextAddress(),
    path = '/v1/organization',
  ): Promise<Answer<ProblemAnswer>> =>
    request(stack.api.baseUrl, path, {
      headers: { authorization, 'x-forwarded-for': address, 'x-request-id': 'same' },
    });
  const statuses = async (attempt: (index: number) => Promise<Answer<unknown>>, count = perMinute + 1) => {
    const found: number[] = [];
    for (let index = 0; index < count; index += 1) found.push((await attempt(index)).status);
    return found;
  };
  const times = (status: number, then: number) => [...Array(perMinute).fill(status), then];

  describe('records', () => {
    it('of one IPv6 network count together, and another network is not concerned', async () => {
      expect(await statuses((index) => record(`2001:db8:1:2::${index}`))).toEqual(times(202, 429));
      expect((await record('2001:db8:1:3::1')).status).toBe(202);
    });

    it('of one client count together, whatever it writes before what the proxy appends', async () => {
      const address = nextAddress();
      expect(await statuses((index) => record(`198.51.100.${index}, ${address}`))).toEqual(times(202, 429));
      expect(
        await statuses((index) => record(`::ffff:${address}`, stack.apiKey, { forwarded: `for=${index}` }), 1),
      ).toEqual([429]);
    });

    it('that are broken count too', async () => {
      const address = nextAddress();
      const attempt = () => stack.client.record(stack.domainId, stack.apiKey, '{', { 'x-forwarded-for': address });
      expect(await statuses(attempt)).toEqual(times(400, 429));
    });
  });

  describe('reads', () => {
    it('count by token, from whatever address, and another token is not concerned', async () => {
      const [one, other] = [{ jti: 'one' }, { jti: 'other' }].map(
        (claims) => `Bearer ${tokenFor(stack.tenant.organizationId, claims)}`,
      );
      expect(await statuses(() => read(one ?? ''))).toEqual(times(200, 429));
      expectLimited(await read(one ?? ''), 'read');
      expect((await read(other ?? '')).status).toBe(200);
    });

    it('count together, whatever is read', async () => {
      const authorization = `Bearer ${tokenFor(stack.tenant.organizationId, { jti: 'every' })}`;
      const paths = [
        '/v1/organization',
        '/v1/consent/org-stats',
        `/v1/consent/${stack.domainId}/records`,
        `/v1/consent/${stack.domainId}/stats?from=2026-01-01&to=2026-01-31`,
      ];
      const readAt = (index: number) => read(authorization, nextAddress(), paths[index % paths.length]);
      expect(await statuses(readAt, perMinute)).toEqual(Array(perMinute).fill(200));
      for (const path of paths) expectLimited(await read(authorization, nextAddress(), path), 'read');
    });

    it('say nothing of what is left: what they answer tells no two reads apart', async () => {
      const { headers } = await read(`Bearer ${tokenFor(stack.tenant.organizationId, { jti: 'third' })}`);
      expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    });
  });

  describe('failed keys', () => {
    it('are refused alike up to the limit, then limited; keys that are known go on', async () => {
      const address = nextAddress();
      const refused = [];
      for (let index = 0; index < perMinute; index += 1) refused.push(await record(address, makeApiKey()));
      for (const answer of refused) expectProblem(answer, 401, 'invalid_api_key');
      const headers = refused.map((answer) => JSON.stringify([...answer.headers].filter(([name]) => name !== 'date')));
      expect(new Set(headers).size).toBe(1);
      expectLimited(await record(address, makeApiKey()), 'failed-key');
      expectLimited(await record(address, 'malformed'), 'failed-key');
      await expectKnown(address);
      expect((await record(nextAddress(), makeApiKey())).status).toBe(401);
    });

    it('past the limit nothing is looked up: a key that is right and not known is not found either', async () => {
      const address = nextAddress();
      await statuses(() => record(address, makeApiKey()));
      const admin = createAdministration(stack.db, 'test');
      const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'new', origins: [] });
      const { apiKey } = await admin.createKey(domainId);
      const attempt = (from: string) =>
        stack.client.record(domainId, apiKey, { decision: 'custom' }, { 'x-forwarded-for': from });
      expectLimited(await attempt(address), 'failed-key');
      // the process remembers a key only if nothing changed while it was looked up
      await eventually(async () => {
        expect((await attempt(nextAddress())).status).toBe(202);
        expect((await attempt(address)).status).toBe(202);
      });
    });

    it.each([
      ['do not exist', (index: number) => `dom_${index}`],
      ['cannot exist', () => '%00'],
    ])('preflights for domains that %s count as guesses, and are answered as ever', async (_, idOf) => {
      const address = nextAddress();
      const preflight = (domainId: string) =>
        request(stack.api.baseUrl, `/v1/consent/${domainId}/record`, {
          method: 'OPTIONS',
          headers: { origin: 'https://shop.example', 'x-forwarded-for': address },
        });
      expect(await statuses((index) => preflight(idOf(index)))).toEqual(times(204, 204));
      expectLimited(await record(address, makeApiKey()), 'failed-key');
      await expectKnown(address);
    });

    it('past the limit a preflight looks up no domain either, and knows those that are known', async () => {
      const address = nextAddress();
      await statuses(() => record(address, makeApiKey()));
      const admin = createAdministration(stack.db, 'test');
      const { domainId } = await admin.createDomain(stack.tenant.organizationId, {
        name: 'listed',
        origins: ['https://listed.example'],
      });
      const allowedFor = async (from: string) => {
        const { headers } = await request(stack.api.baseUrl, `/v1/consent/${domainId}/record`, {
          method: 'OPTIONS',
          headers: { origin: 'https://shop.example', 'x-forwarded-for': from },
        });
        return headers.get('access-control-allow-origin');
      };
      expect(await allowedFor(address)).toBe('*');
      // what was seen of the change must be over, or the answer is not kept
      await eventually(async () => {
        expect(await allowedFor(nextAddress())).toBeNull();
        expect(await allowedFor(address)).toBeNull();
      });
    });

    it('that can be none have a limit of their own and leave the others theirs', async () => {
      const address = nextAddress();
      expect(await statuses(() => record(address, 'malformed'))).toEqual(times(401, 429));
      expect((await record(address, makeApiKey())).status).toBe(401);
      const admin = createAdministration(stack.db, 'test');
      const { apiKey } = await admin.createKey(stack.domainId);
      expect((await record(address, apiKey)).status).toBe(202);
    });

    it('that come at once are told no more often than those that come one by one', async () => {
      const address = nextAddress();
      const answers = await Promise.all(Array.from({ length: 4 * perMinute }, () => record(address, makeApiKey())));
      expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(perMinute);
    });

    it('of an IPv6 network count together', async () => {
      expect(await statuses((index) => record(`2001:db8:7:8::${index}`, makeApiKey()))).toEqual(times(401, 429));
    });
  });

  describe('failed tokens', () => {
    it.each<[string, () => string]>([
      [
        'that are forged',
        () => `Bearer ${tokenFor(stack.tenant.organizationId, {}, 'another secret of thirty-two bytes')}`,
      ],
      ['of unknown organizations', () => `Bearer ${tokenFor('org_unknown')}`],
      ['that are none', () => 'Bearer x'],
    ])('%s are limited, and then none is tried any more', async (_, authorization) => {
      const address = nextAddress();
      const own = `Bearer ${tokenFor(stack.tenant.organizationId, { jti: address })}`;
      expect(await statuses(() => read(authorization(), address))).toEqual(times(401, 429));
      expectLimited(await read(own, address), 'failed-token');
      expect((await read(own)).status).toBe(200);
    });

    it('do not lock out a token behind the same address that was found good before', async () => {
      const address = nextAddress();
      const own = `Bearer ${tokenFor(stack.tenant.organizationId, { jti: address })}`;
      expect((await read(own, address)).status).toBe(200);
      expect(await statuses(() => read('Bearer x', address))).toEqual(times(401, 429));
      expect((await read(own, address)).status).toBe(200);
      // nearly the same is another one
      expectLimited(await read(own.slice(0, -2), address), 'failed-token');
    });

    it('do not keep the same address from recording', async () => {
      const address = nextAddress();
      await statuses(() => read('Bearer x', address));
      expect((await record(address)).status).toBe(202);
    });

    it('a request without one is no guess', async () => {
      const address = nextAddress();
      const attempt = () =>
        request<ProblemAnswer>(stack.api.baseUrl, '/v1/organization', { headers: { 'x-forwarded-for': address } });
      expect(await statuses(attempt)).toEqual(times(401, 401));
    });
  });

  it('a page of another site can read that it is limited', async () => {
    const address = nextAddress();
    await statuses(() => record(address, makeApiKey()));
    const { status, headers } = await record(address, makeApiKey(), { origin: 'https://shop.example' });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([429, '*']);
  });

  it('every domain of the organization has its own limit for records', async () => {
    const address = nextAddress();
    await statuses(() => record(address));
    const admin = createAdministration(stack.db, 'test');
    const { domainId } = await admin.createDomain(stack.tenant.organizationId, { name: 'second', origins: [] });
    const { apiKey } = await admin.createKey(domainId);
    const headers = { 'x-forwarded-for': address };
    expect((await stack.client.record(domainId, apiKey, { decision: 'custom' }, headers)).status).toBe(202);
    expect(at(await statuses(() => record(address), 1), 0)).toBe(429);
  });
});
