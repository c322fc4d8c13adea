import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fill } from '#libs/counters/fill';
import { createProducer, type Producer } from '#libs/queue/produce';
import type { RedisConnection } from '#libs/runtime/redis';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { sweepOwedRaises } from '../../apps/worker/heal/owed-raises.ts';
import { listerOf, quiet, readSame } from '../support/counter-stores.ts';
import { countOwed, countRecords, storedCounters } from '../support/counts.ts';
import { openConsumer } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const noon = '2024-05-15T12:00:00.000Z';

describe('a worker', () => {
  let db: Database;
  let urls: { redis: string; postgres: string };
  let connection: RedisConnection;
  let producer: Producer;
  let tenant: Tenant;
  let domainId: string;

  beforeAll(async () => {
    const database = await openDatabase();
    db = database.db;
    urls = { redis: (await openRedisServer()).url, postgres: database.url };
    connection = await openRedis(urls.redis);
    producer = createProducer(connection, 1);
    await producer.ready();
  });
  beforeEach(async () => {
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
    await fill(connection, tenant.organizationId, listerOf(db, tenant.organizationId));
  });

  const untilQuiet = () =>
    eventually(async () => {
      const counts = await producer.queues()[0]?.getJobCounts('waiting', 'active', 'delayed', 'failed');
      expect(counts).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
    });
  const expectRedisIsTrue = async () => {
    const truth = await countRecords(db, tenant.organizationId);
    expect(await storedCounters(db, tenant.organizationId)).toEqual(truth);
    expect(await readSame(connection, tenant.organizationId, truth)).toEqual(truth);
  };

  it('is done with a job once all of it that can be stored is, and Redis shows it', async () => {
    const jobs = Array.from({ length: 30 }, () => [recordAt(noon, { domainId }), recordAt('2024-06-01', { domainId })]);
    // by a worker that did not live to raise it
    const stored = [recordAt(noon, { domainId, decision: 'custom' })];
    await persist(db, stored);
    const refused = [recordAt(noon, { domainId }), recordAt(noon, { domainId: 'dom_unknown' })];
    for (const records of [...jobs, ...jobs.slice(0, 10), stored, refused]) await producer.add(0, records);
    const consumer = await openConsumer(urls, db);
    await untilQuiet();
    await consumer.close();
    await expectRedisIsTrue();
    expect(await db.run((sql) => sql`select from rejected_records where record like '%dom_unknown%'`)).toHaveLength(1);
  });

  it('that cannot raise owes it, and does not deliver again what is stored', async () => {
    const away = await openRedis(urls.redis);
    await away.close();
    await producer.add(0, [recordAt(noon, { domainId })]);
    const consumer = await openConsumer(urls, db, away);
    await untilQuiet();
    await consumer.close();
    expect(await countRecords(db, tenant.organizationId)).toHaveLength(4);
    expect(await countOwed(db, tenant.organizationId)).toBe(4);
    await sweepOwedRaises({ countersRedis: connection, db, ...quiet() });
    await expectRedisIsTrue();
  });
});
