import { beforeEach, describe, expect, it } from 'vitest';
import type { RedisConnection } from '#libs/runtime/redis';
import { eraseVisitor } from '#libs/store/privacy/erasures';
import { createVisitorHash } from '#libs/store/privacy/visitor-hash';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { recallTombstones, rememberTombstones } from '#libs/witness/tombstones';
import { blanking } from '../../apps/worker/derive/blank/blank.ts';
import { createClearing } from '../../apps/worker/derive/blank/leftovers.ts';
import { turnedClock } from '../support/clock.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

describe('blanking', () => {
  let db: Database;
  let redis: RedisConnection;
  let tenant: Tenant;
  let sealer: Sealer;

  beforeEach(async () => {
    ({ db } = await openDatabase());
    redis = await openRedis((await openRedisServer()).url);
    tenant = await makeTenant(db);
    sealer = createSealer(db, redis);
  });

  const visitorId = 'v';
  const record = () =>
    recordAt(Date.now(), { domainId: at(tenant.domainIds, 0), visitorId, ip: '192.0.2.0', userAgent: 'Mozilla/5.0' });
  const erase = () => {
    const { organizationId } = tenant;
    const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(organizationId, visitorId);
    return eraseVisitor(db, { organizationId, visitorId, hash, actor: 'test' });
  };
  const left = () =>
    db.run(
      (sql) => sql<{ id: string }[]>`
        select id from records where visitor_id is not null or ip is not null or user_agent_number is not null`,
    );

  it('does again what was rolled back after it was done', async () => {
    await erase();
    await persist(db, [record(), record()]);
    await sealer.close();
    await db.run((sql) =>
      sql.unsafe(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refuse before update on derivations for each row
          when (new.name = '${blanking}') execute function refuse()`),
    );
    await expect(sealer.blank()).rejects.toThrow('refused');
    expect(await left()).toHaveLength(2);
    await db.run((sql) => sql`drop trigger refuse on derivations`);
    await sealer.blank();
    expect(await left()).toEqual([]);
  });

  it('looks for user agents that nobody names where no visitor was erased', async () => {
    await persist(db, [record()]);
    await db.run((sql) => sql`insert into user_agents_to_look_for (number) select number from user_agents`);
    await db.run((sql) => sql`update records set user_agent_number = null`);
    const config = { queueShards: 1, backupDays: 32 };
    await createClearing({ config, hashOf: undefined, redis, db, clock: turnedClock(db).clock })();
    expect(await db.run((sql) => sql`select text from user_agents`)).toEqual([]);
  });

  it('forgets who was erased so long ago that no backup has them, but not while the clocks differ', async () => {
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
    const { clock, turned } = turnedClock(db);
    await clock.measure();
    const config = { queueShards: 1, backupDays: 35 };
    const clear = createClearing({ config, hashOf: undefined, redis, db, clock });
    const known = async () => (await recallTombstones(redis.client)).map(({ hash }) => hash.slice(0, 2)).sort();
    turned.own = 60_000;
    await clear();
    expect(await known()).toEqual(['30', '40']);
    turned.own = 0;
    await clear();
    expect(await known()).toEqual(['30']);
  });
});
