import { beforeAll, describe, expect, it } from 'vitest';
import { spanOf } from '#libs/contract/calendar';
import { fill, isReady } from '#libs/counters/fill';
import { readCounters } from '#libs/counters/read';
import type { RedisConnection } from '#libs/runtime/redis';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import type { RunningRedis } from '../../scripts/stack/redis.ts';
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

describe('counters after a restart of Redis', () => {
  let db: Database;
  let server: RunningRedis;
  let connection: RedisConnection;

  beforeAll(async () => {
    ({ db } = await openDatabase());
    server = await openRedisServer();
    connection = await openRedis(server.url);
  });

  it('are not shown until they were filled again, though Redis kept them', async () => {
    const { organizationId, domainIds } = await makeTenant(db);
    const [domainId = ''] = domainIds;
    const list = listerOf(db, organizationId);
    const time = '2024-05-15T12:00:00.000Z';
    await persist(db, [recordAt(time, { domainId })]);
    await fill(connection, organizationId, list);
    const before = connection.runIdOf('');

    await server.stop();
    await eventually(() => expect(connection.runIdOf('')).toBeUndefined());
    const wanted = { organizationId, domainId, spans: [spanOf('2024-05')] };
    expect(await readCounters(connection, wanted)).toBeNull();
    expect(await fill(connection, organizationId, list)).toBe(false);
    // stored while Redis was away, and never raised
    await persist(db, [recordAt(time, { domainId })]);

    server = await restartRedis(server);
    await untilConnected(connection, before);
    // the mark of the run before is still there
    expect(await connection.client.keys('*:ready')).toHaveLength(1);
    expect(await readCounters(connection, wanted)).toBeNull();
    expect(await isReady(connection, organizationId)).toBe(false);

    expect(await fill(connection, organizationId, list)).toBe(true);
    const truth = await storedCounters(db, organizationId);
    expect(await readSame(connection, organizationId, truth)).toEqual(truth);
  });

  it('a fill that a restart interrupted leaves no mark that counts', async () => {
    const { organizationId } = await makeTenant(db);
    const before = connection.runIdOf('');
    await fill(connection, organizationId, async () => {
      await server.stop();
      server = await restartRedis(server);
      await untilConnected(connection, before);
      return packedPage([]);
    });
    expect(await isReady(connection, organizationId)).toBe(false);
    expect(await readCounters(connection, { organizationId, domainId: '', spans: [spanOf('2024-05')] })).toBeNull();
  });
});
