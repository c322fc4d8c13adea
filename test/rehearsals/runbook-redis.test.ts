/** Another Redis takes over under load, and an empty one takes the place of a lost one, by docs/runbooks.md. */
import { describe, expect, it } from 'vitest';
import { recallTombstones } from '#libs/privacy/tombstones-in-redis';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { countStored } from '../support/counts.ts';
import { restartRedis } from '../support/outage.ts';
import { startRolling } from '../support/rolling.ts';
import { openRunbook } from '../support/runbook.ts';
import { startWorkerProcess } from '../support/service.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { recordSteadily } from '../support/steady.ts';
import { makeTenant, openRedis, openRedisServer } from '../support/stores.ts';
import { eraseVisitor, untilRedisKnowsErased } from '../support/tombstones.ts';
import { eventually } from '../support/wait.ts';

/** milliseconds between two records */
const trickle = { every: 60 };

let stores = await openStores();
const tenant = await makeTenant(stores.db);
let env = { ...stores.env, ...sealSettings };
let [apis, worker, runbook] = await Promise.all([
  startRolling(tenant, env),
  startWorkerProcess(env),
  openRunbook('## Replace Redis'),
]);

describe('Redis', () => {
  const domainId = () => at(tenant.domainIds, 0);
  const site = () => ({ client: apis.client, domainId: domainId(), apiKey: at(tenant.apiKeys, 0) });
  const tombstones = async (REDIS_URL: string) =>
    (await createCli({ ...env, REDIS_URL }).run('visitor', 'tombstones')).stdout;

  it('is replaced by an empty one under load: nothing is refused, nothing is lost', async () => {
    const fresh = await openRedisServer();
    const next = { ...env, REDIS_URL: fresh.url };
    await apis.client.record(domainId(), at(tenant.apiKeys, 0), { decision: 'accept_all', visitorId: 'erased' });
    const steady = recordSteadily([site()], trickle);
    await steady.until('queued', 20);
    expect(await eraseVisitor(apis.next().baseUrl, tenant.organizationId, 'erased')).toBe(200);
    await untilRedisKnowsErased(stores.db);

    const newWorker = await startWorkerProcess(next);
    await apis.restart(next);
    await steady.until('queued', 20);
    await runbook.step('queue retry-failed', env);
    await worker.stop();
    await runbook.step('visitor tombstones', { ...env, NEW_REDIS_URL: fresh.url });
    expect(await tombstones(fresh.url)).toContain(tenant.organizationId);
    const recorded = await steady.stop();
    // all of it is stored, and nothing is in the old one
    const ids = recorded.map(({ id }) => id);
    await eventually(async () => expect(await countStored(stores.db, ids)).toBe(ids.length));
    const old = await openRedis(stores.redis.url);
    expect(await old.client.llen('assent:{record-0}:wait')).toBe(0);
    await runbook.step('counters rebuild', { ...env, NEW_REDIS_URL: fresh.url });
    [worker, env] = [newWorker, next];
    await stores.redis.stop();
    stores = { ...stores, redis: fresh };
  });

  it('is lost with all it had: what is there goes on, and is told of erasures again', async () => {
    const steady = recordSteadily([site()], trickle);
    await steady.until('queued', 20);
    await (await openRedis(stores.redis.url)).client.flushall();
    await stores.redis.stop();
    await steady.until('persisted', 5);
    await restartRedis(stores.redis);
    await steady.until('queued', 20);
    await steady.stop();
    // the worker tells it what Postgres knows
    const told = await openRedis(stores.redis.url);
    await eventually(async () => expect(await recallTombstones(told.client)).toHaveLength(1));
    await told.client.del('assent:erased');
    // and so does the command, before the file is read
    expect(await createCli(env).json('visitor', 'tombstones', '--to-redis')).toEqual({ tombstones: 1 });
    expect(await tombstones(stores.redis.url)).toContain(tenant.organizationId);
    await runbook.step('--to-redis', env);
    await eventually(async () => {
      const { headers } = await createClient(apis.next().baseUrl, tenant).stats(
        domainId(),
        'from=2026-01-01&to=2027-12-31',
      );
      expect(headers.get('x-stats-source')).toBe('redis');
    });
  });

  it('has no other command', () => {
    expect(runbook.left()).toEqual([]);
  });
});
