import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { currentServer } from '#libs/base/db/server';
import { createTaskLeases } from '#libs/base/db/task-leases';
import { createScheduler } from '#libs/base/scheduler';
import { type Counter, emptyBreakdown } from '#libs/base/terms/terms';
import { persist } from '#libs/record/persist/persist';
import { scheduleCounterRepair } from '#libs/stats/counter-repair';
import { oweRaises, sweepOwedRaises } from '#libs/stats/owed-raises';
import { fillMissing, noteServer, reconcile } from '#libs/stats/reconcile';
import { fill, isReady } from '#libs/stats/redis/fill';
import { raise } from '#libs/stats/redis-counters';
import { listerOf, quiet, readSame } from '../support/counter-stores.ts';
import { countOwed, storedCounters } from '../support/counts.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually, withinASecond } from '../support/wait.ts';

const now = Date.now();

const { db, sql } = await openDatabase();
const redisUrl = (await openRedisServer()).url;
const connection = await openRedis(redisUrl);

describe('repairing', () => {
  let tenant: Tenant;
  let organizationId: string;
  let domainId: string;
  beforeEach(async () => {
    await connection.client.flushall();
    // repairing looks at every organization
    await sql`truncate owed_raises, counters`;
    tenant = await makeTenant(db, { domains: 2 });
    ({ organizationId } = tenant);
    [domainId = ''] = tenant.domainIds;
    await persist(db, [recordAt(now, { domainId }), recordAt(now - 86_400_000, { domainId, decision: 'custom' })]);
    await fill(connection, organizationId, listerOf(db, organizationId));
  });

  const { log, metrics } = quiet();
  const deps = () => ({ redis: connection, db, log, metrics });
  const { signal } = new AbortController();
  const repair = async () => {
    await fillMissing(deps(), signal);
    await reconcile(deps(), signal, { patience: 1 });
  };
  const driftSeen = async () => (await metrics.drift.get()).values[0]?.value ?? 0;
  const fillsSeen = async () => (await metrics.fills.get()).values[0]?.value ?? 0;
  /** All counters as Redis has them, and as Postgres does. */
  const expectEqual = async () => {
    const truth = await storedCounters(db, organizationId);
    expect(await readSame(connection, organizationId, truth)).toEqual(truth);
  };
  const today = new Date(now).toISOString().slice(0, 10);

  describe('the sweep', () => {
    it('forgets only what it raised: debts made meanwhile are raised by the next one', async () => {
      await persist(db, [recordAt(now, { domainId })], { owe: true });
      await Promise.all([
        sweepOwedRaises(deps()),
        ...Array.from({ length: 20 }, () => persist(db, [recordAt(now, { domainId })], { owe: true })),
        sweepOwedRaises(deps()),
      ]);
      while ((await sweepOwedRaises(deps())) > 0);
      expect(await countOwed(db, organizationId)).toBe(0);
      await expectEqual();
    });

    it('forgets what is owed to counters that are gone, without a trace in Redis', async () => {
      await db.run((sql) => oweRaises(sql, [{ organizationId: 'org_gone', domainId: 'dom_gone', period: today }]));
      expect(await sweepOwedRaises(deps())).toBe(1);
      expect(await countOwed(db, 'org_gone')).toBe(0);
      expect(await connection.client.keys('*org_gone*')).toEqual([]);
    });

    it('makes good an hour without Redis, for more domains than it takes at once', async () => {
      await sql`
          insert into counters (organization_id, domain_id, period, custom)
          select ${organizationId}, 'dom_many_' || n, period, n
          from generate_series(1, 600) as n, unnest(array[${today}, ${today.slice(0, 7)}]) as period`;
      const many = await storedCounters(db, organizationId);
      for (let round = 0; round < 3; round += 1) await db.run((sql) => oweRaises(sql, many));
      expect(await countOwed(db, organizationId)).toBe(many.length);
      expect(await sweepOwedRaises(deps())).toBe(many.length);
      expect(await countOwed(db, organizationId)).toBe(0);
      expect(await readSame(connection, organizationId, many)).toEqual(many);
    });
  });

  describe('where one organization cannot be repaired', () => {
    let broken: Tenant;
    const brokenKey = () => `assent:{${broken.organizationId}}:days:${broken.domainIds[0]}:${today.slice(0, 7)}`;

    beforeEach(async () => {
      broken = await makeTenant(db);
      await persist(db, [recordAt(now, { domainId: broken.domainIds[0] ?? '' })], { owe: true });
      await fill(connection, broken.organizationId, listerOf(db, broken.organizationId));
      await connection.client.set(brokenKey(), 'not a hash');
    });

    it.each([
      ['a key of another type', () => connection.client.type(brokenKey())],
      [
        'a set of keys of another type',
        async () => {
          await connection.client.del(brokenKey());
          await connection.client.set(`assent:{${broken.organizationId}}:keys`, 'no set');
        },
      ],
    ])('it is rebuilt where the reason is %s, and the others are reconciled', async (_, breakMore) => {
      await breakMore();
      const ahead: Counter = { organizationId, domainId, period: today, ...emptyBreakdown(), accept_all: 50 };
      await raise(connection.client, [ahead]);
      await reconcile(deps(), signal, { patience: 1 });
      await expectEqual();
      const truth = await storedCounters(db, broken.organizationId);
      expect(await readSame(connection, broken.organizationId, truth)).toEqual(truth);
    });

    it('it is filled also where it has no mark', async () => {
      await connection.client.del(`assent:{${broken.organizationId}}:ready`);
      await fillMissing(deps(), signal);
      expect(await isReady(connection, broken.organizationId)).toBe(true);
      const truth = await storedCounters(db, broken.organizationId);
      expect(await readSame(connection, broken.organizationId, truth)).toEqual(truth);
    });

    it('what is owed to the others is raised and forgotten, and what is owed to it is kept', async () => {
      await persist(db, [recordAt(now, { domainId })], { owe: true });
      await expect(sweepOwedRaises(deps())).rejects.toThrow(/WRONGTYPE/);
      expect(await countOwed(db, organizationId)).toBe(0);
      expect(await countOwed(db, broken.organizationId)).toBe(4);
      await expectEqual();
    });

    it('nor do the others wait where as much is owed to it as is raised at once', async () => {
      await sql`
        insert into counters (organization_id, domain_id, period, custom)
        select '0', 'd', to_char(date '2020-01-01' + n, 'YYYY-MM-DD'), 1 from generate_series(1, 1000) as n`;
      await sql`
        insert into owed_raises (organization_id, domain_id, period)
        select organization_id, domain_id, period from counters where organization_id = '0'`;
      await connection.client.set('assent:{0}:keys', 'no set');
      await persist(db, [recordAt(now, { domainId })], { owe: true });
      await expect(sweepOwedRaises(deps())).rejects.toThrow(/WRONGTYPE/);
      expect([await countOwed(db, '0'), await countOwed(db, organizationId)]).toEqual([1_000, 0]);
    });
  });

  describe('reconcile', () => {
    it('mends what is no counter', async () => {
      const key = `assent:{${organizationId}}:days:${domainId}:${today.slice(0, 7)}`;
      await connection.client.hset(key, today.slice(8), 'nonsense');
      await repair();
      await expectEqual();
    });

    it('looks at the organizations behind the one that the round before ended with, and then begins again', async () => {
      const others = [organizationId, (await makeTenant(db)).organizationId].toSorted();
      const [first = '', second = ''] = others;
      await connection.client.flushall();
      expect(await fillMissing(deps(), signal, first)).toBe('');
      expect([await isReady(connection, first), await isReady(connection, second)]).toEqual([false, true]);
      await repair();
      const wrong = { domainId: 'dom_gone', period: today, ...emptyBreakdown(), custom: 1 };
      await raise(
        connection.client,
        others.map((id) => ({ organizationId: id, ...wrong })),
      );
      expect(await reconcile(deps(), signal, { patience: 1, after: first })).toBe('');
      const left = () => connection.client.keys('*dom_gone*');
      expect(await left()).toEqual([expect.stringContaining(first)]);
      await reconcile(deps(), signal, { patience: 1 });
      expect(await left()).toEqual([]);
    });

    it('begins no organization once it is stopped', async () => {
      await connection.client.flushall();
      await fillMissing(deps(), AbortSignal.abort());
      expect(await connection.client.dbsize()).toBe(0);
    });

    it('brings Redis back down to Postgres where it is ahead, as after a failover of Postgres', async () => {
      const ahead: Counter = { organizationId, domainId, period: today, ...emptyBreakdown(), accept_all: 50 };
      await raise(connection.client, [ahead]);
      await fillMissing(deps(), signal);
      const before = await driftSeen();
      await repair();
      await expectEqual();
      expect(await isReady(connection, organizationId)).toBe(true);
      expect(await driftSeen()).toBe(before + 1);
    });

    it('compares every period once where Postgres is another one, and drops only what differs', async () => {
      const longAgo = now - 400 * 86_400_000;
      const month = new Date(longAgo).toISOString().slice(0, 7);
      const ahead: Counter = { organizationId, domainId, period: month, ...emptyBreakdown(), accept_all: 50 };
      const unmarked = await makeTenant(db);
      await repair();
      await raise(connection.client, [ahead, { ...ahead, organizationId: unmarked.organizationId }]);
      await connection.client.del(`assent:{${unmarked.organizationId}}:ready`);
      // under the same one nobody looks so far back
      await reconcile(deps(), signal, { patience: 1 });
      expect(await readSame(connection, organizationId, [ahead])).toEqual([ahead]);
      const filled = await fillsSeen();
      // as a dump that was restored into the same database would be
      const { systemIdentifier, timeline, database, table } = await db.run(currentServer);
      await noteServer(connection.client, [systemIdentifier, timeline, database, `${table}0`].join(' '));
      await reconcile(deps(), signal, { patience: 1 });
      const none = { ...ahead, accept_all: 0 };
      expect(await readSame(connection, organizationId, [none])).toEqual([none]);
      const unmarkedNone = { ...none, organizationId: unmarked.organizationId };
      expect(await readSame(connection, unmarked.organizationId, [unmarkedNone])).toEqual([unmarkedNone]);
      // these two, of all that there are
      expect(await fillsSeen()).toBe(filled + 2);
      await raise(connection.client, [ahead]);
      await reconcile(deps(), signal, { patience: 1 });
      expect(await readSame(connection, organizationId, [ahead])).toEqual([ahead]);
    });

    it('compares an organization with many domains, too, in all of them', async () => {
      const large = await makeTenant(db, { domains: 7 });
      for (const id of large.domainIds) await persist(db, [recordAt(now, { domainId: id })]);
      await fill(connection, large.organizationId, listerOf(db, large.organizationId));
      await repair();
      const [before, filled] = [await driftSeen(), await fillsSeen()];
      await reconcile(deps(), signal, { patience: 1 });
      expect([await driftSeen(), await fillsSeen()]).toEqual([before, filled]);
      const last = large.domainIds.toSorted().at(-1) ?? '';
      const wrong = { organizationId: large.organizationId, domainId: last, period: today, ...emptyBreakdown() };
      await raise(connection.client, [{ ...wrong, withdraw: 9 }]);
      await repair();
      const truth = await storedCounters(db, large.organizationId);
      expect(await readSame(connection, large.organizationId, truth)).toEqual(truth);
    });

    it.each(['days', 'months', 'keys', 'ready'])('repairs the loss of keys: %s', async (kind) => {
      const lost = await connection.client.keys(`assent:{${organizationId}}:${kind}*`);
      expect(lost.length).toBeGreaterThan(0);
      await connection.client.del(...lost);
      await repair();
      await expectEqual();
      // and has nothing left to do
      const before = await driftSeen();
      await repair();
      expect(await driftSeen()).toBe(before);
    });
  });

  it('goes on by itself: what lacks its mark is filled, what is owed raised, what is ahead brought down', async () => {
    // otherwise comparing would fill, as on another Postgres
    await repair();
    const second = 20;
    const scheduler = createScheduler({ leases: createTaskLeases(db), pace: second, failed: () => {} });
    onTestFinished(scheduler.close);
    scheduleCounterRepair(scheduler, { ...deps(), second });
    for (const _ of ['at first', 'and again']) {
      await connection.client.del(`assent:{${organizationId}}:ready`);
      await eventually(async () => expect(await isReady(connection, organizationId)).toBe(true), withinASecond);
    }
    await persist(db, [recordAt(now, { domainId })], { owe: true });
    await eventually(async () => expect(await countOwed(db, organizationId)).toBe(0), withinASecond);
    await expectEqual();
    await raise(connection.client, [{ organizationId, domainId, period: today, ...emptyBreakdown(), accept_all: 50 }]);
    await eventually(expectEqual, withinASecond);
  });
});
