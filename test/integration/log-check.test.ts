import { beforeAll, describe, expect, it } from 'vitest';
import { dayOf, monthOf } from '#libs/contract/calendar';
import { makeIdAt } from '#libs/contract/uuid';
import type { RedisConnection } from '#libs/runtime/redis';
import { dropMonth, makeMonth } from '#libs/store/records/months';
import { persist } from '#libs/store/records/persist';
import type { Database, Sql } from '#libs/store/sql';
import { remember } from '#libs/witness/witness';
import { checkLogs, type Difference } from '../../apps/cli/check/check.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, type Sealer } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';

const now = Date.now();

const fullRecord = (domainId: string, index: number) =>
  recordAt(now - index * 17, {
    domainId,
    decision: 'custom',
    visitorId: `visitor ${index}`,
    preferences: { necessary: true, analytics: index % 2 === 0 },
    bannerVersion: '1',
    policyVersion: '2',
    language: 'de',
    pageUrl: 'https://shop.example/',
    country: 'DE',
    ip: '192.0.2.0',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    tcString: 'tc',
    gppString: 'gpp',
    gpc: false,
    metadata: { plan: 'pro' },
  });

/** A sealed log of a domain of its own: two whole tiles, and a tail of several runs. */
interface Sealed {
  domainId: string;
  number: number;
  /** by position, as they are written in text */
  ids: string[];
}

