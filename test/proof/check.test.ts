import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Sql } from '#libs/base/db/database';
import { createLog } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import { dayOf, makeIdAt, monthOf } from '#libs/base/terms/calendar';
import { checkLogs, type Difference } from '#libs/proof/check/check-domains';
import { formatBundle, prove } from '#libs/proof/prove';
import { addNodes, type Node } from '#libs/proof/runs';
import { append, packFrontier, unpackFrontier } from '#libs/proof/tree/frontier';
import { dropMonth, makeMonth } from '#libs/record/month-partitions';
import { persist } from '#libs/record/persist/persist';
import { recordAt } from '../support/records.ts';
import { createSealer, eraseRecords } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';
import { rolledBack } from '../support/transaction.ts';

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
    region: 'US-CA',
    model: 'opt_in',
  });

/** A sealed log of a domain of its own. */
interface Sealed {
  domainId: string;
  number: number;
  /** by position, as they are written in text */
  ids: string[];
}

const sevens = (bytes: number) => Buffer.alloc(bytes, 7);

const untrusted = /^the checkpoint cannot be trusted: /;

const seal = async (...counts: number[]): Promise<Sealed> => {
  const domainId = at((await makeTenant(db)).domainIds, 0);
  return sealMore(domainId, 0, ...counts);
};

/** `sealedBefore`: records */
const sealMore = async (domainId: string, sealedBefore: number, ...counts: number[]): Promise<Sealed> => {
  let index = sealedBefore;
  for (const count of counts) {
    const records = Array.from({ length: count }, () => fullRecord(domainId, index++));
    await persist(db, records);
    await sealer.closeAndSeal();
  }
  const rows = await sql<{ number: number; id: string }>`
    select number, records.id from domains join records on domain_number = number
    where domains.id = ${domainId} order by epoch, records.id`;
  return { domainId, number: at(rows, 0).number, ids: rows.map(({ id }) => id) };
};

const { db, sql } = await openDatabase();
const redis = await openRedis((await openRedisServer()).url);
const sealer = createSealer(db, redis);
/** two whole tiles, and a tail of several runs */
const sealed = await seal(300, 250, 30, 20);
const other = await seal(2);

