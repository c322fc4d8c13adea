/** How a query is refused; the rules of each parameter are in test/base/parameters.unit.test.ts. */
import { describe, expect, it } from 'vitest';
import type { ProblemAnswer } from '../support/client.ts';
import { expectBlame } from '../support/problems.ts';
import { useStack } from '../support/stack.ts';

const range = 'from=2026-01-01&to=2026-01-31';
const stats = '/v1/consent/:domainId/stats';
const records = '/v1/consent/:domainId/records';

const stack = await useStack();

describe('query parameters', () => {
  const get = (path: string) => stack.client.get<ProblemAnswer>(path.replace(':domainId', stack.domainId));

  it.each<[string, string, ...string[]]>([
    [stats, `${range}&by=city`, '/by'],
    [stats, `${range}&by=country&interval=day`, '/by'],
    [stats, 'from=2023-03-01&to=2024-02-29&by=category'],
    [stats, 'from=2023-03-01&to=2024-03-01&by=country', '/by'],
    ['/v1/organization/stats', `${range}&by=country&domainId=x`, '/domainId'],
    [stats, `${range}&a/b~c=1`, '/a~1b~0c'],
    [stats, `?${range}`, '/?from', '/from'],
    ["/v1/consent/'or'1'='1/records", '', '/domainId'],
    [records, 'page=007&visitorId=%F0%9F%91%8B%20%26'],
    [records, 'page=0&limit=0', '/page', '/limit'],
    [records, 'page=1&page=2', '/page'],
    [records, `cursor=${'A'.repeat(48)}`, '/cursor'],
    [records, 'bot=1', '/bot'],
    ['/v1/consent/org-stats', range, '/from', '/to'],
    ['/v1/organization', '__proto__=1&__proto__=2', '/__proto__'],
  ])('%s?%s is refused by name, where something is wrong', async (path, query, ...blamed) => {
    const refused = await get(`${path}?${query}`);
    if (blamed.length === 0) return expect(refused.status).toBe(200);
    expectBlame(refused, ...blamed);
    for (const { path: blamed, in: place } of refused.body.errors ?? [])
      expect(place).toBe(blamed === '/domainId' && path.includes("'or'") ? 'path' : 'query');
  });

  it('more than 32 parameters are refused as such, and each of the first is named', async () => {
    const names = Array.from({ length: 33 }, (_, n) => `n${n}`);
    const named = names.slice(0, 32).map((name) => `/${name}`);
    expectBlame(await get(`/v1/organization?${names.slice(0, 32).join('&')}`), ...named);
    expectBlame(await get(`/v1/organization?${names.join('&')}`), '', ...named);
    expectBlame(await get(`/v1/organization?${'a&'.repeat(7_500)}`), '', '/a');
  });
});
