import { beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '#libs/base/terms/problem';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { shardOf } from '#libs/record/queue';
import { createProducer } from '#libs/record/recorder';
import { sweepOwedRaises } from '#libs/stats/owed-raises';
import { fill } from '#libs/stats/redis/fill';
import { atEnd } from '../support/at-end.ts';
import { listerOf, quiet, readSame } from '../support/counter-stores.ts';
import { countOwed, countRecords, storedCounters } from '../support/counts.ts';
import { openGate } from '../support/gate.ts';
import { freeze, openRefusingRedis } from '../support/outage.ts';
import { openPool } from '../support/pool.ts';
import { openConsumer, openRecorder, untilQuiet, untilRedisTakesRecords } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const now = Date.now();
const noon = '2024-05-15T12:00:00.000Z';

const database = await openDatabase();
const db = database.db;
const server = await openRedisServer();
/** to Postgres */
const gate = await openGate(database.url);
const urls = { redis: server.url, postgres: gate.url };
const { recorder, producer, redisHealth } = await openRecorder(urls);
/** where the worker raises counters */
const connection = await openRedis(server.url, 'producer');

describe('the recorder, and the worker behind it', () => {
  let tenant: Tenant;
  let domainId: string;
  beforeEach(async () => {
    tenant = await makeTenant(db);
    [domainId = ''] = tenant.domainIds;
    await untilRedisTakesRecords(redisHealth);
    for (const queue of producer.queues()) await queue.drain();
  });

  const make = () => recordAt(now, { domainId });
  const record = (made: NewRecord) => recorder.record(made, tenant.organizationId, 500);
  /** While Redis pauses, records go to Postgres. */
  const enqueue = (one?: NewRecord): Promise<NewRecord> =>
    eventually(async () => {
      const made = one ?? make();
      expect(await record(made)).toBe('queued');
      return made;
    });
  const waiting = async () => (await Promise.all(producer.queues().map((queue) => queue.getWaiting()))).flat();
  const listStored = () =>
    db.run(async (sql) => {
      const rows = await sql<{ id: string }[]>`
        select id from records where domain_number = (select number from domains where id = ${domainId})`;
      return rows.map(({ id }) => id);
    });
  const countStored = async () => (await listStored()).length;

  const expectTrueCounters = async () => {
    const truth = await countRecords(db, tenant.organizationId);
    expect(await storedCounters(db, tenant.organizationId)).toEqual(truth);
    return truth;
  };

  it('answers "queued" once the record is in a job, and leaves Postgres alone', async () => {
    const { domainId, ...others } = await enqueue();
    const jobs = (await waiting()).map((job) => job.data);
    expect(jobs).toContainEqual({
      // an older worker can take it, since nothing in it was imported
      v: 3,
      domainIds: [domainId],
      userAgents: [],
      notices: [],
      records: [{ ...others, domainId: 0 }],
    });
    expect(await listStored()).not.toContain(others.id);
  });

  it('refuses what is too much for its memory, over all shards', async () => {
    const { recorder: sharded } = await openRecorder(urls, { shards: 2 });
    const half = 40 * 1024 * 1024;
    const inShard = (shard: number) => ['a', 'b', 'c', 'd', 'e', 'f'].find((id) => shardOf(id, 2) === shard) ?? '';
    const [first, second] = [0, 1].map((shard) => sharded.record(make(), inShard(shard), half));
    await expect(second).rejects.toMatchObject({ status: 503, message: expect.stringMatching(/pending/) });
    await first;
    await sharded.record(make(), inShard(1), half);
  });

  it('sends a record at once also while one job is on its way; what comes while two are becomes one job', async () => {
    const burst = Array.from({ length: 4 }, make);
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const { thaw } = freeze(server);
    const responses: Promise<string>[] = [];
    try {
      for (const made of burst) {
        responses.push(record(made));
        await turn();
        await turn();
      }
    } finally {
      thaw();
    }
    expect(await Promise.all(responses)).toEqual(burst.map(() => 'queued'));
    const jobs = (await waiting()).map((job) => job.data.records.map(({ id }: NewRecord) => id));
    const ids = burst.map(({ id }) => id);
    expect(jobs.toSorted()).toEqual([ids.slice(0, 1), ids.slice(1, 2), ids.slice(2)].toSorted());
  });

  it('lets records wait for more only under load: each that comes alone is queued and stored at once', async () => {
    const lingersFor = 3_600_000;
    const { recorder: patient } = await openRecorder(urls, { lingersFor });
    const add = () => patient.record(make(), tenant.organizationId, 500);
    const consumer = await openConsumer(urls, db, undefined, { lingersFor });
    for (let alone = 1; alone <= 3; alone += 1) {
      expect(await add()).toBe('queued');
      await eventually(async () => expect(await countStored()).toBe(alone));
    }
    await consumer.close();
    // three in what is here an hour are many: the next one waits, for eight
    const next = add();
    const first = await Promise.race([next, recorder.record(make(), tenant.organizationId, 500).then(() => 'other')]);
    expect(first).toBe('other');
    const more = Array.from({ length: 8 }, add);
    expect(new Set(await Promise.all([next, ...more]))).toEqual(new Set(['queued']));
  });

  it('answers though Redis is frozen, and the add that lands later is no second record', async () => {
    const [first, second] = [make(), make()];
    const { thaw } = freeze(server);
    try {
      expect(await record(first)).toBe('persisted');
      // by now it is known that Redis does not answer, and it is not asked
      expect(await record(second)).toBe('persisted');
      expect(await countStored()).toBe(2);
    } finally {
      thaw();
    }
    // the add that timed out landed all the same
    const waitingIds = async () =>
      (await waiting()).flatMap((job) => job.data.records.map(({ id }: NewRecord) => id)).sort();
    await eventually(async () => expect(await waitingIds()).toEqual([first.id]));
    const last = make();
    await enqueue(last);
    // and no other, which would be before the last one
    expect(await waitingIds()).toEqual([first.id, last.id].sort());

    const consumer = await openConsumer(urls, db);
    await untilQuiet(producer);
    await consumer.close();
    expect(await countStored()).toBe(3);
    await expectTrueCounters();
  });

  it('queues while Postgres is away, refuses with the id while both are, and stores each once after all of it', async () => {
    const consumer = await openConsumer(urls, openPool(gate.url, { statementTimeout: 8_000, deadline: 10_000 }));
    // the worker holds on to its jobs
    gate.shut();
    const accepted = Array.from({ length: 20 }, make);
    await Promise.all(accepted.map(enqueue));

    const refused = Array.from({ length: 10 }, make);
    const refuse = async (made: NewRecord) => {
      const problem: unknown = await record(made).catch((error: unknown) => error);
      if (!(problem instanceof Problem)) throw new Error('not refused');
      expect([problem.status, problem.headers['Retry-After']]).toEqual([503, '1']);
      expect(problem.body('request')).toMatchObject({ code: 'unavailable', id: made.id });
    };
    const { thaw } = freeze(server);
    await Promise.all(refused.map(refuse));

    // the client sends what was refused again, with its id
    gate.open();
    thaw();
    for (const made of refused) await eventually(() => record(made));
    await eventually(async () => expect(await countStored()).toBe(30));
    await untilQuiet(producer);
    await consumer.close();
    await expectTrueCounters();
  });

  it('does not put into Redis what would fill it: above its share of maxmemory records go to Postgres', async () => {
    const { client } = await openRedis(server.url);
    await eventually(() => client.set('ballast', 'x'.repeat(10_000_000)));
    await eventually(
      async () => {
        // measured anew each time: the buffers of a moment count too
        const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
        await client.config('SET', 'maxmemory', Math.round(used / 0.9));
        expect(await record(make())).toBe('persisted');
        expect(redisHealth.reason()).toMatch(/maxmemory/);
      },
      { every: 300 },
    );
    await eventually(() => client.del('ballast'));
    await enqueue();
  });

  const fillCounters = () => fill(connection, tenant.organizationId, listerOf(db, tenant.organizationId));
  const expectRedisIsTrue = async () => {
    const truth = await expectTrueCounters();
    expect(await readSame(connection, tenant.organizationId, truth)).toEqual(truth);
  };

  it('a worker is done with a job once all of it that can be stored is, and Redis shows it', async () => {
    const jobs = Array.from({ length: 30 }, () => [recordAt(noon, { domainId }), recordAt('2024-06-01', { domainId })]);
    // by a worker that did not live to raise it
    const stored = [recordAt(noon, { domainId, decision: 'custom' })];
    await persist(db, stored);
    const refused = [recordAt(noon, { domainId }), recordAt(noon, { domainId: 'dom_unknown' })];
    for (const records of [...jobs, ...jobs.slice(0, 10), stored, refused]) await producer.add(0, records);
    await fillCounters();
    const consumer = await openConsumer(urls, db);
    await untilQuiet(producer);
    await consumer.close();
    await expectRedisIsTrue();
    expect(await db.run((sql) => sql`select from rejected_records where record like '%dom_unknown%'`)).toHaveLength(1);
  });

  it('a queue whose first commands Redis refuses is closed, and another one is opened until it takes them', async () => {
    const redis = await openRefusingRedis();
    const opening = await openRedis(redis.url, 'producer');
    await redis.refuse();
    const refused = createProducer(opening, 1);
    atEnd(() => refused.close());
    await eventually(async () => expect(await redis.refused()).toBeGreaterThan(0));
    const listeners = opening.client.listenerCount('close');
    const before = await redis.refused();
    await eventually(async () => expect(await redis.refused()).toBeGreaterThan(before + 3));
    expect(opening.client.listenerCount('close')).toBeLessThanOrEqual(listeners + 1);
    await redis.allow();
    await refused.ready();
  });

  it('a worker that cannot raise owes it, and does not deliver again what is stored', async () => {
    await fillCounters();
    const away = await openRedis(urls.redis);
    await away.close();
    await producer.add(0, [recordAt(noon, { domainId })]);
    const consumer = await openConsumer(urls, db, away);
    await untilQuiet(producer);
    await consumer.close();
    expect(await countRecords(db, tenant.organizationId)).toHaveLength(4);
    expect(await countOwed(db, tenant.organizationId)).toBe(4);
    await sweepOwedRaises({ redis: connection, db, ...quiet() });
    await expectRedisIsTrue();
  });
});