describe('a check of the logs', () => {
  let db: Database;
  let redis: RedisConnection;
  let sealer: Sealer;

  beforeAll(async () => {
    ({ db } = await openDatabase());
    redis = await openRedis((await openRedisServer()).url);
    sealer = createSealer(db, redis);
  });

  const seal = async (): Promise<Sealed> => {
    const domainId = at((await makeTenant(db)).domainIds, 0);
    let index = 0;
    for (const count of [300, 250, 30, 20]) {
      const records = Array.from({ length: count }, () => fullRecord(domainId, index++));
      await persist(db, records);
      await sealer.closeAndSeal();
    }
    const rows = await db.run(
      (sql) => sql<{ number: number; id: string }[]>`
        select number, records.id from domains join records on domain_number = number
        where domains.id = ${domainId} order by epoch, records.id`,
    );
    return { domainId, number: at(rows, 0).number, ids: rows.map(({ id }) => id) };
  };
  const check = (domainId: string) => checkLogs({ db, redis, domainId });
  const differencesOf = async ({ domainId }: Sealed) => (await check(domainId)).differences;
  const of = ({ domainId }: Sealed, position: number | null, what: string | RegExp): Difference => ({
    domainId,
    log: 1,
    position,
    what: typeof what === 'string' ? what : expect.stringMatching(what),
  });
  const notSealed = (sealed: Sealed, position: number) =>
    of(sealed, position, `record ${at(sealed.ids, position)} as stored, or its secret, is not what was sealed`);

  /** The bytes of one entry in the run that holds it. */
  const overwrite = (
    sql: Sql,
    { number }: Sealed,
    position: number,
    column: 'ids' | 'secrets' | 'leaves',
    bytes: Buffer,
  ) => sql`
    update log_runs
    set ${sql(column)} = overlay(${sql(column)} placing ${bytes} from (${position}::int - first::int) * ${bytes.length} + 1)
    where domain_number = ${number} and first <= ${position} and first + entries > ${position}`;

  it('finds nothing where nothing is wrong, in whole tiles and in the tail', async () => {
    const { domainId } = await seal();
    const runs = await db.run(
      (sql) => sql<{ entries: number }[]>`
        select entries from log_runs where domain_number = (select number from domains where id = ${domainId})
        order by first`,
    );
    expect(runs.map(({ entries }) => entries)).toEqual([256, 256, 38, 30, 20]);
    expect(await check(domainId)).toEqual({ checked: 600, differences: [] });
  });

  it.each([
    ['decision', `decision = 'reject_all'`],
    ['time of arrival', `received_at = received_at + interval '1 ms'`],
    ['source', `source = 'api'`],
    ['mark as a crawler', 'bot = true'],
    ['signal', 'gpc = true'],
    ['visitor id', `visitor_id = 'somebody else'`],
    ['preferences', `preferences = '{"necessary": true, "analytics": true, "marketing": true}'`],
    ['banner version', `banner_version = '1.0'`],
    ['policy version', 'policy_version = null'],
    ['language', `language = 'en'`],
    ['page', `page_url = 'https://shop.example/other'`],
    ['country', `country = 'FR'`],
    ['address', `ip = '192.0.2.1'`],
    ['TC string', `tc_string = ''`],
    ['GPP string', `gpp_string = null`],
    ['metadata', `metadata = '{"plan": "free"}'`],
    ['user agent', 'user_agent_number = null'],
  ])('finds a record whose %s was changed, by its position', async (_, change) => {
    const sealed = await seal();
    for (const position of [255, 599]) {
      await db.run((sql) => sql.unsafe(`update records set ${change} where id = '${at(sealed.ids, position)}'`));
    }
    expect(await differencesOf(sealed)).toEqual([notSealed(sealed, 255), notSealed(sealed, 599)]);
  });

  it("finds a changed user agent's text", async () => {
    const sealed = await seal();
    const record = { ...fullRecord(sealed.domainId, 600), userAgent: 'Mozilla/5.0 (X11; Linux) a rare one' };
    await persist(db, [record]);
    await sealer.closeAndSeal();
    expect(await differencesOf(sealed)).toEqual([]);
    await db.run(
      (sql) => sql`
        update user_agents set text = 'another'
        where number = (select user_agent_number from records where id = ${record.id})`,
    );
    const what = `record ${record.id} as stored, or its secret, is not what was sealed`;
    expect(await differencesOf(sealed)).toEqual([of(sealed, 600, what)]);
  });

  it('finds a record whose time was changed, which is its id', async () => {
    const sealed = await seal();
    const moved = makeIdAt(now - 3_600_000);
    await db.run((sql) => sql`update records set id = ${moved} where id = ${at(sealed.ids, 400)}`);
    expect(await differencesOf(sealed)).toEqual([
      of(sealed, 400, `record ${at(sealed.ids, 400)} is not stored any more`),
      of(sealed, null, `record ${moved} is stored, but is not in the log`),
    ]);
  });

  it('finds a deleted record', async () => {
    const sealed = await seal();
    await db.run((sql) => sql`delete from records where id = ${at(sealed.ids, 570)}`);
    expect(await differencesOf(sealed)).toEqual([
      of(sealed, 570, `record ${at(sealed.ids, 570)} is not stored any more`),
    ]);
  });

  it('finds a record that was moved to another domain, in both', async () => {
    const [sealed, other] = [await seal(), await seal()];
    await db.run((sql) => sql`update records set domain_number = ${other.number} where id = ${at(sealed.ids, 0)}`);
    expect(await differencesOf(sealed)).toEqual([of(sealed, 0, `record ${at(sealed.ids, 0)} is not stored any more`)]);
    expect(await differencesOf(other)).toEqual([
      of(other, null, `record ${at(sealed.ids, 0)} is stored, but is not in the log`),
    ]);
  });

  it('finds a record that was inserted by hand, without sealing', async () => {
    const sealed = await seal();
    const id = makeIdAt(now);
    await db.run(
      (sql) => sql`
        insert into records (received_at, id, domain_number, epoch, decision, source, bot)
        select now(), ${id}, domain_number, epoch, 'accept_all', 'banner', false
        from records where id = ${at(sealed.ids, 10)}`,
    );
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, `record ${id} is stored, but is not in the log`)]);
  });

  it('counts a record of an epoch that is not sealed yet as nothing', async () => {
    const sealed = await seal();
    await persist(db, [fullRecord(sealed.domainId, 1_000)]);
    expect(await differencesOf(sealed)).toEqual([]);
    await sealer.close();
    expect(await differencesOf(sealed)).toEqual([]);
    await sealer.seal();
    expect(await check(sealed.domainId)).toEqual({ checked: 601, differences: [] });
  });

  it.each([
    ['in a whole tile', 20, 21],
    ['in the tail', 551, 552],
  ])('finds swapped secrets %s', async (_, one, other) => {
    const sealed = await seal();
    const secretAt = (position: number) =>
      db.run(async (sql) => {
        const [row] = await sql<{ secret: Buffer }[]>`
          select substr(secrets, (${position}::int - first::int) * 16 + 1, 16) as secret from log_runs
          where domain_number = ${sealed.number} and first <= ${position} and first + entries > ${position}`;
        return row?.secret ?? Buffer.alloc(0);
      });
    const [first, second] = [await secretAt(one), await secretAt(other)];
    await db.run((sql) => overwrite(sql, sealed, one, 'secrets', second));
    await db.run((sql) => overwrite(sql, sealed, other, 'secrets', first));
    expect(await differencesOf(sealed)).toEqual([notSealed(sealed, one), notSealed(sealed, other)]);
  });

  it.each([
    ['a whole tile', 300],
    ['the tail', 560],
  ])('finds a changed leaf in %s, and that it is the leaf that was changed', async (_, position) => {
    const sealed = await seal();
    await db.run((sql) => overwrite(sql, sealed, position, 'leaves', Buffer.alloc(32, 7)));
    expect(await differencesOf(sealed)).toEqual([
      of(sealed, position, `the stored hash of record ${at(sealed.ids, position)} was changed`),
    ]);
  });

  it('finds a record and its leaf that were changed together', async () => {
    const sealed = await seal();
    await db.run((sql) => overwrite(sql, sealed, 300, 'leaves', Buffer.alloc(32, 7)));
    await db.run((sql) => sql`update records set decision = 'withdraw' where id = ${at(sealed.ids, 300)}`);
    const differences = await differencesOf(sealed);
    expect(differences).toContainEqual(of(sealed, 256, 'the stored hash of the entries 256 to 511 is not theirs'));
    expect(differences).toContainEqual(notSealed(sealed, 300));
  });

  it('finds a whole tile that was changed, each of its entries', async () => {
    const sealed = await seal();
    await db.run(
      (sql) => sql`
        update log_runs set secrets = decode(repeat('07', 256 * 16), 'hex')
        where domain_number = ${sealed.number} and first = 256`,
    );
    expect(await differencesOf(sealed)).toEqual(
      Array.from({ length: 256 }, (_, place) => notSealed(sealed, 256 + place)),
    );
  });

  it.each([
    ['a whole tile', 256, 'the entries 256 to 511 are missing'],
    ['a run of the tail', 550, 'the entries 550 to 579 are missing'],
    ['the last run', 580, 'the entries 580 to 599 are missing'],
  ])('finds that %s is missing', async (_, first, what) => {
    const sealed = await seal();
    await db.run((sql) => sql`delete from log_runs where domain_number = ${sealed.number} and first = ${first}`);
    const differences = await differencesOf(sealed);
    expect(differences[0]).toEqual(of(sealed, first, what));
    // its records are there, but nowhere in the log
    const lost = differences.slice(1);
    expect(lost.length).toBeGreaterThan(19);
    expect(lost.every((each) => /is stored, but is not in the log/.test(each.what))).toBe(true);
  });

  it.each([
    ['overlap', 'first = first - 1', 'two runs of entries overlap here', 549],
    ['have fewer leaves than entries', 'leaves = substr(leaves, 33)', /malformed/, 550],
    ['have fewer ids than entries', 'ids = substr(ids, 17)', /malformed/, 550],
    ['have fewer secrets than entries', 'secrets = substr(secrets, 17)', /malformed/, 550],
  ])('finds runs that %s', async (_, change, what, position) => {
    const sealed = await seal();
    await db.run((sql) =>
      sql.unsafe(`update log_runs set ${change} where domain_number = ${sealed.number} and first = 550`),
    );
    expect(await differencesOf(sealed)).toContainEqual(of(sealed, position, what));
  });

  it('finds a changed node, and a missing one', async () => {
    const sealed = await seal();
    await db.run(
      (sql) => sql`
        update log_nodes set hash = decode(repeat('07', 32), 'hex') where domain_number = ${sealed.number} and n = 1`,
    );
    expect(await differencesOf(sealed)).toEqual([
      of(sealed, 256, 'the stored hash of the entries 256 to 511 is not theirs'),
    ]);
    await db.run((sql) => sql`delete from log_nodes where domain_number = ${sealed.number} and n = 1`);
    expect(await differencesOf(sealed)).toEqual([of(sealed, 256, 'the hash of the entries 256 to 511 is missing')]);
  });

  it.each([
    ['root', `checkpoint = overlay(checkpoint placing repeat('A', 43) from strpos(checkpoint, E'\\n600\\n') + 5)`],
    ['size', `checkpoint = replace(checkpoint, E'\\n600\\n', E'\\n599\\n')`],
    ['signature', `checkpoint = overlay(checkpoint placing 'AAAA' from length(checkpoint) - 20)`],
    ['form', `checkpoint = left(checkpoint, -1)`],
  ])('finds a checkpoint whose %s was changed', async (_, change) => {
    const sealed = await seal();
    const { count } = await db.run((sql) =>
      sql.unsafe(`update logs set ${change} where domain_number = ${sealed.number} returning checkpoint`),
    );
    expect(count).toBe(1);
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, /^the checkpoint cannot be trusted: /)]);
  });

  it("finds a checkpoint that is another log's, an older one, one without its key, and none", async () => {
    const [sealed, other] = [await seal(), await seal()];
    const checkpointOf = ({ number }: Sealed) =>
      db.run(async (sql) => {
        const [row] = await sql<{ checkpoint: string }[]>`select checkpoint from logs where domain_number = ${number}`;
        return row?.checkpoint ?? '';
      });
    const set = (checkpoint: string | null) =>
      db.run((sql) => sql`update logs set checkpoint = ${checkpoint} where domain_number = ${sealed.number}`);
    const older = await checkpointOf(sealed);
    await set(await checkpointOf(other));
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, /cannot be trusted/)]);
    await set(older);
    await persist(db, [fullRecord(sealed.domainId, 700)]);
    await sealer.closeAndSeal();
    await set(older);
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, 'the checkpoint covers 600 entries, not 601')]);
    await set(null);
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, 'the checkpoint of 601 entries is missing')]);
    await set(older);
    await db.run((sql) => sql`delete from log_keys where domain_number = ${sealed.number}`);
    expect(await differencesOf(sealed)).toContainEqual(of(sealed, null, /cannot be trusted/));
  });

  it('finds a head whose hashes or size were changed', async () => {
    const sealed = await seal();
    const set = (change: string) =>
      db.run((sql) => sql.unsafe(`update logs set ${change} where domain_number = ${sealed.number}`));
    await set(`frontier = set_byte(frontier, 40, 255 - get_byte(frontier, 40))`);
    expect(await differencesOf(sealed)).toEqual([of(sealed, null, "the log's head is not that of its entries")]);
    const shrunken = await seal();
    await db.run((sql) => sql`update logs set size = 590 where domain_number = ${shrunken.number}`);
    const differences = await differencesOf(shrunken);
    expect(differences).toContainEqual(
      of(shrunken, null, 'the checkpoint covers 600 entries, and only 590 are stored'),
    );
    expect(differences).toContainEqual(
      of(shrunken, 590, '600 entries were signed, as Redis remembers, and only 590 are stored'),
    );
  });

  it('finds that Redis remembers more, another tree, or a log that is not there', async () => {
    const [ahead, forked, gone] = [await seal(), await seal(), await seal()];
    const root = Buffer.alloc(32, 7).toString('base64');
    await remember(redis.client, [{ domainId: ahead.domainId, log: 1, size: 650, root }]);
    expect(await differencesOf(ahead)).toEqual([
      of(ahead, 600, '650 entries were signed, as Redis remembers, and only 600 are stored'),
    ]);
    await redis.client.hset('assent:logs', forked.domainId, `1 550 ${root}`);
    expect(await differencesOf(forked)).toEqual([
      of(forked, null, 'Redis remembers another root of the first 550 entries than they have'),
    ]);
    await remember(redis.client, [{ domainId: gone.domainId, log: 2, size: 1, root }]);
    expect(await differencesOf(gone)).toEqual([
      of(gone, null, 'Redis remembers log 2 of the domain, which is not stored'),
    ]);
    expect(await checkLogs({ db, redis: undefined, domainId: gone.domainId })).toEqual({
      checked: 600,
      differences: [],
    });
  });

  it('finds records of a domain whose whole log is gone', async () => {
    const sealed = await seal();
    await db.run(async (sql) => {
      for (const table of ['log_runs', 'log_nodes', 'log_keys', 'logs']) {
        await sql`delete from ${sql(table)} where domain_number = ${sealed.number}`;
      }
    });
    const differences = await differencesOf(sealed);
    expect(differences).toHaveLength(601);
    expect(differences[0]).toEqual(of(sealed, null, 'Redis remembers log 1 of the domain, which is not stored'));
    expect(differences[1]).toEqual(of(sealed, null, /is stored, but is not in the log/));
  });

  it('finds an entry that pretends to have expired', async () => {
    const sealed = await seal();
    await db.run((sql) => sql`delete from records where id = ${at(sealed.ids, 7)}`);
    for (const column of ['ids', 'secrets'] as const) {
      await db.run((sql) => overwrite(sql, sealed, 7, column, Buffer.alloc(16)));
    }
    expect(await differencesOf(sealed)).toEqual([
      of(sealed, 7, 'the entry says that its record has expired, but retention has dropped no month'),
    ]);
  });

  it('finds nothing while sealing goes on beside it', async () => {
    const sealed = await seal();
    let isOver = false;
    const growing = (async () => {
      for (let round = 0; round < 12 || !isOver; round += 1) {
        const records = Array.from({ length: 90 }, (_, each) => fullRecord(sealed.domainId, 1_000 + round * 90 + each));
        await persist(db, records);
        await sealer.closeAndSeal();
      }
    })();
    const results = [];
    for (let round = 0; round < 15; round += 1) results.push(await check(sealed.domainId));
    isOver = true;
    await growing;
    expect(results.flatMap(({ differences }) => differences)).toEqual([]);
    expect(at(results, -1).checked).toBeGreaterThan(600);
  });

  const ofOneText = async (count: number): Promise<Pick<Sealed, 'domainId' | 'number'>> => {
    const domainId = at((await makeTenant(db)).domainIds, 0);
    const [domain] = await db.run(
      (sql) => sql<{ number: number }[]>`
        with stored as (
          insert into records (received_at, id, domain_number, epoch, decision, source, bot)
          select now(), overlay(id_at(now())::text placing to_char(n, 'FM000000000000') from 25)::uuid, number,
            (select open_epoch()), 'accept_all', 'banner', false
          from domains cross join generate_series(1, ${count}::int) as n where domains.id = ${domainId}
        )
        select number from domains where id = ${domainId}`,
    );
    await sealer.closeAndSeal();
    return { domainId, number: domain?.number ?? 0 };
  };

  it('finds a changed node of 65,536 entries, and a missing one', async () => {
    const { domainId, number } = await ofOneText(65_600);
    const { count } = await db.run(
      (sql) => sql`
        update log_nodes set hash = decode(repeat('07', 32), 'hex') where domain_number = ${number} and level = 2`,
    );
    expect(count).toBe(1);
    const what = 'the stored hash of the entries 0 to 65535 is not theirs';
    expect(await check(domainId)).toEqual({ checked: 65_600, differences: [{ domainId, log: 1, position: 0, what }] });
    await db.run((sql) => sql`delete from log_nodes where domain_number = ${number} and level = 2`);
    expect((await check(domainId)).differences).toEqual([
      { domainId, log: 1, position: 0, what: 'the hash of the entries 0 to 65535 is missing' },
    ]);
  }, 120_000);

  it('tells of the first thousand differences of a log', async () => {
    const { domainId, number } = await ofOneText(1_500);
    await db.run((sql) => sql`update records set language = 'xx' where domain_number = ${number}`);
    const { differences } = await check(domainId);
    expect(differences).toHaveLength(1_001);
    expect(at(differences, -1)).toEqual({ domainId, log: 1, position: null, what: '500 more differences' });
  });
});

