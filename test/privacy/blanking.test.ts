import { beforeEach, describe, expect, it } from 'vitest';
import { dayOf, spanOf } from '#libs/base/terms/calendar';
import { totalOf } from '#libs/base/terms/terms';
import { blankingName } from '#libs/privacy/blanking';
import { eraseVisitor } from '#libs/privacy/erasures';
import { createClearing } from '#libs/privacy/leftovers';
import {
  addTombstone,
  deleteOldTombstones,
  listUnremembered,
  listUnsearched,
  noteRemembered,
  noteSearched,
} from '#libs/privacy/tombstones';
import { createTombstoneCopy, recallTombstones, rememberTombstones } from '#libs/privacy/tombstones-in-redis';
import { checkLogs } from '#libs/proof/check/check-domains';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { keepRejected } from '#libs/record/rejected';
import { readFacets } from '#libs/stats/facets';
import { createVisitorHash, numbersOf, type ScopeNumbers } from '#libs/tenants/visitors';
import { turnedClock } from '../support/clock.ts';
import { openPool, statementsOn } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, deriveFacets } from '../support/sealing.ts';
import { privacyKey } from '../support/settings.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer, type Tenant } from '../support/stores.ts';

const config = { queueShards: 1, backupDays: 32 };
const hashOf = createVisitorHash(Buffer.from(privacyKey, 'hex'));

const { url, db, sql } = await openDatabase();
const redis = await openRedis((await openRedisServer()).url);
const sealer = createSealer(db, redis);

