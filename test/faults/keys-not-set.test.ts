import { describe, expect, it } from 'vitest';
import { persist } from '#libs/record/persist/persist';
import { type ProblemAnswer, request, tokenFor } from '../support/client.ts';
import { expectProblem } from '../support/problems.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const [{ url, db }, redis] = await Promise.all([openDatabase(), openRedisServer({ maxmemory: '0' })]);
const env = { DATABASE_URL: url, REDIS_URL: redis.url, PRIVACY_KEY: '', SECRETS_KEY: '' };

describe('a Redis without maxmemory, and keys that are not set', () => {
  it.each([
    ['an API', startApi],
    ['a worker', startWorker],
  ])('leave %s ready, with a warning of Redis there, and of each in the log', async (_, start) => {
    const service = await start(env);
    const warnings = [expect.stringContaining('no maxmemory')];
    await eventually(async () => {
      const response = await fetch(`${service.opsUrl}/readyz`);
      const answer = { ready: true, postgres: true, redis: true, warnings };
      expect([response.status, await response.json()]).toEqual([200, answer]);
    });
    expect(await service.logged('redis_settings')).toMatchObject({ level: 'warn', warnings });
    for (const event of ['no_privacy_key', 'no_secrets_key'])
      expect(await service.logged(event)).toMatchObject({ level: 'warn' });
  });

  it('make a request that needs one of them a 503 of its own, which is no fault and that nobody sends again', async () => {
    const api = await startApi(env);
    const { organizationId, domainIds } = await makeTenant(db);
    const domain = `/v1/consent/${at(domainIds, 0)}`;
    const record = recordAt(Date.now(), { domainId: at(domainIds, 0) });
    await persist(db, [record]);
    const authorization = `Bearer ${tokenFor(organizationId, { scope: 'read privacy manage' })}`;
    const visitor = '{"visitorId":"v"}';
    for (const [key, path, body] of [
      ['PRIVACY_KEY', '/v1/organization/visitors/lookup', visitor],
      ['PRIVACY_KEY', `${domain}/visitors/erase`, visitor],
      ['PRIVACY_KEY', '/v1/organization/acts/lookup', visitor],
      ['SECRETS_KEY', '/v1/organization/webhooks', '{"url":"https://receiver.example/","types":["limit.reached"]}'],
      ['LOG_KEY', `${domain}/records/${record.id}/proof`],
      ['LOG_KEY', `${domain}/log/entries/0/proof`],
    ] as const) {
      const answer = await request<ProblemAnswer>(api.baseUrl, path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        body: body ?? null,
      });
      expectProblem(answer, 503, 'not_configured');
      expect(answer.body.detail).toContain(`no ${key}`);
      expect(answer.headers.has('retry-after')).toBe(false);
    }
    const metrics = await (await fetch(`${api.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(/status="503"/);
    expect(metrics).toMatch(/^assent_http_faults_total 0$/m);
  });
});