describe('a check of logs with expired records', () => {
  it('counts them, and takes nothing of a month that retention dropped for a difference', async () => {
    const { db } = await openDatabase();
    const redis = await openRedis((await openRedisServer()).url);
    const sealer = createSealer(db, redis);
    const domainId = at((await makeTenant(db)).domainIds, 0);
    const old = Date.parse(`${dayOf(now).slice(0, 4)}-01-15T00:00:00Z`) - 86_400_000 * 366;
    await db.run((sql) => makeMonth(sql, monthOf(old)));
    await persist(
      db,
      [0, 1, 2].map((each) => recordAt(old + each, { domainId })),
    );
    await sealer.closeAndSeal();
    await persist(
      db,
      [0, 1].map((each) => recordAt(now - each, { domainId })),
    );
    await sealer.closeAndSeal();
    expect(await checkLogs({ db, redis })).toEqual({ checked: 5, differences: [] });
    expect(await db.run((sql) => dropMonth(sql, monthOf(old)))).toBe(true);
    expect(await checkLogs({ db, redis })).toEqual({ checked: 5, differences: [] });
    // as expiry leaves a run
    await db.run((sql) => sql`update log_runs set ids = null, secrets = null where first = 0`);
    expect(await checkLogs({ db, redis })).toEqual({ checked: 5, differences: [] });
    await db.run(
      (sql) => sql`update log_runs set leaves = set_byte(leaves, 2, 255 - get_byte(leaves, 2)) where first = 0`,
    );
    expect((await checkLogs({ db, redis })).differences).not.toEqual([]);
  });
});
