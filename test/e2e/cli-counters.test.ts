import { describe, expect, it } from 'vitest';
import { dayOf, monthOf } from '#libs/contract/calendar';
import { counterField, counterKey } from '#libs/counters/keys';
import { persist } from '#libs/store/records/persist';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { at, openStores } from '../support/stack.ts';
import { makeTenant, openRedis } from '../support/stores.ts';

const now = Date.now();
const day = dayOf(now);
const month = monthOf(now);

const stores = await openStores();
const { env } = stores;
const cli = createCli(env);
const tenant = await makeTenant(stores.db);
const domainId = at(tenant.domainIds, 0);
const redis = await openRedis(env.REDIS_URL);
const decisions = ['accept_all', 'accept_all', 'reject_all', 'custom', 'withdraw'] as const;
await persist(
  stores.db,
  decisions.map((decision) => recordAt(now, { domainId, decision })),
);
expect(await cli.json('counters', 'rebuild')).toEqual({ rebuilt: 1 });

describe('counters by the command line', () => {
  const right = { accept_all: 2, reject_all: 1, custom: 1, withdraw: 1 };
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run('counters', 'check', ...args, '--json');
    expect(stderr).toBe('');
    return { code, result: JSON.parse(stdout) as { checked: number; differences: object[] } };
  };
  const set = (period: string, value: string) =>
    redis.client.hset(counterKey(tenant.organizationId, domainId, period), counterField(period), value);

  it('check finds nothing where nothing is wrong: a day and a month, of the domain and of the organization', async () => {
    expect(await check()).toEqual({ code: 0, result: { checked: 4, differences: [] } });
  });

  it.each([
    ['too high', '2 1 9 1', { custom: 9 }],
    ['too low', '2 0 1 1', { reject_all: 0 }],
  ])('check exits 1 for a count that is %s, and rebuild mends it', async (_, value, wrong) => {
    await set(day, value);
    const { code, result } = await check();
    expect(code).toBe(1);
    expect(result.checked).toBe(4);
    expect(result.differences).toEqual([
      { organizationId: tenant.organizationId, domainId, period: day, redis: { ...right, ...wrong }, postgres: right },
    ]);
    expect(await cli.json('counters', 'rebuild', '--org', tenant.organizationId)).toEqual({ rebuilt: 1 });
    expect(await check('--org', tenant.organizationId)).toEqual({ code: 0, result: { checked: 4, differences: [] } });
  });

  it('check finds a counter that Postgres does not have, and rebuild drops it', async () => {
    await set('2026-01', '0 0 0 7');
    await redis.client.sadd(
      `assent:{${tenant.organizationId}}:keys`,
      counterKey(tenant.organizationId, domainId, month),
    );
    expect((await check()).result.differences).toMatchObject([{ domainId, period: '2026-01', redis: { withdraw: 7 } }]);
    await cli.json('counters', 'rebuild');
    expect((await check()).code).toBe(0);
  });

  it('for people, a difference is told too', async () => {
    await set(month, '3 1 1 1');
    const { code, stdout } = await cli.run('counters', 'check');
    expect(code).toBe(1);
    expect(stdout).toContain(month);
    await cli.run('counters', 'rebuild');
  });

  it('after a rebuild the API reads from Redis what Postgres holds', async () => {
    await cli.json('counters', 'rebuild');
    const { baseUrl } = await startApi(env);
    const { body, headers } = await createClient(baseUrl, tenant).stats(domainId, `from=${day}&to=${day}`);
    expect(headers.get('x-stats-source')).toBe('redis');
    expect(body.breakdown).toEqual(right);
  });
});
