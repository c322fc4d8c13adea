import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import type { RedisConnection } from '#libs/base/redis/connection';
import { blankingName } from '#libs/privacy/blanking';
import { eraseVisitor } from '#libs/privacy/erasures';
import { createClearing } from '#libs/privacy/leftovers';
import { addTombstone, deleteOldTombstones } from '#libs/privacy/tombstones';
import { createTombstoneCopy, recallTombstones, rememberTombstones } from '#libs/privacy/tombstones-in-redis';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { keepRejected } from '#libs/record/rejected';
import { createVisitorHash, numbersOf } from '#libs/tenants/visitors';
import { turnedClock } from '../support/clock.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

const config = { queueShards: 1, backupDays: 32 };
const hashOf = createVisitorHash(Buffer.from(privacyKey, 'hex'));

describe('blanking', () => {
  let url: string;
  let db: Database;
  let redis: RedisConnection;
  let tenant: Tenant;
  let sealer: Sealer;

  beforeEach(async () => {
    ({ url, db } = await openDatabase());
    redis = await openRedis((await openRedisServer()).url);
    tenant = await makeTenant(db, { domains: 60 });
    sealer = createSealer(db, redis);
  });

  const record = (visitorId = 'v', fields: Partial<NewRecord> = {}) =>
    recordAt(Date.now(), {
      domainId: at(tenant.domainIds, 0),
      visitorId,
      ip: '192.0.2.0',
      userAgent: 'Mozilla/5.0',
      ...fields,
    });
  const erase = (visitorId = 'v') => {
    const { organizationId } = tenant;
    return eraseVisitor(db, { organizationId, visitorId, hash: hashOf(organizationId, visitorId), actor: 'test' });
  };
  const reject = (...records: NewRecord[]) =>
    db.run((sql) =>
      keepRejected(
        sql,
        records.map((each) => ({ record: each, errorCode: '22008', error: 'refused' })),
      ),
    );
  const left = () =>
    db.run(
      (sql) => sql<{ id: string }[]>`
        select id from records where visitor_id is not null or ip is not null or user_agent_number is not null`,
    );
  const rejectedOf = async (visitorId: string) => {
    const found = await db.run(
      (sql) => sql`select from rejected_records where record like ${`%"visitorId":"${visitorId}"%`}`,
    );
    return found.count;
  };

  it('does again what was rolled back after it was done', async () => {
    await erase();
    await persist(db, [record(), record()]);
    await sealer.close();
    await db.run((sql) =>
      sql.unsafe(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refuse before update on derivations for each row
          when (new.name = '${blankingName}') execute function refuse()`),
    );
    await expect(sealer.blank()).rejects.toThrow('refused');
    expect(await left()).toHaveLength(2);
    await db.run((sql) => sql`drop trigger refuse on derivations`);
    await sealer.blank();
    expect(await left()).toEqual([]);
  });

  it('takes all that is of erased visitors, in however many domains and transactions, and nothing else', async () => {
    await erase();
    const ofEach = tenant.domainIds.map((domainId) => record('v', { domainId }));
    // more than one transaction blanks, and more than one piece looks at
    const ofOne = Array.from({ length: 5_000 }, (_, n) => record(n % 8 === 0 ? 'v' : 'another'));
    await persist(db, [...ofEach, ...ofOne]);
    await sealer.close();
    await sealer.seal();
    expect(await left()).toHaveLength(4_375);
    const [erasures] = await db.run((sql) => sql`select count(*)::int as entries from log_texts`);
    expect(erasures).toEqual({ entries: 60 + 625 });
  });

  it('and clearing cost the same, however many were erased before', async () => {
    // all on one connection, which tells what it has read: others tell it when they like, such as in a round
    db = openPool(url, { max: 1 });
    await db.run((sql) =>
      sql.unsafe(`
        insert into tombstones (hash, organization_number, domain_number, epoch, until)
        select sha256(n::text::bytea), number, 0, 1, now() + interval '1 day'
        from generate_series(1, 20000) as n, organizations;
        insert into rejected_records (error_code, error, record)
        select '', '', '{"n":' || n || '}' from generate_series(1, 2000) as n;
        analyze tombstones, rejected_records`),
    );
    const { close, blank } = createSealer(db, redis);
    const tell = createTombstoneCopy({ redis, db });
    const clear = createClearing({ config, hashOf, redis, db, clock: turnedClock(db).clock });
    const read = async () => {
      await db.run((sql) => sql`select pg_stat_force_next_flush()`);
      const rows = await db.run(
        (sql) => sql<{ name: 'tombstones' | 'rejected_records'; rows: number }[]>`
          select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows from pg_stat_user_tables
          where relname in ('tombstones', 'rejected_records')`,
      );
      return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
    };
    const round = async () => {
      const before = await read();
      await persist(db, [record(), record('another'), record('v', { domainId: at(tenant.domainIds, 7) })]);
      await close();
      await blank();
      await tell();
      await clear();
      const after = await read();
      const of = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
      return { tombstones: of('tombstones'), rejected: of('rejected_records') };
    };
    // Redis is told of all, and rejected records are searched for all, once
    await round();
    await db.run((sql) => sql`analyze tombstones, rejected_records`);
    await erase();
    await reject(record(), record('another'));
    expect((await round()).tombstones).toBeLessThan(200);
    expect([await rejectedOf('v'), await rejectedOf('another')]).toEqual([0, 1]);
    await reject(record(), record('another'));
    const { tombstones, rejected } = await round();
    expect([await rejectedOf('v'), await rejectedOf('another')]).toEqual([0, 2]);
    expect(tombstones).toBeLessThan(200);
    expect(rejected).toBeLessThan(50);
    expect(await left()).toHaveLength(3);
  });

  it('clears what it can where one step fails, and says which', async () => {
    await erase();
    await reject(record());
    await db.run((sql) => sql`insert into user_agents_to_look_for (number) values (7)`);
    await db.run((sql) => sql`alter table busy_visitors rename to gone`);
    const clear = createClearing({ config, hashOf, redis, db, clock: turnedClock(db).clock });
    await expect(clear()).rejects.toThrow('could not clear: busy visitors');
    expect(await rejectedOf('v')).toBe(0);
    expect(await db.run((sql) => sql`select from user_agents_to_look_for`)).toEqual([]);
  });

  it('looks for user agents that nobody names where no visitor was erased', async () => {
    await persist(db, [record()]);
    await db.run((sql) => sql`insert into user_agents_to_look_for (number) select number from user_agents`);
    await db.run((sql) => sql`update records set user_agent_number = null`);
    const config = { queueShards: 1, backupDays: 32 };
    await createClearing({ config, hashOf: undefined, redis, db, clock: turnedClock(db).clock })();
    expect(await db.run((sql) => sql`select text from user_agents`)).toEqual([]);
  });

  it('knows who was erased for as long as both clocks say, also while that of Postgres is wrong', async () => {
    const day = 86_400_000;
    const { organizationId } = tenant;
    const numbers = await db.run((sql) => numbersOf(sql, { organizationId }));
    const known = async () => (await db.run((sql) => sql`select from tombstones`)).count;
    await erase();
    // as it is for a Postgres that is ahead
    await db.run((sql) => sql`update tombstones set until = now() - interval '1 day'`);
    await persist(db, [record()]);
    await sealer.close();
    await sealer.seal();
    expect(await left()).toEqual([]);
    await deleteOldTombstones(db, new Date(Date.now() - 2 * day));
    expect(await known()).toBe(1);
    await deleteOldTombstones(db, new Date());
    expect(await known()).toBe(0);
    // of one that is behind
    await db.run((sql) => addTombstone(sql, numbers, hashOf(organizationId, 'v'), new Date(Date.now() + 100 * day)));
    await createTombstoneCopy({ redis, db })();
    const [remembered] = await recallTombstones(redis.client);
    expect(Date.parse(remembered?.erasedAt ?? '')).toBeGreaterThan(Date.now() + 99 * day);
  });

  it('forgets who was erased so long ago that no backup has them, once the clocks were right for nearly an hour', async () => {
    const [old, recent] = [40, 30].map((days) => ({
      organizationId: tenant.organizationId,
      domainId: null,
      hash: String(days).repeat(32),
      erasedAt: new Date(Date.now() - days * 86_400_000).toISOString(),
    }));
    await rememberTombstones(
      redis.client,
      [old, recent].flatMap((each) => each ?? []),
    );
    await erase();
    await db.run((sql) => sql`update tombstones set until = now() - interval '1 day'`);
    let steadyFor = 0;
    const config = { queueShards: 1, backupDays: 35 };
    const clear = createClearing({ config, hashOf: undefined, redis, db, clock: { steadyFor: () => steadyFor } });
    const known = async () => [
      ...(await recallTombstones(redis.client)).map(({ hash }) => hash.slice(0, 2)).sort(),
      (await db.run((sql) => sql`select from tombstones`)).count,
    ];
    // as where both have jumped together
    steadyFor = 49 * 60_000;
    await clear();
    expect(await known()).toEqual(['30', '40', 1]);
    steadyFor = 50 * 60_000;
    await clear();
    expect(await known()).toEqual(['30', 0]);
  });
});
