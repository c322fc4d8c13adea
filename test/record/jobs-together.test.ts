/** Jobs that a worker stores in one statement, and one of them holds a record that cannot be stored. */
import { Queue } from 'bullmq';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import type { NewRecord } from '#libs/record/contract';
import { packJob, queuePrefix, recordQueue } from '#libs/record/queue';
import { atEnd } from '../support/at-end.ts';
import { countRecords, storedCounters } from '../support/counts.ts';
import { openPool } from '../support/pool.ts';
import { openConsumer } from '../support/recording.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const [database, redis] = await Promise.all([openDatabase(), openRedisServer()]);
const db = database.db;
const urls = { redis: redis.url, postgres: database.url };
const connection = await openRedis(redis.url);
const queues = [0, 1, 2].map(
  (shard) => new Queue(recordQueue(shard), { connection: connection.client, prefix: queuePrefix }),
);
const queue = at(queues, 0);
/** all of one month */
const now = Date.now();
atEnd(() => Promise.all(queues.map((each) => each.close())));
// such errors and delays come of defects alone
await db.run((sql) =>
  sql.unsafe(`
    create function be_difficult() returns trigger language plpgsql as $$
    begin
      if new.visitor_id = 'broken' then raise exception 'a defect' using errcode = 'XX000'; end if;
      if new.visitor_id = 'slow' then perform pg_sleep(60); end if;
      return new;
    end $$;
    create trigger be_difficult before insert on records for each row execute function be_difficult()`),
);

describe('jobs that are stored together', () => {
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await makeTenant(db);
  });

  const record = (visitorId: string): NewRecord => recordAt(now, { domainId: tenant.domainIds[0] ?? '', visitorId });
  const harmless = () => [1, 2, 3].map(() => record('harmless'));
  /** With one attempt each. */
  const add = (jobs: NewRecord[][], to = queue) =>
    to.addBulk(jobs.map((records) => ({ name: 'record', data: packJob(records), opts: { attempts: 1 } })));
  const counts = (of = queue) => of.getJobCounts('waiting', 'active', 'delayed', 'failed');
  const stored = async () => {
    const counters = await countRecords(db, tenant.organizationId);
    expect(await storedCounters(db, tenant.organizationId)).toEqual(counters);
    return counters[0]?.accept_all ?? 0;
  };
  /** Nothing is stored until `work` has ended. */
  const whileLocked = <T>(work: () => Promise<T>) =>
    db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table records in share mode`;
        return { result: await work() };
      }),
    );
  /** Holds all jobs before it stores the first. */
  const consume = async (own: Database, jobs: NewRecord[][], how: { second?: number } = {}) => {
    const { result } = await whileLocked(async () => {
      await add(jobs);
      const consumer = await openConsumer(urls, own, undefined, how);
      await eventually(async () => expect((await counts()).active).toBe(jobs.length));
      return consumer;
    });
    return result;
  };

  it('do not fail for a record of another one, nor do the other records of its job', async () => {
    const own = openPool(urls.postgres, { max: 3 });
    const difficult = [record('harmless'), record('broken'), record('harmless')];
    const consumer = await consume(own, [harmless(), harmless(), harmless(), difficult, harmless()]);
    await eventually(async () => expect(await counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 1 }));
    expect((await queue.getFailed())[0]?.failedReason).toBe('a defect');
    expect(await stored()).toBe(14);
    await consumer.close();
    await queue.obliterate({ force: true });
  });

  it('are not held up by one that takes longer than a statement may: it waits, until it can be stored', async () => {
    const own = openPool(urls.postgres, { max: 3, statementTimeout: 300, deadline: 20_000 });
    const difficult = [record('slow'), ...harmless(), ...harmless()];
    const consumer = await consume(own, [harmless(), harmless(), harmless(), difficult, harmless()], { second: 20 });
    await eventually(async () => expect(await stored()).toBe(18));
    await add([harmless()]);
    await eventually(async () => expect(await stored()).toBe(21));
    await eventually(async () => {
      const { active = 0, delayed = 0, ...others } = await counts();
      expect({ ...others, left: active + delayed }).toEqual({ waiting: 0, failed: 0, left: 1 });
    });
    await db.run((sql) => sql`drop trigger be_difficult on records`);
    await eventually(async () => expect(await counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 }));
    expect(await stored()).toBe(22);
    await consumer.close();
  });

  it('wait without their places where somebody keeps rows of two organizations; those of others are stored', async () => {
    const own = openPool(urls.postgres, { max: 3, statementTimeout: 300, deadline: 20_000 });
    const [second, other] = [await makeTenant(db, { domains: 2 }), await makeTenant(db, { domains: 2 })];
    const of = (domainId = '') => recordAt(now, { domainId, visitorId: 'other' });
    const mixed = () => [record('kept'), ...[...second.domainIds, ...other.domainIds].map((id) => of(id))];
    await add([[record('first'), of(second.domainIds[0])]]);
    const consumer = await openConsumer(urls, own, undefined, { second: 20 });
    await eventually(async () => expect(await stored()).toBe(1));
    const storedOf = async ({ organizationId }: Tenant) => (await countRecords(db, organizationId))[0]?.accept_all ?? 0;
    // places are there for all that comes
    const waiting = async () => (await queue.getJobCounts('waiting')).waiting;
    await db.run(
      (sql) =>
        sql.begin(async (transaction) => {
          await transaction`set local idle_in_transaction_session_timeout = 0`;
          await transaction`
          select from counters where organization_id in (${tenant.organizationId}, ${second.organizationId}) for update`;
          // twice as many as there are places, and more while they wait
          for (const round of [1, 2]) {
            await add(Array.from({ length: 10 }, mixed));
            await eventually(async () => expect([await storedOf(other), await waiting()]).toEqual([round * 20, 0]));
          }
        }),
      170_000,
    );
    await eventually(async () => expect(await counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 }));
    expect(await stored()).toBe(21);
    expect([await storedOf(second), await storedOf(other)]).toEqual([41, 40]);
    await consumer.close();
  });

  it('stay in Redis past a bound of memory, however many shards they come from, and are stored in the end', async () => {
    const jobs = Array.from({ length: 5 }, harmless);
    const active = async () => {
      const each = await Promise.all(queues.map(counts));
      return each.map((of) => of.active ?? 0);
    };
    const { result: consumer } = await whileLocked(async () => {
      for (const each of queues) await add(jobs.map(harmless), each);
      // two jobs
      const opened = await openConsumer(urls, db, undefined, { shards: queues.length, mostHeld: 3_500 });
      await eventually(async () => expect(Math.min(...(await active()))).toBeGreaterThan(0));
      for (let look = 0; look < 20; look += 1) {
        const held = (await active()).reduce((sum, of) => sum + of, 0);
        // those, the one that passed the bound, and one more that each shard had asked for
        expect(held).toBeLessThanOrEqual(2 + 1 + queues.length);
      }
      return opened;
    });
    await eventually(async () => expect(await stored()).toBe(queues.length * jobs.length * 3));
    await consumer.close();
  });
});
