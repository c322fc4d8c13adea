import { beforeAll, describe, expect, it } from 'vitest';
import type { ProblemAnswer } from '../support/client.ts';
import { expectBlame } from '../support/problems.ts';
import { type Stack, useStack } from '../support/stack.ts';

const range = 'from=2026-01-01&to=2026-01-31';

describe('query parameters', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await useStack();
  });

  const get = (path: string) => stack.client.get<ProblemAnswer>(path.replace(':domainId', stack.domainId));
  /** how long the API has computed so far: others on the machine make it wait, not compute */
  const busySeconds = async () => {
    const metrics = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
    return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);
  };
  const stats = '/v1/consent/:domainId/stats';
  const records = '/v1/consent/:domainId/records';
  const orgStats = '/v1/consent/org-stats';

  it.each([
    [stats, range],
    [stats, 'from=2024-02-29&to=2024-02-29'],
    [stats, 'from=2000-01-01&to=2100-12-31'],
    [stats, 'from=2023-03-01&to=2024-02-29&interval=day'],
    [stats, 'from=2011-01-15&to=2020-12-15&interval=month'],
    [stats, 'from=2023-03-01&to=2024-02-29&by=category'],
    ['/v1/organization/stats', `${range}&by=country`],
    [records, ''],
    [records, 'page=1&limit=1'],
    [records, 'page=1000000000&limit=200'],
    [records, 'page=007'],
    [records, `${range}&decision=custom&visitorId=v`],
    [records, 'from=2026-01-01'],
    [records, 'to=2026-01-01'],
    [records, `visitorId=${'v'.repeat(128)}`],
    [records, 'visitorId=%F0%9F%91%8B%20%26'],
    [orgStats, 'limit=1'],
    [orgStats, 'limit=1000'],
  ])('%s?%s is fine', async (path, query) => {
    expect((await get(`${path}?${query}`)).status).toBe(200);
  });

  it.each<[string, string, ...string[]]>([
    [stats, '', '/from', '/to'],
    [stats, 'from=2026-01-01', '/to'],
    [stats, 'to=2026-01-01', '/from'],
    [stats, 'from=&to=', '/from', '/to'],
    [stats, 'from=2026-02-30&to=2026-03-01', '/from'],
    [stats, 'from=2026-01-01&to=2026-02-29', '/to'],
    [stats, 'from=2026-1-1&to=2026-01-31', '/from'],
    [stats, 'from=2026-01-01T00:00:00Z&to=2026-01-31', '/from'],
    [stats, 'from=%202026-01-01&to=2026-01-31', '/from'],
    [stats, 'from=yesterday&to=today', '/from', '/to'],
    [stats, 'from=2026-02-01&to=2026-01-31', '/from'],
    [stats, 'from=1999-12-31&to=2026-01-31', '/from'],
    [stats, 'from=2026-01-01&to=2101-01-01', '/to'],
    [stats, 'from=0000-00-00&to=9999-99-99', '/from', '/to'],
    [stats, `${range}&from=2026-01-02`, '/from'],
    [stats, `${range}&to=2026-01-30`, '/to'],
    [stats, `${range}&interval=week`, '/interval'],
    [stats, `${range}&interval=`, '/interval'],
    [stats, `${range}&interval=day&interval=month`, '/interval'],
    [stats, 'from=2023-03-01&to=2024-03-01&interval=day', '/interval'],
    [stats, 'from=2011-01-31&to=2021-01-01&interval=month', '/interval'],
    [stats, `${range}&by=city`, '/by'],
    [stats, `${range}&by=`, '/by'],
    [stats, `${range}&by=country&by=country`, '/by'],
    [stats, `${range}&by=country&interval=day`, '/by'],
    [stats, 'from=2023-03-01&to=2024-03-01&by=country', '/by'],
    ['/v1/organization/stats', 'from=2026-01-01&by=country', '/to'],
    ['/v1/organization/stats', `${range}&by=country&domainId=x`, '/domainId'],
    [stats, `${range}&fromm=x`, '/fromm'],
    [stats, `${range}&From=2026-01-01`, '/From'],
    [stats, `${range}&a/b~c=1`, '/a~1b~0c'],
    [stats, `${range}&constructor=1`, '/constructor'],
    ['/v1/consent/bad%20domain/stats', range, '/domainId'],
    ['/v1/consent/%00/stats', range, '/domainId'],
    [`/v1/consent/${'x'.repeat(65)}/stats`, range, '/domainId'],
    ["/v1/consent/'or'1'='1/records", '', '/domainId'],
    [records, 'page=0', '/page'],
    [records, 'page=-1', '/page'],
    [records, 'page=abc', '/page'],
    [records, 'page=1.5', '/page'],
    [records, 'page=1e3', '/page'],
    [records, 'page=', '/page'],
    [records, 'page=1000000001', '/page'],
    [records, 'page=99999999999999999999', '/page'],
    [records, 'page=1&page=2', '/page'],
    [records, 'page[]=1', '/page[]'],
    [records, 'limit=0', '/limit'],
    [records, 'limit=201', '/limit'],
    [records, 'limit=100000', '/limit'],
    [records, 'limit=Infinity', '/limit'],
    [records, 'page=0&limit=0', '/page', '/limit'],
    [records, 'decision=accept', '/decision'],
    [records, 'decision=custom,withdraw', '/decision'],
    [records, 'from=2026-02-30', '/from'],
    [records, 'from=2026-02-02&to=2026-02-01', '/from'],
    [records, 'visitorId=', '/visitorId'],
    [records, `visitorId=${'v'.repeat(129)}`, '/visitorId'],
    [records, 'visitorId=%00', '/visitorId'],
    [records, 'visitorId=a&visitorId=b', '/visitorId'],
    [records, 'cursor=', '/cursor'],
    [records, 'cursor=x', '/cursor'],
    [records, `cursor=${'A'.repeat(48)}`, '/cursor'],
    [records, `cursor=${'A'.repeat(200)}`, '/cursor'],
    [records, 'visitor=v', '/visitor'],
    [orgStats, 'limit=0', '/limit'],
    [orgStats, 'limit=1001', '/limit'],
    [orgStats, 'page=1', '/page'],
    [orgStats, range, '/from', '/to'],
    ['/v1/organization', 'x=1', '/x'],
    ['/v1/organization', 'x=1&x=2', '/x'],
    ['/v1/organization', '__proto__=1&__proto__=2', '/__proto__'],
    [stats, `?${range}`, '/?from', '/from'],
  ])('%s?%s is refused by name, and the next request works', async (path, query, ...blamed) => {
    expectBlame(await get(`${path}?${query}`), ...blamed);
    expect((await stack.client.organization()).status).toBe(200);
  });

  it('a name given thousands of times is refused at once, and keeps nobody waiting', async () => {
    expect((await stack.client.organization()).status).toBe(200);
    const before = await busySeconds();
    const flood = get(`/v1/organization?${'a&'.repeat(7_500)}`);
    const probe = stack.client.organization();
    const [refused, { status }] = await Promise.all([flood, probe]);
    expect((await busySeconds()) - before).toBeLessThan(0.3);
    expectBlame(refused, '', '/a');
    expect(status).toBe(200);
  });

  it('more than 32 parameters are refused as such, and each of the first is named', async () => {
    const names = Array.from({ length: 33 }, (_, n) => `n${n}`);
    const named = names.slice(0, 32).map((name) => `/${name}`);
    expectBlame(await get(`/v1/organization?${names.slice(0, 32).join('&')}`), ...named);
    expectBlame(await get(`/v1/organization?${names.join('&')}`), '', ...named);
  });

  it('a page and a cursor together are refused', async () => {
    expectBlame(await get(`${records}?page=1&cursor=x`), '/cursor');
  });
});
