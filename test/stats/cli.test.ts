import { describe, expect, it } from 'vitest';
import { dayOf, monthOf } from '#libs/base/terms/calendar';
import { persist } from '#libs/record/persist/persist';
import { counterField, counterKey } from '#libs/stats/redis-counters';
import { createCli } from '../support/cli.ts';
import { recordAt } from '../support/records.ts';
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

it('statistics by the command line say why there is no group', async () => {
  const of = async (from: string) =>
    (await cli.run('stats', '--domain', domainId, '--from', from, '--to', from)).stdout.trim().split('\n').at(-1);
  expect([await of('2020-01-01'), await of(day)]).toEqual([
    'no decisions in these days',
    'no groups yet: groups leave out crawlers, and include new records only after a minute or so',
  ]);
});

describe('counters by the command line', () => {
  const right = { accept_all: 2, reject_all: 1, custom: 1, withdraw: 1 };
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run('counters', 'check', ...args, '--json');
    expect(stderr).toBe('');
    return { code, result: JSON.parse(stdout) as { checked: number; differences: object[] } };
  };
  const set = (period: string, value: string) =>
    redis.client.hset(counterKey(tenant.organizationId, domainId, period), counterField(period), value);

  it('check exits 1 where a count is wrong, by its level and period, and rebuild mends it', async () => {
    const sound = { code: 0, result: { checked: 4, differences: [] } };
    expect(await check()).toEqual(sound);
    const at = { organizationId: tenant.organizationId, domainId, period: day, postgres: right };
    await set(day, '2 1 9 1');
    const differences = [{ ...at, redis: { ...right, custom: 9 } }];
    expect(await check()).toEqual({ code: 1, result: { checked: 4, differences } });
    expect((await cli.run('counters', 'check')).stdout).toContain(day);
    expect(await cli.json('counters', 'rebuild', '--org', tenant.organizationId)).toEqual({ rebuilt: 1 });
    expect(await check('--org', tenant.organizationId)).toEqual(sound);
  });

  it('check finds a counter that Postgres does not have, and rebuild drops it', async () => {
    await set('2026-01', '0 0 0 7');
    const key = counterKey(tenant.organizationId, domainId, month);
    await redis.client.sadd(`assent:{${tenant.organizationId}}:keys`, key);
    expect((await check()).result.differences).toMatchObject([{ domainId, period: '2026-01', redis: { withdraw: 7 } }]);
    expect(await cli.json('counters', 'rebuild')).toEqual({ rebuilt: 1 });
    expect((await check()).code).toBe(0);
  });
});
