import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem } from '../support/problems.ts';
import { at, type Stack, useStackWithApi } from '../support/stack.ts';

const perMinute = 3;

describe(`with ${perMinute} records a minute from one address`, () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStackWithApi({
      tenant: { domains: 3 },
      env: { RECORD_RATE_PER_MINUTE: String(perMinute) },
    });
  });

  const record = (domain: number, headers: Record<string, string> = {}, body: unknown = { decision: 'custom' }) =>
    stack.client.record(at(stack.tenant.domainIds, domain), at(stack.tenant.apiKeys, domain), body, headers);

  it('the fourth is rate_limited, and its answer says of what and until when', async () => {
    for (let count = 0; count < perMinute; count += 1) expect((await record(0)).status).toBe(202);
    const refused = await record(0);
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers.get('ratelimit-policy')).toBe('"record";q=3;w=60');
    const [, seconds] = /^"record";r=0;t=(\d+)$/.exec(refused.headers.get('ratelimit') ?? '') ?? [];
    expect(refused.headers.get('retry-after')).toBe(seconds);
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual(60);
  });

  it('another domain is not concerned, and reads are not', async () => {
    expect((await record(1)).status).toBe(202);
    for (let count = 0; count <= perMinute; count += 1) expect((await stack.client.organization()).status).toBe(200);
  });

  it('a forged X-Forwarded-For does not make another address, and a page can read the refusal', async () => {
    const statuses = [];
    for (let count = 0; count <= perMinute; count += 1) {
      const answer = await record(2, { 'x-forwarded-for': `203.0.113.${count}`, origin: 'https://shop.example' });
      statuses.push(answer.status);
      if (answer.status !== 429) continue;
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toBe(
        'Retry-After, RateLimit, RateLimit-Policy, X-Request-Id',
      );
    }
    expect(statuses).toEqual([202, 202, 202, 429]);
  });
});
