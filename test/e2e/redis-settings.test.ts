import { beforeAll, describe, expect, it } from 'vitest';
import { startApi, startApiProcess, startWorker, type Worker } from '../support/service.ts';
import { openDatabase, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

describe('a Redis without maxmemory', () => {
  let env: { DATABASE_URL: string; REDIS_URL: string };

  beforeAll(async () => {
    const [{ url }, redis] = await Promise.all([openDatabase(), openRedisServer({ maxmemory: '0' })]);
    env = { DATABASE_URL: url, REDIS_URL: redis.url };
  });

  const warnings = [expect.stringContaining('no maxmemory')];
  const start: Record<string, () => Promise<Worker>> = {
    'an API': () => startApi(env),
    'a worker': () => startWorker(env),
  };

  it.each(Object.keys(start))('leaves %s ready, with a warning there and once in the log', async (name) => {
    const service = await start[name]?.();
    if (!service) throw new Error(name);
    await eventually(async () => {
      const response = await fetch(`${service.opsUrl}/readyz`);
      const body = await response.json();
      expect([response.status, body]).toEqual([200, { ready: true, postgres: true, redis: true, warnings }]);
    });
    expect(await service.logged('redis_settings')).toMatchObject({ level: 'warn', warnings });
    await service.stop();
    expect(service.events('redis_settings')).toHaveLength(1);
  });

  it('leaves an API of several processes ready, with a warning', async () => {
    const { opsUrl } = await startApiProcess({ ...env, WEB_CONCURRENCY: '2' });
    await eventually(async () => {
      const response = await fetch(`${opsUrl}/readyz`);
      expect([response.status, await response.json()]).toEqual([
        200,
        { ready: true, processes: 2, postgres: true, redis: true, warnings },
      ]);
    });
  });
});