describe('blanking', () => {
  let tenant: Tenant;

  beforeEach(async () => {
    await sql`truncate tombstones, rejected_records`;
    tenant = await makeTenant(db, { domains: 2 });
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
  const left = async () => {
    const found = await sql`
      select from records join domains on number = domain_number
      where organization_id = ${tenant.organizationId}
        and (visitor_id is not null or ip is not null or user_agent_number is not null)`;
    return found.count;
  };
  const rejectedOf = async (visitorId: string) =>
    (await sql`select from rejected_records where record like ${`%"visitorId":"${visitorId}"%`}`).count;
  const countTombstones = async () => (await sql`select from tombstones`).count;
  /** A round, with the given parts in place of the usual ones. */
  const clear = (parts: Partial<Parameters<typeof createClearing>[0]> = {}) =>
    createClearing({ config, hashOf, redis, db, clock: turnedClock(db).clock, ...parts })();

  it('leaves devices and browsers to the statistics, also of who comes back, and shows no user agent', async () => {
    const { organizationId, domainIds } = tenant;
    const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const some = (visitorId: string, count: number) =>
      Array.from({ length: count }, () => record(visitorId, { userAgent, pageUrl: 'https://shop.example/' }));
    await persist(db, [...some('v', 5), ...some('somebody', 10)]);
    await erase('v');
    await persist(db, some('v', 10));
    await sealer.closeAndSeal();
    await deriveFacets(db);
    const day = dayOf(Date.now());
    for (const dimension of ['device', 'browser'] as const) {
      const question = { organizationId, domainId: at(domainIds, 0), dimensions: [dimension], spans: [spanOf(day)] };
      const facets = await db.run((pool) => readFacets(pool, question));
      expect(facets.map((facet) => [facet.value, totalOf(facet)])).toEqual([
        [dimension === 'device' ? 'desktop' : 'Firefox', 25],
      ]);
    }
    // neither as a text, nor as part of what a proof of an erased record opens
    const { differences } = await checkLogs({ db, redis });
    expect(differences).toEqual([]);
    const texts = await sql`
      select distinct text from records join domains on domains.number = domain_number
      join user_agents on user_agents.number = user_agent_family
      where organization_id = ${organizationId} and erased_at is not null`;
    expect([...texts]).toEqual([{ text: 'erased: Firefox, desktop' }]);
  });

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
    expect(await left()).toBe(2);
    await sql`drop trigger refuse on derivations`;
    await sealer.blank();
    expect(await left()).toBe(0);
  });

  it('takes all that is of erased visitors, in however many domains and transactions, and nothing else', async () => {
    await erase();
    const domains = await sql<{ id: string }>`
      insert into domains (id, organization_id, name)
      select ${tenant.organizationId} || n, ${tenant.organizationId}, '' from generate_series(1, 60) as n returning id`;
    const ofEach = domains.map(({ id }) => record('v', { domainId: id }));
    // more than one transaction blanks, and more than one piece looks at
    const ofOne = Array.from({ length: 4_200 }, (_, n) => record(n % 8 === 0 ? 'v' : 'another'));
    await persist(db, [...ofEach, ...ofOne]);
    await sealer.closeAndSeal();
    expect(await left()).toBe(4_200 - 525);
    const erasures = await sql`
      select from log_texts join domains on number = domain_number where organization_id = ${tenant.organizationId}`;
    expect(erasures.count).toBe(60 + 525);
  });

  it('names the erasure of the visitor and the domain, where another domain has a record of the same id', async () => {
    const another = await makeTenant(db, { domains: 1 });
    const same = record('v');
    const records = [same, record('v', { domainId: at(tenant.domainIds, 1) })];
    await persist(db, [...records, { ...same, domainId: at(another.domainIds, 0), visitorId: 'w' }]);
    const begin = async (name: string, { organizationId }: Tenant, visitorId: string, domainId?: string) => {
      const hash = hashOf(organizationId, visitorId);
      const numbers = await db.read((sql) => numbersOf(sql, { organizationId, domainId }));
      await db.write((sql) => addTombstone(sql, numbers, hash));
      await sql`
        insert into erasures (id, organization_number, domain_number, hash, visitor_id)
        values (${name}, ${numbers.organizationNumber}, ${numbers.domainNumber}, ${hash}, ${visitorId})`;
    };
    await begin('ers_second', tenant, 'v', at(tenant.domainIds, 1));
    await begin('ers_first', tenant, 'v', at(tenant.domainIds, 0));
    await begin('ers_another', another, 'w');
    await sealer.close();
    await sealer.blank();
    const named = await sql<{ id: string; erasure: string }>`
      select domains.id, erasure from erasures_to_seal join domains on number = domain_number
      where organization_id in (${tenant.organizationId}, ${another.organizationId})`;
    expect(Object.fromEntries(named.map(({ id, erasure }) => [id, erasure]))).toEqual({
      [at(tenant.domainIds, 0)]: 'ers_first',
      [at(tenant.domainIds, 1)]: 'ers_second',
      [at(another.domainIds, 0)]: 'ers_another',
    });
    const counted = await sql`select from erasures where id like 'ers\\_%' and done_at is null and records = 1`;
    expect(counted.count).toBe(3);
  });

  it('and clearing cost the same, however many were erased before', async () => {
    // all on one connection, which reports what it has read: others report it at any time, such as in a round
    const db = openPool(url, { max: 1 });
    const sql = statementsOn(db);
    await sql`
      insert into tombstones (hash, organization_number, domain_number, epoch, until)
      select sha256(n::text::bytea), number, 0, 1, now() + interval '1 day'
      from generate_series(1, 2000) as n, organizations where id = ${tenant.organizationId}`;
    await sql`
      insert into rejected_records (error_code, error, record)
      select '', '', '{"n":' || n || '}' from generate_series(1, 500) as n`;
    await sql`analyze tombstones, rejected_records`;
    const { close, blank } = createSealer(db, redis);
    const copyTombstones = createTombstoneCopy({ redis, db });
    const clear = createClearing({ config, hashOf, redis, db, clock: turnedClock(db).clock });
    const read = async () => {
      await sql`select pg_stat_force_next_flush()`;
      const rows = await sql<{ name: string; rows: number }>`
        select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as rows from pg_stat_user_tables
        where relname in ('tombstones', 'rejected_records')`;
      return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
    };
    const round = async () => {
      const before = await read();
      await persist(db, [record(), record('another'), record('v', { domainId: at(tenant.domainIds, 1) })]);
      await close();
      await blank();
      await copyTombstones();
      await clear();
      const after = await read();
      const of = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
      return { tombstones: of('tombstones'), rejected: of('rejected_records') };
    };
    // Redis has all of them, and rejected records are searched for all, once
    await round();
    await sql`analyze tombstones, rejected_records`;
    await erase();
    await reject(record(), record('another'));
    expect((await round()).tombstones).toBeLessThan(200);
    expect([await rejectedOf('v'), await rejectedOf('another')]).toEqual([0, 1]);
    await reject(record(), record('another'));
    const { tombstones, rejected } = await round();
    expect([await rejectedOf('v'), await rejectedOf('another')]).toEqual([0, 2]);
    expect(tombstones).toBeLessThan(200);
    expect(rejected).toBeLessThan(50);
    expect(await left()).toBe(3);
  });

  it('clears what it can where one step fails, and says which', async () => {
    await erase();
    await reject(record());
    await sql`alter table busy_visitors rename to gone`;
    const failure = clear().finally(() => sql`alter table gone rename to busy_visitors`);
    await expect(failure).rejects.toThrow('could not clear: busy visitors');
    expect(await rejectedOf('v')).toBe(0);
  });

  it('searches for visitors who are erased on another domain, or again, while a search is under way', async () => {
    const { organizationId, domainIds } = tenant;
    const [first, second] = [
      await db.run((sql) => numbersOf(sql, { organizationId, domainId: at(domainIds, 0) })),
      await db.run((sql) => numbersOf(sql, { organizationId, domainId: at(domainIds, 1) })),
    ];
    const eraseOn = (numbers: ScopeNumbers) => db.run((sql) => addTombstone(sql, numbers, hashOf(organizationId, 'v')));
    const concerned = (erasures: ScopeNumbers[]) => erasures.map(({ domainNumber }) => domainNumber).toSorted();
    await eraseOn(first);
    const searched = await db.read((sql) => listUnsearched(sql, 'rejected'));
    const copied = await db.read((sql) => listUnremembered(sql, 10));
    await eraseOn(second);
    await noteSearched(db, 'rejected', searched);
    await db.write((sql) => noteRemembered(sql, copied));
    const left = async () => [
      concerned(await db.read((sql) => listUnsearched(sql, 'rejected'))),
      concerned(await db.read((sql) => listUnremembered(sql, 10))),
    ];
    expect(await left()).toEqual([[second.domainNumber], [second.domainNumber]]);
    await eraseOn(first);
    await noteSearched(db, 'rejected', searched);
    await db.write((sql) => noteRemembered(sql, copied));
    const both = concerned([first, second]);
    expect(await left()).toEqual([both, both]);
  });

  it('knows who was erased for as long as both clocks say, also while that of Postgres is wrong', async () => {
    const day = 86_400_000;
    const { organizationId } = tenant;
    const numbers = await db.run((sql) => numbersOf(sql, { organizationId }));
    await erase();
    // as it is for a Postgres that is ahead
    await sql`update tombstones set until = now() - interval '1 day'`;
    await persist(db, [record()]);
    await sealer.closeAndSeal();
    expect(await left()).toBe(0);
    await deleteOldTombstones(db, new Date(Date.now() - 2 * day));
    expect(await countTombstones()).toBe(1);
    await deleteOldTombstones(db, new Date());
    expect(await countTombstones()).toBe(0);
    // of one that is behind
    await db.run((sql) => addTombstone(sql, numbers, hashOf(organizationId, 'v'), new Date(Date.now() + 100 * day)));
    await createTombstoneCopy({ redis, db })();
    const remembered = (await recallTombstones(redis.client)).find((each) => each.organizationId === organizationId);
    expect(Date.parse(remembered?.erasedAt ?? '')).toBeGreaterThan(Date.now() + 99 * day);
  });

  it('forgets who was erased so long ago that no backup has them, once the clocks were right for nearly an hour', async () => {
    const { organizationId } = tenant;
    const remembered = [40, 30].map((days) => ({
      ...{ organizationId, domainId: null, hash: String(days).repeat(32) },
      erasedAt: new Date(Date.now() - days * 86_400_000).toISOString(),
    }));
    await redis.client.flushall();
    await rememberTombstones(redis.client, remembered);
    await erase();
    await sql`update tombstones set until = now() - interval '1 day'`;
    await sql`insert into user_agents_to_look_for (number) values (7)`;
    const known = async (minutes: number) => {
      const clock = { steadyFor: () => minutes * 60_000 };
      await clear({ config: { queueShards: 1, backupDays: 35 }, hashOf: undefined, clock });
      const inRedis = (await recallTombstones(redis.client)).map(({ hash }) => hash.slice(0, 2));
      return [...inRedis.sort(), await countTombstones()];
    };
    // as where both have jumped together
    expect(await known(49)).toEqual(['30', '40', 1]);
    expect(await known(50)).toEqual(['30', 0]);
    // nor does that depend on who was erased
    expect(await sql`select from user_agents_to_look_for`).toHaveLength(0);
  });
});