describe('a check of the logs', () => {
  const check = ({ domainId }: Sealed) => checkLogs({ db, redis, domainId });
  /** What a check finds once the database was changed so, which is undone. */
  const differencesAfter = (change: (sql: Sql) => Promise<unknown>, { domainId } = sealed) =>
    rolledBack(db, async (inside) => {
      await inside.write(change);
      return (await checkLogs({ db: inside, redis, domainId })).differences;
    });
  const of = (position: number | null, what: string | RegExp, { domainId } = sealed): Difference => ({
    domainId,
    log: 1,
    position,
    what: typeof what === 'string' ? what : expect.stringMatching(what),
  });
  const idAt = (position: number) => at(sealed.ids, position);
  const notSealed = (position: number) =>
    of(position, `record ${idAt(position)} as stored, or its secret, is not what was sealed`);
  const notThere = (position: number) => of(position, `record ${idAt(position)} is not stored any more`);
  const notInLog = (id: string, where = sealed) => of(null, `record ${id} is stored, but is not in the log`, where);
  const expectFound = async (change: (sql: Sql) => Promise<unknown>, ...differences: Difference[]) =>
    expect(await differencesAfter(change)).toEqual(differences);
  const expectAmong = async (change: (sql: Sql) => Promise<unknown>, ...differences: Difference[]) =>
    expect(await differencesAfter(change)).toEqual(expect.arrayContaining(differences));

  const widths = { ids: 16, secrets: 16, leaves: 32 };
  /** The bytes of one entry in the run that holds it. */
  const overwrite = (sql: Sql, position: number, column: keyof typeof widths, bytes = sevens(widths[column])) => sql`
    update log_runs
    set ${sql(column)} = overlay(${sql(column)} placing ${bytes} from (${position}::int - first::int) * ${bytes.length} + 1)
    where domain_number = ${sealed.number} and first <= ${position} and first + entries > ${position}`;
  const changeRecord = (sql: Sql, position: number, change: string) =>
    sql.unsafe(`update records set ${change} where id = '${idAt(position)}'`);
  const deleteRecord = (sql: Sql, position: number) => sql`delete from records where id = ${idAt(position)}`;
  const changeRun = (first: number, change: string) => (sql: Sql) =>
    sql.unsafe(`update log_runs set ${change} where domain_number = ${sealed.number} and first = ${first}`);
  const changeLog = (change: string) => (sql: Sql) =>
    sql.unsafe(`update logs set ${change} where domain_number = ${sealed.number}`);

  it('finds nothing where nothing is wrong, in whole tiles and in the tail', async () => {
    const runs = await sql<{ entries: number }>`
      select entries from log_runs where domain_number = ${sealed.number} order by first`;
    expect(runs.map(({ entries }) => entries)).toEqual([248, 8, 248, 8, 38, 30, 20]);
    expect(await check(sealed)).toEqual({ checked: 600, differences: [] });
  });

  it('finds nothing wrong where an older release had left a run of more than 248 entries', async () => {
    const old = await seal(251);
    await sql`
      with rest as (delete from log_runs where domain_number = ${old.number} and first = 248 returning *)
      update log_runs as r set
        entries = 251, last_epoch = rest.last_epoch, last_id = rest.last_id, sealed = r.sealed || rest.sealed,
        ids = r.ids || rest.ids, secrets = r.secrets || rest.secrets, leaves = r.leaves || rest.leaves
      from rest where r.domain_number = rest.domain_number and r.first = 0`;
    await sealMore(old.domainId, 251, 2, 300);
    const runs = await sql<{ first: number }>`
      select first from log_runs where domain_number = ${old.number} order by first`;
    expect(runs.map(({ first }) => first)).toEqual([0, 251, 256, 504, 512]);
    expect(await check(old)).toEqual({ checked: 553, differences: [] });
  });

  it('finds each record of which a column was changed, by its position', async () => {
    const changes = [
      `decision = 'reject_all'`,
      `received_at = received_at + interval '1 ms'`,
      `source = 'api'`,
      'bot = true',
      'gpc = true',
      `visitor_id = 'somebody else'`,
      `preferences = '{"necessary": true, "analytics": true, "marketing": true}'`,
      `banner_version = '1.0'`,
      'policy_version = null',
      `language = 'en'`,
      `page_url = 'https://shop.example/other'`,
      `country = 'FR'`,
      `ip = '192.0.2.1'`,
      `tc_string = ''`,
      'gpp_string = null',
      `metadata = '{"plan": "free"}'`,
      'user_agent_number = null',
      `region = 'US-NY'`,
      'model = null',
      `region = null, model = null`,
    ];
    // across the end of a tile, and in the tail
    for (const first of [250, 580]) {
      const changeAll = async (sql: Sql) => {
        for (const [place, change] of changes.entries()) await changeRecord(sql, first + place, change);
      };
      await expectFound(changeAll, ...changes.map((_, place) => notSealed(first + place)));
    }
    const changeText = (sql: Sql) => sql`update user_agents set text = 'another'`;
    await expectFound(changeText, ...sealed.ids.map((_, position) => notSealed(position)));
  });

  it('finds nothing where a worker of 0.1.0 sealed records without their region and model, and all else of them', async () => {
    const domainId = at((await makeTenant(db)).domainIds, 0);
    // it does not know these columns, so that it seals a record as if they were empty
    const records = [0, 1, 2].map((index) => ({ ...fullRecord(domainId, index), region: undefined, model: undefined }));
    await persist(db, records);
    await sealer.closeAndSeal();
    await sql`
      update records set region = 'US-CA', model = 'opt_out'
      where domain_number = (select number from domains where id = ${domainId})`;
    const old = await sealMore(domainId, 3, 2);
    expect(await check(old)).toEqual({ checked: 5, differences: [] });
    const change = (sql: Sql) => sql`update records set country = 'FR' where id = ${at(old.ids, 0)}`;
    const what = `record ${at(old.ids, 0)} as stored, or its secret, is not what was sealed`;
    expect(await differencesAfter(change, old)).toEqual([of(0, what, old)]);

    const wanted = { domainId, isBundle: true, recordId: at(old.ids, 2) };
    const reported = { log: createLog('test', 'silent'), domainId, requestId: '' };
    const proven = await db.run((sql) => prove(sql, wanted, reported));
    if (!proven) return expect.fail('it is not sealed');
    const { record, opening } = formatBundle(proven);
    expect([record.region, JSON.parse(opening.circumstances.text)]).toEqual([
      'US-CA',
      expect.not.objectContaining({ region: expect.anything() }),
    ]);
    // an erased one, too
    await eraseRecords(db, domainId, old.ids);
    expect((await check(old)).differences).toEqual([]);
  });

  it('finds a record that was deleted, inserted by hand, or whose time was changed, which is its id', async () => {
    await expectFound((sql) => deleteRecord(sql, 570), notThere(570));
    const id = makeIdAt(now - 3_600_000);
    const insert = (sql: Sql) => sql`
      insert into records (received_at, id, domain_number, epoch, decision, source, bot)
      select now(), ${id}, domain_number, epoch, 'accept_all', 'banner', false from records where id = ${idAt(10)}`;
    await expectFound(insert, notInLog(id));
    await expectFound((sql) => changeRecord(sql, 400, `id = '${id}'`), notThere(400), notInLog(id));
  });

  it('finds swapped secrets, changed leaves, and a record that was changed with its leaf', async () => {
    for (const [first, place] of [
      [0, 20],
      [550, 1],
    ] as const) {
      const two = `substr(secrets, ${place * 16 + 17}, 16) || substr(secrets, ${place * 16 + 1}, 16)`;
      const swap = changeRun(first, `secrets = overlay(secrets placing ${two} from ${place * 16 + 1})`);
      await expectFound(swap, notSealed(first + place), notSealed(first + place + 1));
    }
    const changeAll = changeRun(256, `secrets = decode(repeat('07', 248 * 16), 'hex')`);
    await expectFound(changeAll, ...Array.from({ length: 248 }, (_, place) => notSealed(256 + place)));
    for (const position of [300, 560]) {
      const changed = of(position, `the stored hash of record ${idAt(position)} was changed`);
      await expectFound((sql) => overwrite(sql, position, 'leaves'), changed);
    }
    const changeBoth = async (sql: Sql) => {
      await overwrite(sql, 300, 'leaves');
      await changeRecord(sql, 300, `decision = 'withdraw'`);
    };
    const tile = of(256, 'the stored hash of the entries 256 to 511 is not theirs');
    await expectAmong(changeBoth, tile, notSealed(300));
  });

  it('finds an entry that pretends to have expired', async () => {
    const pretend = async (sql: Sql) => {
      await deleteRecord(sql, 7);
      for (const column of ['ids', 'secrets'] as const) await overwrite(sql, 7, column, Buffer.alloc(16));
    };
    const what = 'the entry says that its record has expired, but retention has dropped no month';
    await expectFound(pretend, of(7, what));
  });

  it.each([
    ['a whole run', 256, 504],
    ['a run of the tail', 550, 580],
    ['the last run', 580, 600],
  ])('finds that %s is missing', async (_, first, end) => {
    const remove = (sql: Sql) => sql`
      delete from log_runs where domain_number = ${sealed.number} and first = ${first}`;
    // its records are there, but nowhere in the log
    const lost = sealed.ids.slice(first, end).sort();
    const missing = of(first, `the entries ${first} to ${end - 1} are missing`);
    await expectFound(remove, missing, ...lost.map((id) => notInLog(id)));
  });

  it('finds runs that overlap, or have fewer leaves, ids or secrets than entries', async () => {
    await expectAmong(changeRun(550, 'first = first - 1'), of(549, 'two runs of entries overlap here'));
    for (const [column, width] of Object.entries(widths)) {
      const cut = changeRun(550, `${column} = substr(${column}, ${width + 1})`);
      await expectAmong(cut, of(550, 'the run of 30 entries that begins here is malformed'));
    }
  });

  it('finds a changed node, a missing one, and a changed head', async () => {
    const node = (sql: Sql) => sql`domain_number = ${sealed.number} and n = 1`;
    const change = (sql: Sql) => sql`update log_nodes set hash = ${sevens(32)} where ${node(sql)}`;
    await expectFound(change, of(256, 'the stored hash of the entries 256 to 511 is not theirs'));
    const remove = (sql: Sql) => sql`delete from log_nodes where ${node(sql)}`;
    await expectFound(remove, of(256, 'the hash of the entries 256 to 511 is missing'));
    const changeHash = changeLog('frontier = set_byte(frontier, 40, 255 - get_byte(frontier, 40))');
    await expectFound(changeHash, of(null, "the log's head is not that of its entries"));
    await expectAmong(
      changeLog('size = 590'),
      of(null, 'the checkpoint covers 600 entries, and only 590 are stored'),
      of(590, '600 entries were signed, as Redis remembers, and only 590 are stored'),
    );
  });

  it.each([
    ['root', `checkpoint = overlay(checkpoint placing repeat('A', 43) from strpos(checkpoint, E'\\n600\\n') + 5)`],
    ['size', `checkpoint = replace(checkpoint, E'\\n600\\n', E'\\n599\\n')`],
    ['signature', `checkpoint = overlay(checkpoint placing 'AAAA' from length(checkpoint) - 20)`],
    ['form', `checkpoint = left(checkpoint, -1)`],
    ['log', 'checkpoint = (select min(checkpoint) from logs other where other.domain_number <> logs.domain_number)'],
  ])('finds a checkpoint whose %s was changed', async (_, change) => {
    await expectFound(changeLog(change), of(null, untrusted));
  });

  it('finds an older checkpoint, one without its key, and none', async () => {
    await expectFound(changeLog('checkpoint_size = 601'), of(null, 'the checkpoint covers 600 entries, not 601'));
    await expectFound(changeLog('checkpoint = null'), of(null, 'the checkpoint of 600 entries is missing'));
    const removeKey = (sql: Sql) => sql`delete from log_keys where domain_number = ${sealed.number}`;
    await expectAmong(removeKey, of(null, untrusted));
  });

  it('finds records of a domain whose whole log is gone', async () => {
    const removeAll = async (sql: Sql) => {
      for (const table of ['log_runs', 'log_nodes', 'log_keys', 'logs'])
        await sql`delete from ${sql(table)} where domain_number = ${sealed.number}`;
    };
    const gone = of(null, 'Redis remembers log 1 of the domain, which is not stored');
    await expectFound(removeAll, gone, ...sealed.ids.toSorted().map((id) => notInLog(id)));
  });

  it('finds a record that was moved to another domain, in both', async () => {
    const move = (sql: Sql) => changeRecord(sql, 0, `domain_number = ${other.number}`);
    expect(await differencesAfter(move)).toEqual([notThere(0)]);
    expect(await differencesAfter(move, other)).toEqual([notInLog(idAt(0), other)]);
  });

  it('finds that Redis remembers more, another tree, or a log that is not there', async () => {
    const known = (await redis.client.hget('assent:logs', sealed.domainId)) ?? '';
    for (const [memory, difference] of [
      ['1 650', of(600, '650 entries were signed, as Redis remembers, and only 600 are stored')],
      ['1 550', of(null, 'Redis remembers another root of the first 550 entries than they have')],
      ['2 1', of(null, 'Redis remembers log 2 of the domain, which is not stored')],
    ] as const) {
      await redis.client.hset('assent:logs', sealed.domainId, `${memory} ${sevens(32).toString('base64')}`);
      expect((await check(sealed)).differences).toEqual([difference]);
    }
    const { domainId } = sealed;
    expect(await checkLogs({ db, redis: undefined, domainId })).toEqual({ checked: 600, differences: [] });
    await redis.client.hset('assent:logs', domainId, known);
  });

  it('counts a record of an epoch that is not sealed yet as nothing', async () => {
    await persist(db, [fullRecord(other.domainId, 1_000)]);
    expect((await check(other)).differences).toEqual([]);
    await sealer.close();
    expect((await check(other)).differences).toEqual([]);
    await sealer.seal();
    expect(await check(other)).toEqual({ checked: 3, differences: [] });
  });

  it('finds nothing while sealing goes on beside it', async () => {
    let isOver = false;
    const growing = (async () => {
      for (let round = 0; round < 7 || !isOver; round += 1) {
        const added = Array.from({ length: 90 }, (_, each) => fullRecord(other.domainId, round * 90 + each));
        await persist(db, added);
        await sealer.closeAndSeal();
      }
    })();
    const results = [await check(other)];
    // until sealing was seen to go on
    while (results.length < 15 || at(results, -1).checked <= at(results, 0).checked) results.push(await check(other));
    isOver = true;
    await growing;
    expect(results.flatMap(({ differences }) => differences)).toEqual([]);
  });

  describe('with expired records', () => {
    const old = Date.parse(`${dayOf(now).slice(0, 4)}-01-15T00:00:00Z`) - 86_400_000 * 366;
    const sealMore = async (domainId: string, from: number, count: number) => {
      const added = Array.from({ length: count }, (_, each) => recordAt(from - each, { domainId }));
      await persist(db, added);
      await sealer.closeAndSeal();
    };

    it('counts them, and takes nothing of a month that retention dropped for a difference', async () => {
      await db.run((sql) => makeMonth(sql, monthOf(old)));
      const aged = await seal(2);
      await sealMore(aged.domainId, old, 3);
      const sound = { checked: 5, differences: [] };
      expect(await check(aged)).toEqual(sound);
      expect(await db.run((sql) => dropMonth(sql, monthOf(old)))).toBe(true);
      expect(await check(aged)).toEqual(sound);
      // as expiry leaves a run
      const change = (to: string) =>
        db.run((sql) => sql.unsafe(`update log_runs set ${to} where domain_number = ${aged.number} and first = 2`));
      await change('ids = null, secrets = null');
      expect(await check(aged)).toEqual(sound);
      await change('leaves = set_byte(leaves, 2, 255 - get_byte(leaves, 2))');
      expect((await check(aged)).differences).not.toEqual([]);
    });

    it('finds a changed node of 65,536 entries, and a missing one, and tells of the first thousand differences', async () => {
      const large = await seal(256);
      // one tile less than 65,536 entries, all but the first of them expired
      await growByExpired(large, 254);
      await sealMore(large.domainId, now, 300);
      expect(await check(large)).toEqual({ checked: 65_580, differences: [] });
      const node = (sql: Sql) => sql`domain_number = ${large.number} and level = 2`;
      expect(
        await differencesAfter((sql) => sql`update log_nodes set hash = ${sevens(32)} where ${node(sql)}`, large),
      ).toEqual([of(0, 'the stored hash of the entries 0 to 65535 is not theirs', large)]);
      expect(await differencesAfter((sql) => sql`delete from log_nodes where ${node(sql)}`, large)).toEqual([
        of(0, 'the hash of the entries 0 to 65535 is missing', large),
      ]);
      const told = await differencesAfter((sql) => sql`update record_months set dropped_at = null`, large);
      expect(told).toHaveLength(1_001);
      expect(at(told, -1)).toMatchObject({ position: null, what: `${254 * 256 - 1_000} more differences` });
    });
  });
});

