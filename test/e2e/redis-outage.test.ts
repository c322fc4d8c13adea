import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { startRedis } from '../../scripts/stack/redis.ts';
import { type Client, createClient } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { type OwnStack, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const today = dayOf(Date.now());
const thisDay = `from=${today}&to=${addDays(today, 1)}`;

describe('while Redis is away', () => {
  let stack: OwnStack;
  let client: Client;
  const acknowledged: string[] = [];

  beforeAll(async () => {
    stack = await startStack();
    ({ client } = stack);
    await eventually(() => record('accept_all', 'queued'));
    await untilCounted('redis', acknowledged.length);
  });

  const record = async (decision: string, status: string) => {
    const answer = await client.record(stack.domainId, stack.apiKey, { decision });
    if (answer.status === 202) acknowledged.push(answer.body.id);
    expect({ code: answer.status, status: answer.body.status }).toEqual({ code: 202, status });
    return answer.body.id;
  };
  const untilCounted = (source: string, total: number) =>
    eventually(async () => {
      const { body, headers } = await client.stats(stack.domainId, thisDay);
      expect({ source: headers.get('x-stats-source'), total: body.total }).toEqual({ source, total });
      return body;
    });

  it('records are persisted, reads come from Postgres, and afterwards from Redis with the same numbers', async () => {
    await stack.redis.stop();
    const ids = [];
    // the first may be the one that finds out
    for (const decision of ['reject_all', 'custom', 'withdraw']) ids.push(await record(decision, 'persisted'));

    const all = acknowledged.length;
    const away = await untilCounted('postgres', all);
    expect(away.breakdown).toEqual({ accept_all: all - 3, reject_all: 1, custom: 1, withdraw: 1 });
    const { body: log } = await client.records(stack.domainId);
    expect(ids.every((id) => log.records.some((each) => each.id === id))).toBe(true);
    const { body: overview, headers } = await client.orgStats();
    expect(overview).toMatchObject({ total: all, recordsTotal: all });
    expect(headers.get('x-stats-source')).toBe('postgres');

    const { port, logFile } = stack.redis;
    const again = await startRedis({ dataDir: path.dirname(logFile), port });
    try {
      const back = await untilCounted('redis', all);
      expect(back).toEqual(away);
      await eventually(() => record('custom', 'queued'));
      await eventually(async () => {
        const { body } = await client.stats(stack.domainId, thisDay);
        expect(body.total).toBeGreaterThan(all);
      });
    } finally {
      await again.stop();
    }
  });

  it('an API that starts without it serves', async () => {
    const api = await startApi({ ...stack.env, REDIS_URL: 'redis://127.0.0.1:1' });
    const fresh = createClient(api.baseUrl, stack.tenant);
    const { status, body } = await fresh.record(stack.domainId, stack.apiKey, { decision: 'custom' });
    expect({ status, how: body.status }).toEqual({ status: 202, how: 'persisted' });
    const { body: log } = await fresh.records(stack.domainId);
    expect(log.records.map(({ id }) => id)).toContain(body.id);
    expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(200);
  });
});
