/** A Redis with a replica, which three sentinels promote; all with TLS and passwords. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
import { startRedisSentinels } from '../../scripts/stack/redis-sentinels.ts';
import { atEnd } from '../support/at-end.ts';
import { createCli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { startApiProcess, startWorkerProcess } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { type Recorded, recordSteadily } from '../support/steady.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const dataDir = mkdtempSync(path.join(inject('folder'), 'redis', 'sentinels-'));
// a master that was demoted without knowing it takes nothing: its replica has left it
const settings = { 'min-replicas-to-write': '1', 'min-replicas-max-lag': '10' };
const redis = await startRedisSentinels({ dataDir, settings });
atEnd(() => redis.stop());
const database = await openDatabase();
const env = { DATABASE_URL: database.url, ...redis.env };
const tenant = await makeTenant(database.db);
const [api] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
const client = createClient(api.baseUrl, tenant);
const site = { client, domainId: at(tenant.domainIds, 0), apiKey: at(tenant.apiKeys, 0) };

describe('with sentinels', () => {
  /** Every acknowledged record is stored once. */
  const expectStored = async (recorded: Recorded[]) => {
    const ids = recorded.map(({ id }) => id).toSorted();
    const stored = () =>
      database.db.run((sql) => sql<{ id: string }[]>`select id from records where id in ${sql(ids)} order by id`);
    await eventually(async () => expect((await stored()).map(({ id }) => id)).toEqual(ids), { within: 30_000 });
  };
  /** Redis has the count of all that are. */
  const expectCounted = async () => {
    const day = dayOf(Date.now());
    await eventually(
      async () => {
        const [row] = await database.db.run((sql) => sql<{ n: number }[]>`select count(*)::int as n from records`);
        const { body, headers } = await site.client.stats(
          site.domainId,
          `from=${addDays(day, -1)}&to=${addDays(day, 1)}`,
        );
        expect([body.total, headers.get('x-stats-source')]).toEqual([row?.n, 'redis']);
      },
      { within: 30_000 },
    );
  };

  it('a master that is killed is replaced; records go straight to Postgres meanwhile', async () => {
    const before = recordSteadily([site]);
    await before.until('queued', 20);
    // nothing is under way when the master dies: that alone may be lost
    await expectStored(await before.stop());
    const lost = await redis.findMaster();
    await lost?.kill();
    const steady = recordSteadily([site]);
    await steady.until('persisted', 20);
    await eventually(async () => expect(await redis.findMaster()).not.toBe(lost), { within: 20_000 });
    // the new master takes records only with a replica
    await lost?.start();
    await steady.until('queued', 20, 30_000);
    await expectStored(await steady.stop());
    await expectCounted();
    const { stdout } = await createCli(env).run('queue', 'status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ waiting: 0, failed: 0, shards: [{ shard: 0 }] });
  });

  it('a promotion in order loses nothing under load', async () => {
    await eventually(async () => expect(await redis.hasReplica()).toBe(true), { within: 20_000 });
    const steady = recordSteadily([site, site, site]);
    await steady.until('queued', 50);
    await redis.promote();
    // until the sentinels make a replica of the master before, the new one has none
    await steady.until('persisted', 20);
    await expectStored(await steady.stop());
  });
});