/** Whole tiles of expired entries, behind a log that consists of whole tiles. */
async function growByExpired({ number }: Sealed, tiles: number): Promise<void> {
  const [head] = await sql<{ size: number; frontier: Buffer; lastEpoch: number; lastId: string }>`
    select size, frontier, last_epoch as "lastEpoch", last_id as "lastId" from logs where domain_number = ${number}`;
  if (!head) throw new Error('no log');
  const name = { domainNumber: number, log: 1 };
  const frontier = unpackFrontier(head.size, head.frontier);
  const nodes: Node[] = [];
  for (let tile = 0; tile < tiles; tile += 1) {
    const leaves = randomBytes(256 * 32);
    await sql`
      insert into log_runs (domain_number, log, first, entries, last_epoch, last_id, leaves)
      values (${number}, 1, ${frontier.size}, 256, ${head.lastEpoch}, ${head.lastId}, ${leaves})`;
    for (let at = 0; at < leaves.length; at += 32)
      append(sha256, frontier, leaves.subarray(at, at + 32), (level, n, hash) =>
        nodes.push({ ...name, level, n, hash }),
      );
  }
  await db.run(async (sql) => {
    await addNodes(sql, nodes);
    await sql`
      update logs set size = ${frontier.size}, frontier = ${Buffer.from(packFrontier(frontier))}
      where domain_number = ${number}`;
  });
}
