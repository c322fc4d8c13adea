/** Which requests count together, and what a limit refuses; how many are admitted is shown in test/base/limiter.unit.test.ts. */
import { describe, expect, it } from 'vitest';
import { makeApiKey } from '#libs/tenants/tenants';
import { type Answer, type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { expectProblem } from '../support/problems.ts';
import { type Stack, useStackWithApi, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const perMinute = 5;
const times = (status: number, then: number) => [...Array(perMinute).fill(status), then];

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
  const [, seconds] = new RegExp(`^"${policy}";r=0;t=([1-9]|[1-5]\\d|60)$`).exec(headers.get('ratelimit') ?? '') ?? [];
  expect(headers.get('retry-after')).toBe(seconds);
};

holdTheMinute();
const limit = String(perMinute);
const limits = {
  RECORD_RATE_PER_MINUTE: limit,
  READ_RATE_PER_MINUTE: limit,
  FAILURE_RATE_PER_MINUTE: limit,
  CHANGE_RATE_PER_MINUTE: '120',
};
const stack = await useStackWithApi({ env: { ...limits, TRUSTED_PROXY_HOPS: '1' } });

describe(`with ${perMinute} of each a minute`, () => {
  const record = (address: string, apiKey = stack.apiKey, headers: Record<string, string> = {}, of = stack) =>
    stack.client.record(
      of.domainId,
      apiKey,
      { decision: 'custom' },
      { 'x-forwarded-for': address, 'x-request-id': 'same', ...headers },
    );
  /** Although its address has failed too often. A process that hears late of the key's creation forgets it once more. */
  const expectKnown = (address: string, { apiKey, domainId }: Stack = stack) =>
    eventually(async () => {
      expect((await record(nextAddress(), apiKey, {}, { ...stack, domainId })).status).toBe(202);
      expect((await record(address, apiKey, {}, { ...stack, domainId })).status).toBe(202);
    });
  const preflight = (domainId: string, address: string) =>
    request(stack.api.baseUrl, `/v1/consent/${domainId}/record`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'x-forwarded-for': address },
    });
  const tokenOf = (jti: string) => `Bearer ${tokenFor(stack.tenant.organizationId, { jti })}`;
  const read = (authorization: string, address = nextAddress(), path = '/v1/organization') =>
    request<ProblemAnswer>(stack.api.baseUrl, path, {
      headers: { ...(authorization && { authorization }), 'x-forwarded-for': address, 'x-request-id': 'same' },
    });
  /** One after the other: one more than the limit. */
  const statuses = async (attempt: (index: number) => Promise<Answer<unknown>>) => {
    const found: number[] = [];
    for (let index = 0; index <= perMinute; index += 1) found.push((await attempt(index)).status);
    return found;
  };

  it('records of one domain and client count together, even if it writes something before the part of the proxy', async () => {
    const address = nextAddress();
    expect(await statuses((index) => record(`198.51.100.${index}, ${address}`))).toEqual(times(202, 429));
    const limited = await record(`::ffff:${address}`, stack.apiKey, { origin: 'https://shop.example' });
    expectLimited(limited, 'record');
    // a page of another site can read it
    expect(limited.headers.get('access-control-allow-origin')).toBe('*');
    expect(limited.headers.get('access-control-expose-headers')).toContain('RateLimit, RateLimit-Policy');
    const own = await withOwnDomain(stack);
    expect((await record(address, own.apiKey, {}, own)).status).toBe(202);
  });

  it('records of one IPv6 network count together, broken ones too, and another network is not concerned', async () => {
    const broken = (index: number) =>
      stack.client.record(stack.domainId, stack.apiKey, '{', { 'x-forwarded-for': `2001:db8:1:2::${index}` });
    expect(await statuses(broken)).toEqual(times(400, 429));
    expect((await record('2001:db8:1:3::1')).status).toBe(202);
  });

  it('all reads count by token, from any address, and other tokens do not count', async () => {
    const paths = ['/v1/organization', '/v1/consent/org-stats', `/v1/consent/${stack.domainId}/records`];
    const one = tokenOf('one');
    const readAt = (index: number) => read(one, nextAddress(), paths[index % paths.length]);
    expect(await statuses(readAt)).toEqual(times(200, 429));
    for (const path of paths) expectLimited(await read(one, nextAddress(), path), 'read');
    expect((await read(tokenOf('other'))).status).toBe(200);
  });

  it('every response to a token shows what is left of each limit that counts it, and no failed one does', async () => {
    const left = ({ headers }: Answer<unknown>) => headers.get('ratelimit')?.replaceAll(/t=\d+/g, 't=…');
    const token = tokenOf('told');
    const first = await read(token);
    expect([first.status, left(first), first.headers.get('ratelimit-policy')]).toEqual([
      ...[200, '"read";r=4;t=…', '"read";q=5;w=60'],
    ]);
    const refused = await read(token, nextAddress(), '/v1/organization/domains');
    expect([refused.status, left(refused)]).toEqual([403, '"read";r=3;t=…']);
    const manage = tokenFor(stack.tenant.organizationId, { jti: 'manager', scope: 'manage' });
    const changed = await request(stack.api.baseUrl, '/v1/organization/domains', {
      method: 'POST',
      headers: { authorization: `Bearer ${manage}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([changed.status, left(changed)]).toEqual([400, '"read";r=4;t=…, "change";r=119;t=…']);
    expect(left(await read('Bearer nonsense'))).toBeUndefined();
    expect(left(await record(nextAddress()))).toBeUndefined();
  });

  describe('failed keys', () => {
    it('are refused up to the limit, then limited; keys that are known go on', async () => {
      const address = nextAddress();
      expect(await statuses(() => record(address, makeApiKey()))).toEqual(times(401, 429));
      expectLimited(await record(address, makeApiKey()), 'failed-key');
      expectLimited(await record(address, 'malformed'), 'failed-key');
      await expectKnown(address);
    });

    it('past the limit nothing is looked up: neither a key that is right and not known, nor a domain', async () => {
      const address = nextAddress();
      await statuses(() => record(address, makeApiKey()));
      const own = await withOwnDomain(stack, ['https://listed.example']);
      const allowedFor = async (from: string) =>
        (await preflight(own.domainId, from)).headers.get('access-control-allow-origin');
      expect(await allowedFor(address)).toBe('*');
      expectLimited(await record(address, own.apiKey, {}, own), 'failed-key');
      // the process remembers a key only if nothing changed while it was looked up
      await expectKnown(address, own);
      await eventually(async () => {
        expect(await allowedFor(nextAddress())).toBeNull();
        expect(await allowedFor(address)).toBeNull();
      });
    });

    it.each([
      ['do not exist', (index: number) => `dom_${index}`],
      ['cannot exist', () => '%00'],
    ])('preflights for domains that %s count as guesses, and are answered as ever', async (_, idOf) => {
      const address = nextAddress();
      expect(await statuses((index) => preflight(idOf(index), address))).toEqual(times(204, 204));
      expectLimited(await record(address, makeApiKey()), 'failed-key');
    });

    it('that can be none have a limit of their own and leave the others theirs', async () => {
      const address = nextAddress();
      expect(await statuses(() => record(address, 'malformed'))).toEqual(times(401, 429));
      expect((await record(address, makeApiKey())).status).toBe(401);
    });

    it('of one IPv6 network that come at once are shown no more often than those that come one by one', async () => {
      const attempts = Array.from({ length: 4 * perMinute }, (_, n) => record(`2001:db8:7:8::${n}`, makeApiKey()));
      const responses = await Promise.all(attempts);
      expect(responses.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(perMinute);
    });
  });

  describe('failed tokens', () => {
    it.each<[string, () => string]>([
      [
        'that are forged',
        () => `Bearer ${tokenFor(stack.tenant.organizationId, {}, 'another secret of thirty-two bytes')}`,
      ],
      ['of unknown organizations', () => `Bearer ${tokenFor('org_unknown')}`],
    ])('%s are limited, and then no new one is tried any more; records go on', async (_, authorization) => {
      const address = nextAddress();
      const known = tokenOf(`known ${address}`);
      expect((await read(known, address)).status).toBe(200);
      expect(await statuses(() => read(authorization(), address))).toEqual(times(401, 429));
      expectLimited(await read(tokenOf(address), address), 'failed-token');
      expect((await read(known, address)).status).toBe(200);
      // nearly the same is another one
      expectLimited(await read(known.slice(0, -2), address), 'failed-token');
      expect((await record(address)).status).toBe(202);
    });

    it('a request without one is no guess', async () => {
      const address = nextAddress();
      expect(await statuses(() => read('', address))).toEqual(times(401, 401));
    });
  });
});
