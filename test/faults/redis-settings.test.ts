import { describe, expect, it } from 'vitest';
import { startApi, startApiProcess, startWorker } from '../support/service.ts';
import { openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const [{ url }, redis] = await Promise.all([openDatabase(), openRedisServer({ maxmemory: '0' })]);
const env = { DATABASE_URL: url, REDIS_URL: redis.url, PRIVACY_KEY: '', SECRETS_KEY: '' };

describe('a Redis without maxmemory, and keys that are not set', () => {
  it.each([
    ['an API', () => startApi(env), {}],
    ['an API of several processes', () => startApiProcess({ ...env, WEB_CONCURRENCY: '2' }), { processes: 2 }],
    ['a worker', () => startWorker(env), {}],
  ])('leave %s ready, with a warning of Redis there, and of each in the log', async (_, start, more) => {
    const service = await start();
    const warnings = [expect.stringContaining('no maxmemory')];
    await eventually(async () => {
      const response = await fetch(`${service.opsUrl}/readyz`);
      const answer = { ready: true, ...more, postgres: true, redis: true, warnings };
      expect([response.status, await response.json()]).toEqual([200, answer]);
    });
    expect(await service.logged('redis_settings')).toMatchObject({ level: 'warn', warnings });
    for (const event of ['no_privacy_key', 'no_secrets_key'])
      expect(await service.logged(event)).toMatchObject({ level: 'warn' });
  });
});
