import { beforeEach, describe, expect, it } from 'vitest';
import { watchRedis } from '#libs/base/redis/health';
import { spanOf } from '#libs/base/terms/calendar';
import { emptyBreakdown } from '#libs/base/terms/terms';
import { persist } from '#libs/record/persist/persist';
import { type CounterReader, createCounterReader } from '#libs/stats/counter-reader';
import { counterKey } from '#libs/stats/redis-counters';
import { atEnd } from '../support/at-end.ts';
import { quiet } from '../support/counter-stores.ts';
import { untilRedisTakesRecords } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { db } = await openDatabase();
const connection = await openRedis((await openRedisServer()).url, 'producer');
const redisHealth = watchRedis(connection.client, () => {});
atEnd(() => redisHealth.close());
const reader = createCounterReader({ redis: connection, redisHealth, db, ...quiet() });
await redisHealth.usable();

describe('the reader of counters', () => {
  let tenant: Tenant;
  let wanted: Parameters<CounterReader['read']>[0];
  const time = '2024-02-29T12:00:00.000Z';
  const counts = (accept_all: number) =>
    new Map(['2024-02', '2024-02-29'].map((period) => [period, { accept_all, reject_all: 0, custom: 0, withdraw: 0 }]));
  beforeEach(async () => {
    await untilRedisTakesRecords(redisHealth);
    tenant = await makeTenant(db);
    const [domainId = ''] = tenant.domainIds;
    await persist(db, [recordAt(time, { domainId }), recordAt(time, { domainId })]);
    wanted = {
      organizationId: tenant.organizationId,
      domainId,
      spans: ['2024-02', '2024-02-29', '2024-03'].map(spanOf),
    };
  });

  const untilFrom = (source: string) =>
    eventually(async () => {
      const response = await reader.read(wanted);
      expect(response.counts).toEqual(counts(2));
      expect(response.source).toBe(source);
    });

  it('reads from Postgres until that has filled the organization, then the same from Redis', async () => {
    expect(await reader.read(wanted)).toEqual({ source: 'postgres', counts: counts(2) });
    await untilFrom('redis');
  });

  it('adds up what it reads, from Postgres and from Redis, and what is no counter counts as nothing', async () => {
    const month = { ...wanted, spans: [{ from: '2024-02-01', to: '2024-02-29' }] };
    expect(await reader.sum(month)).toEqual({ source: 'postgres', counts: { ...emptyBreakdown(), accept_all: 2 } });
    await untilFrom('redis');
    const { organizationId, domainId } = wanted;
    await connection.client.hset(counterKey(organizationId, domainId, '2024-02-01'), '03', 'broken', '30', '9 9 9 9');
    // a Redis that is slow leaves it to Postgres
    await eventually(async () =>
      expect(await reader.sum(month)).toEqual({ source: 'redis', counts: { ...emptyBreakdown(), accept_all: 2 } }),
    );
    const edges = { ...wanted, spans: ['2024-01-31', '2024-02-28', '2024-03-01', '2024-03'].map(spanOf) };
    expect((await reader.sum(edges)).counts).toEqual(emptyBreakdown());
    expect((await reader.sum(wanted)).counts).toEqual({ ...emptyBreakdown(), accept_all: 4 });
  });
});
