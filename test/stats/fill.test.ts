import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RedisConnection } from '#libs/base/redis/connection';
import { spanOf } from '#libs/base/terms/calendar';
import { persist } from '#libs/record/persist/persist';
import { fill, isReady, type ListCounters } from '#libs/stats/redis/fill';
import { readCounters } from '#libs/stats/redis/read';
import { scripted } from '#libs/stats/redis-counters';
import { listerOf, packedPage, readSame } from '../support/counter-stores.ts';
import { storedCounters } from '../support/counts.ts';
import { restartRedis } from '../support/outage.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const untilConnected = (connection: RedisConnection, otherThan = '') =>
  eventually(() => {
    const runId = connection.runIdOf('');
    if (runId === undefined || runId === otherThan) throw new Error('Redis is not connected');
    return runId;
  });

const { db } = await openDatabase();
let server = await openRedisServer();
const connection = await openRedis(server.url);
const tenant = await makeTenant(db, { domains: 3 });
const { organizationId } = tenant;
// so that it takes two pages
const list = listerOf(db, organizationId, 100);
const days = Array.from({ length: 40 }, (_, index) => Date.parse('2023-06-15') + index * 86_400_000);
await persist(
  db,
  days.flatMap((time) => tenant.domainIds.map((domainId) => recordAt(time, { domainId }))),
);
let truth = await storedCounters(db, organizationId);
expect(truth.length).toBeGreaterThan(150);

describe('a fill', () => {
  beforeEach(() => connection.client.flushall());

  it('that died keeps others out for seconds only', async () => {
    const never = new Promise<never>(() => {});
    void fill(connection, organizationId, () => never);
    const key = `assent:{${organizationId}}:fill`;
    await eventually(async () => expect(await connection.client.pttl(key)).toBeGreaterThan(0));
    expect(await connection.client.pttl(key)).toBeLessThanOrEqual(10_000);
    expect(await fill(connection, organizationId, list)).toBe(false);
    // Redis' clock was ahead then
    await connection.client.set(key, 'of one that died', 'PX', 400 * 86_400_000);
    await fill(connection, organizationId, list);
    expect(await fill(connection, organizationId, list)).toBe(true);
  });

  const read = () => readSame(connection, organizationId, truth);

  it('makes Redis equal to Postgres, and only then readable', async () => {
    expect(await read()).toBeNull();
    const filled = await fill(connection, organizationId, async (after, limit) => {
      expect(await read()).toBeNull();
      return list(after, limit);
    });
    expect(filled).toBe(true);
    expect(await isReady(connection, organizationId)).toBe(true);
    expect(await read()).toEqual(truth);
  });

  it.each([
    ['before its first page', 1, 'before', 1],
    ['between its pages', 2, 'before', 2],
    ['once its last page is read', 2, 'after', 2],
    ['before its mark is set', 2, 'last', 2],
  ] as const)(
    'during which Redis is emptied %s reads no more and never leaves the mark',
    async (_, at, when, pages) => {
      const client = scripted(connection.client);
      const { assentReady } = client;
      if (when === 'last')
        vi.spyOn(client, 'assentReady').mockImplementationOnce(async (...given) => {
          await client.flushall();
          return assentReady.apply(client, given);
        });
      let asked = 0;
      const filled = await fill(connection, organizationId, async (after, limit) => {
        asked += 1;
        if (asked === at && when === 'before') await connection.client.flushall();
        const counters = await list(after, limit);
        if (asked === at && when === 'after') await connection.client.flushall();
        return counters;
      });
      expect(asked).toBe(pages);
      expect(filled).toBe(false);
      expect(await isReady(connection, organizationId)).toBe(false);
      expect(await read()).toBeNull();
      // and does not block another fill
      expect(await fill(connection, organizationId, list)).toBe(true);
      expect(await read()).toEqual(truth);
    },
  );

  it('that another fill overtook after a flush does not set the mark for it', async () => {
    let second: Promise<boolean> | undefined;
    let secondMayEnd = () => {};
    const gate = new Promise<void>((resolve) => {
      secondMayEnd = resolve;
    });
    const first = await fill(connection, organizationId, async (after, limit) => {
      if (!second) {
        await connection.client.flushall();
        await new Promise<void>((begun) => {
          second = fill(connection, organizationId, async (from, count) => {
            begun();
            await gate;
            return list(from, count);
          });
        });
      }
      return list(after, limit);
    });
    expect(first).toBe(false);
    expect(await isReady(connection, organizationId)).toBe(false);
    secondMayEnd();
    expect(await second).toBe(true);
    expect(await read()).toEqual(truth);
  });

  it('at a time: of two at once one fills and the other leaves it to it', async () => {
    let listed = 0;
    const counting: ListCounters = (after, limit) => {
      listed += 1;
      return list(after, limit);
    };
    const results = await Promise.all([1, 2].map(() => fill(connection, organizationId, counting)));
    expect(results.toSorted()).toEqual([false, true]);
    expect(listed).toBe(2);
    expect(await read()).toEqual(truth);
  });

  it('that fails leaves no mark and lets the next one try at once', async () => {
    const broken: ListCounters = async () => {
      throw new Error('Postgres is away');
    };
    await expect(fill(connection, organizationId, broken)).rejects.toThrow('Postgres is away');
    expect(await isReady(connection, organizationId)).toBe(false);
    expect(await fill(connection, organizationId, list)).toBe(true);
  });

  it('is wanted after a restart of Redis, though Redis kept them', async () => {
    const [domainId = ''] = tenant.domainIds;
    await fill(connection, organizationId, list);
    const before = connection.runIdOf('');

    await server.stop();
    await eventually(() => expect(connection.runIdOf('')).toBeUndefined());
    const wanted = { organizationId, domainId, spans: [spanOf('2023-06')] };
    expect(await readCounters(connection, wanted)).toBeNull();
    expect(await fill(connection, organizationId, list)).toBe(false);
    // stored while Redis was away, and never raised
    await persist(db, [recordAt('2023-06-15', { domainId })]);

    server = await restartRedis(server);
    await untilConnected(connection, before);
    // the mark of the run before is still there
    expect(await connection.client.keys('*:ready')).toHaveLength(1);
    expect(await readCounters(connection, wanted)).toBeNull();
    expect(await isReady(connection, organizationId)).toBe(false);

    expect(await fill(connection, organizationId, list)).toBe(true);
    truth = await storedCounters(db, organizationId);
    expect(await read()).toEqual(truth);
  });

  it('that a restart interrupted leaves no mark that counts', async () => {
    const before = connection.runIdOf('');
    await fill(connection, organizationId, async () => {
      await server.stop();
      server = await restartRedis(server);
      await untilConnected(connection, before);
      return packedPage([]);
    });
    expect(await isReady(connection, organizationId)).toBe(false);
    expect(await read()).toBeNull();
  });
});
