/** What happens to logs when Postgres or Redis is not the one that they were sealed with. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { deriveNext } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { checkLogs } from '#libs/proof/check/check-domains';
import { createProofMetrics } from '#libs/proof/metrics';
import { confirmLogs } from '#libs/proof/seal/confirm';
import { restartLogs } from '#libs/proof/seal/restart';
import { createSeal } from '#libs/proof/seal/seal';
import { listLogStatus } from '#libs/proof/status';
import { parseCheckpoint } from '#libs/proof/tree/checkpoint';
import { recall, remember } from '#libs/proof/witness';
import { persist } from '#libs/record/persist/persist';
import { listActs } from '#libs/tenants/acts';
import { createPerform, type Perform } from '#libs/tenants/audited-change';
import { copyDatabase } from '../support/database.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, logName, type Sealer } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, freshDatabase, makeTenant, openRedis, openRedisServer } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const now = Date.now();
const keys = [randomBytes(32)];

const redisUrl = (await openRedisServer()).url;
const redis = await openRedis(redisUrl);

describe('logs', () => {
  let url: string;
  let db: Database;
  let sealer: Sealer;
  let perform: Perform;
  let [one, two, three] = ['', '', ''];

  /** All goes on with this database. */
  const use = (address: string) => {
    url = address;
    ({ db } = connectDatabase(address));
    sealer = createSealer(db, redis, keys);
    perform = createPerform(db, 'ann');
  };
  beforeEach(async () => {
    await redis.client.flushall();
    use(await freshDatabase());
    const { domainIds } = await makeTenant(db, { domains: 3 });
    [one = '', two = '', three = ''] = domainIds;
  });

  /** As the command line does it. */
  const restart = (wanted?: Parameters<typeof restartLogs>[1]) => restartLogs({ db, perform, redis, logName }, wanted);
  const confirm = (...only: string[]) => confirmLogs({ db, perform, redis }, only);
  const acts = async () => (await db.run((sql) => listActs(sql, { limit: 2 }))).acts;

  /** A copy of the database as it is now. Postgres makes one only while nobody is connected. */
  const backUp = async (): Promise<string> => {
    await db.close();
    const copy = await copyDatabase(url);
    use(url);
    return copy;
  };
  /** A copy as of now, which takes the database's place once `lost` was sealed. */
  const restore = async (lost: () => Promise<unknown>) => {
    const copy = await backUp();
    await lost();
    await sealer.closeAndSeal();
    await db.close();
    use(copy);
  };

  let stored = 0;
  const store = (domainId: string, count: number) => {
    const records = Array.from({ length: count }, () => recordAt(now - 1_000_000 + stored++, { domainId }));
    return persist(db, records);
  };
  /** So many of each domain, and gives them positions. */
  const storeAndSeal = async (...counts: [domainId: string, count: number][]) => {
    for (const [domainId, count] of counts) await store(domainId, count);
    await sealer.closeAndSeal();
  };

  interface Log {
    log: number;
    size: number;
    checkpointSize: number;
    checkpoint: string | null;
    waitsFrom: number | null;
  }
  const logsOf = (domainId: string) =>
    db.run(
      (sql) => sql<Log[]>`
        select log, size, checkpoint_size as "checkpointSize", checkpoint, waits_from as "waitsFrom" from logs
        where domain_number = (select number from domains where id = ${domainId}) order by log`,
    );

  /** What is halted, and why. */
  const haltedLogs = async () =>
    Object.fromEntries(
      (await db.run((sql) => listLogStatus(sql))).flatMap(({ domainId, halted }) =>
        halted ? [[domainId, halted]] : [],
      ),
    );

  /** Every record has one position: in the order of epochs and ids, those of earlier logs first. */
  const expectSealed = async (domainId: string, sizes: number[]) => {
    const { ids, expected } = await db.run(async (sql) => {
      const [domain] = await sql<{ number: number }[]>`select number from domains where id = ${domainId}`;
      const number = domain?.number ?? 0;
      const [all] = await sql<{ ids: string | null }[]>`
        select encode(string_agg(ids, '' order by log, first), 'hex') as ids from log_runs where domain_number = ${number}`;
      const records = await sql<{ id: string }[]>`
        select id from records where domain_number = ${number} order by epoch, id`;
      return { ids: all?.ids?.match(/.{32}/g) ?? [], expected: records.map(({ id }) => id.replaceAll('-', '')) };
    });
    expect(ids).toEqual(expected);
    expect((await logsOf(domainId)).map(({ checkpointSize }) => checkpointSize)).toEqual(sizes);
    expect(await checkLogs({ db, redis, domainId })).toEqual({ checked: expected.length, differences: [] });
  };

  /** Every halt from now on, also one that does not last. */
  const noteHalts = () =>
    db.run((sql) =>
      sql`
        create table halts (domain_number integer);
        create function note_halt() returns trigger language plpgsql as $$
        begin
          if new.halted is not null then insert into halts values (new.domain_number); end if;
          return new;
        end $$;
        create trigger note_halt before update on logs for each row execute function note_halt()`.simple(),
    );
  const notedHalts = () => db.run((sql) => sql`select * from halts`);

  it('a Postgres restored from an older copy gets no position and no signature, records on, and a restart puts it right', async () => {
    await storeAndSeal([one, 30], [two, 10], [three, 5]);
    await restore(() => Promise.all([store(one, 50), store(two, 5)]));
    const before = await Promise.all([logsOf(one), logsOf(two)]);
    await storeAndSeal([one, 20], [two, 4], [three, 3]);
    expect(await haltedLogs()).toEqual({ [one]: 'behind', [two]: 'behind' });
    await storeAndSeal([one, 7]);
    const after = await Promise.all([logsOf(one), logsOf(two)]);
    const withoutWaiting = (logs: Log[]) => logs.map(({ waitsFrom, ...log }) => log);
    expect(after.map(withoutWaiting)).toEqual(before.map(withoutWaiting));
    // who was not sealed meanwhile goes on
    await expectSealed(three, [8]);

    const origin = `${logName}/${one}/2`;
    const behind = { position: 30, what: expect.stringContaining('80 entries were signed') };
    expect((await checkLogs({ db, redis, domainId: one })).differences).toMatchObject([behind]);
    expect(await restart({ domainId: one })).toEqual([{ domainId: one, ended: 1, size: 30, log: 2, origin }]);
    expect(await checkLogs({ db, redis, domainId: one })).toEqual({ checked: 30, differences: [] });
    await storeAndSeal([one, 9]);
    await expectSealed(one, [30, 36]);
    const checkpoint = at(await logsOf(one), 1).checkpoint ?? '';
    expect(parseCheckpoint(`${checkpoint.split('\n\n')[0]}\n`)).toMatchObject({ origin, size: 36 });
    expect(await haltedLogs()).toEqual({ [two]: 'behind' });

    expect(await restart()).toMatchObject([{ domainId: two, ended: 1, log: 2 }]);
    await sealer.closeAndSeal();
    await expectSealed(two, [10, 4]);
    expect(await haltedLogs()).toEqual({});
    expect(await recall(redis.client, [one, two, three])).toMatchObject([
      { log: 2, size: 36 },
      { log: 2, size: 4 },
      { log: 1, size: 8 },
    ]);
    expect(await acts()).toMatchObject([
      { actor: 'ann', act: 'log.restart', subject: two, details: { ended: 1, size: 10, log: 2 } },
      { actor: 'ann', act: 'log.restart', subject: one, details: { ended: 1, size: 30, log: 2 } },
    ]);
  });

  it('one that fails to catch up keeps no other log from being sealed, nor from catching up', async () => {
    await storeAndSeal([one, 3], [two, 3], [three, 3]);
    await restore(() => Promise.all([store(one, 1), store(two, 1)]));
    await storeAndSeal([one, 2], [two, 2]);
    await restart();
    await db.run((sql) =>
      sql`
        create function refuse() returns trigger language plpgsql as $$
        begin
          if new.domain_number = (select number from domains where id = ${sql.unsafe(`'${one}'`)}) then
            raise exception 'not this one';
          end if;
          return new;
        end $$;
        create trigger refuse before update on logs for each row execute function refuse()`.simple(),
    );
    await expect(storeAndSeal([three, 1])).rejects.toThrow('not this one');
    await expectSealed(three, [4]);
    expect((await logsOf(two)).at(-1)).toMatchObject({ size: 2, waitsFrom: null });
    await db.run((sql) => sql`drop trigger refuse on logs`);
    await sealer.seal();
    await expectSealed(one, [3, 2]);
    await expectSealed(two, [3, 2]);
  });

  it('one that catches up goes on at once when another process has sealed meanwhile', async () => {
    await storeAndSeal([one, 3], [two, 3]);
    await restore(() => store(one, 1));
    for (const count of [1, 2, 3]) await storeAndSeal([one, count]);
    await restart({ domainId: one });
    let tries = 0;
    const transaction: Database['transaction'] = (...given) => {
      tries += 1;
      return db.transaction(...given);
    };
    let round = Promise.resolve();
    await db.transaction(async (sql) => {
      await sql`select from derivations where name = 'seal' for update`;
      round = createSealer({ ...db, transaction }, redis, keys).seal();
      // to blank, to seal, and twice to catch up
      await Promise.race([round, eventually(() => expect(tries).toBeGreaterThan(3))]);
    });
    await round;
    await expectSealed(one, [3, 6]);
  });

  it('a second restore begins a log whose number was never used; with Redis lost too, the operator gives it', async () => {
    await storeAndSeal([one, 3], [two, 1]);
    await restore(async () => {
      await restart({ domainId: two, yes: true });
      await store(two, 2);
    });
    await storeAndSeal([two, 4]);
    expect(await haltedLogs()).toEqual({ [two]: 'behind' });
    expect(await restart({ domainId: two })).toMatchObject([{ ended: 1, log: 3, origin: `${logName}/${two}/3` }]);
    await sealer.closeAndSeal();
    expect(await logsOf(two)).toMatchObject([
      { log: 1, checkpointSize: 1 },
      { log: 3, checkpointSize: 4 },
    ]);
    await redis.client.flushall();
    const seventh = { ended: 1, log: 7, origin: `${logName}/${one}/7` };
    expect(await restart({ domainId: one, log: 7, yes: true })).toMatchObject([seventh]);
    expect(await restart({ domainId: one, log: 7, yes: true })).toMatchObject([{ ended: 7, log: 8 }]);
  });

  it('another server or database with an empty Redis halts every log until it is confirmed that nothing is missing', async () => {
    await storeAndSeal([one, 27], [two, 5]);
    // a copy beside the database, on the same server
    await restore(() => Promise.resolve());
    await redis.client.flushall();
    const before = await Promise.all([logsOf(one), logsOf(two)]);
    for (const count of [20, 30]) {
      await storeAndSeal([one, count], [three, 1]);
    }
    expect(await haltedLogs()).toEqual({ [one]: 'unconfirmed', [two]: 'unconfirmed' });
    expect(at(await logsOf(one), 0)).toEqual({ ...at(before[0], 0), waitsFrom: expect.any(Number) });
    expect(await logsOf(two)).toEqual(before[1]);
    // one that has no entry yet has none to lose
    await expectSealed(three, [2]);

    expect(await confirm(one)).toEqual({ confirmed: 1, behind: [] });
    expect(await haltedLogs()).toEqual({ [two]: 'unconfirmed' });
    expect(await recall(redis.client, [one, two])).toMatchObject([{ log: 1, size: 27 }, undefined]);
    await sealer.closeAndSeal();
    await expectSealed(one, [77]);
    expect(await confirm()).toEqual({ confirmed: 1, behind: [] });
    await storeAndSeal([two, 2]);
    await expectSealed(two, [7]);
    expect(await haltedLogs()).toEqual({});
    expect(await acts()).toMatchObject([
      { actor: 'ann', act: 'log.confirm', subject: two, details: { log: 1, size: 5 } },
      { actor: 'ann', act: 'log.confirm', subject: one, details: { log: 1, size: 27 } },
    ]);
  });

  it('confirm does not release what is behind, and names it', async () => {
    await storeAndSeal([one, 5], [two, 5], [three, 5]);
    await db.run((sql) => sql`update log_server set timeline = '0000002A'`);
    await redis.client.flushall();
    await sealer.seal();
    const root = randomBytes(32).toString('base64');
    await redis.client.hset('assent:logs', one, `1 6 ${root}`);
    await sealer.seal();
    expect(await haltedLogs()).toEqual({ [one]: 'behind', [two]: 'unconfirmed', [three]: 'unconfirmed' });
    // known only once it is asked for
    await redis.client.hset('assent:logs', two, `1 6 ${root}`);
    expect(await confirm()).toEqual({ confirmed: 1, behind: [one, two] });
    expect(await haltedLogs()).toEqual({ [one]: 'behind', [two]: 'behind' });
  });

  it('an older dump that is restored into the same database makes nobody sure of any log, where Redis is empty', async () => {
    await storeAndSeal([one, 5]);
    // a restore makes the tables anew, with the rows that they had
    await db.run((sql) =>
      sql`
        alter table log_server rename to dropped;
        create table log_server (like dropped including all);
        insert into log_server select * from dropped;
        drop table dropped`.simple(),
    );
    await redis.client.flushall();
    await storeAndSeal([one, 2]);
    expect(await haltedLogs()).toEqual({ [one]: 'unconfirmed' });
    expect(await confirm()).toEqual({ confirmed: 1, behind: [] });
    await sealer.closeAndSeal();
    await expectSealed(one, [7]);
  });

  it('where Redis alone is another server, it is told what it lacks; where both are, nobody is sure of any log', async () => {
    await storeAndSeal([one, 5], [two, 6]);
    const known = await recall(redis.client, [one, two]);
    /** A replica took over that lacks the newest of what was remembered. */
    const failOverRedis = () =>
      redis.client.hset('assent:logs', {
        [one]: `1 3 ${randomBytes(32).toString('base64')}`,
        run_id: 'the one before',
      });
    await failOverRedis();
    await sealer.seal();
    expect([await haltedLogs(), await recall(redis.client, [one, two])]).toEqual([{}, known]);

    await failOverRedis();
    await db.run((sql) => sql`update log_server set timeline = '0000002A'`);
    for (const domainId of [one, two, three, one]) {
      await storeAndSeal([domainId, 2]);
    }
    expect(await haltedLogs()).toEqual({ [one]: 'unconfirmed', [two]: 'unconfirmed' });
    await expectSealed(three, [2]);
    expect(await confirm()).toEqual({ confirmed: 2, behind: [] });
    await sealer.closeAndSeal();
    await expectSealed(one, [9]);
    await expectSealed(two, [8]);
    // and it vouches for Postgres again: a failover that lost nothing needs nobody
    await db.run((sql) => sql`update log_server set timeline = '0000002B'`);
    await storeAndSeal([one, 1]);
    await expectSealed(one, [10]);
  });

  it('one that is younger than the restored copy is behind too; none goes on where Redis forgot by how much', async () => {
    await storeAndSeal([one, 5]);
    await restore(() => Promise.all([store(one, 5), store(two, 1), store(three, 3)]));
    await storeAndSeal([one, 7], [two, 7], [three, 4]);
    await sealer.closeAndSeal();
    expect(await haltedLogs()).toEqual({ [one]: 'behind', [two]: 'behind', [three]: 'behind' });
    expect(await logsOf(three)).toMatchObject([{ size: 0, checkpoint: null }]);
    await restart({ domainId: three });
    await sealer.closeAndSeal();
    await expectSealed(three, [0, 4]);
    await redis.client.flushall();
    await sealer.seal();
    await sealer.seal();
    expect(await haltedLogs()).toMatchObject({ [one]: 'unconfirmed', [two]: 'unconfirmed' });
    expect(await logsOf(one)).toMatchObject([{ checkpointSize: 5 }]);
  });

  it('an emptied Redis remembers every log again', async () => {
    await storeAndSeal([one, 5], [two, 6]);
    const known = await recall(redis.client, [one, two]);
    await redis.client.flushall();
    await sealer.seal();
    expect(await recall(redis.client, [one, two])).toEqual(known);
    // also where another one was published before the next look at the logs
    await redis.client.hdel('assent:logs', one);
    await sealer.seal();
    expect(await recall(redis.client, [one, two])).toEqual(known);
    await storeAndSeal([one, 2]);
    await expectSealed(one, [7]);
  });

  it('Redis forgets nothing newer, whatever a worker that stalled tells it', async () => {
    const root = randomBytes(32).toString('base64');
    const tell = (log: number, size: number) => remember(redis.client, [{ domainId: one, log, size, root }]);
    for (const [log, size] of [
      [1, 10],
      [1, 9],
      [2, 1],
      [1, 2_000_000],
      [2, 0],
    ] as const)
      await tell(log, size);
    expect(await recall(redis.client, [one])).toEqual([{ log: 2, size: 1, root }]);
    await tell(2, 3_000_000_000);
    expect(await recall(redis.client, [one])).toEqual([{ log: 2, size: 3_000_000_000, root }]);
  });

  it('what was never published of a log goes into the next one', async () => {
    const metrics = createProofMetrics(new Registry());
    const originOf = (domainId: string) => `${logName}/${domainId}`;
    const seal = createSeal({ redis, db, metrics, originOf, after: 'blank', size: createPieceSize(64) });
    const sealUnpublished = async (pieces: number) => {
      await sealer.close();
      await sealer.blank();
      for (let piece = 0; piece < pieces; piece += 1) await deriveNext(db, seal);
    };
    // cut in a tile, at the end of a tile, before the first entry, and in an epoch of which only a part has positions
    await storeAndSeal([one, 300], [two, 256]);
    await store(one, 20);
    await store(two, 10);
    await store(three, 30);
    await sealUnpublished(2);
    await store(one, 100);
    await sealUnpublished(1);
    expect((await Promise.all([one, two, three].map(logsOf))).map((logs) => at(logs, 0).size)).toEqual([384, 266, 30]);
    for (const domainId of [one, two, three]) await restart({ domainId, yes: true });
    await sealer.closeAndSeal();
    await expectSealed(one, [300, 120]);
    await expectSealed(two, [256, 10]);
    await expectSealed(three, [0, 30]);
  });

  it('a log that another worker seals while this one compares it with Redis is not halted', async () => {
    await storeAndSeal([one, 5]);
    await store(one, 5);
    await sealer.close();
    await noteHalts();
    const hmget = redis.client.hmget.bind(redis.client);
    const recalling = vi.spyOn(redis.client, 'hmget').mockImplementationOnce(async (key, ...fields) => {
      await sealer.seal();
      return hmget(key, ...fields);
    });
    onTestFinished(() => recalling.mockRestore());
    await createSealer(db, redis, keys).seal();
    expect(await logsOf(one)).toMatchObject([{ checkpointSize: 10 }]);
    expect(await notedHalts()).toEqual([]);
    await expectSealed(one, [10]);
  });

  it('two workers, and restarts in between, give every record one position and halt nothing', async () => {
    await noteHalts();
    const rounds = 6;
    const other = connectDatabase(url).db;
    const otherRedis = await openRedis(redisUrl);
    const sealers = [sealer, createSealer(other, otherRedis, keys)];
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([
        store(one, 70),
        store(two, 3),
        ...sealers.map((each) => each.closeAndSeal().catch(ignoreElsewhere)),
        ...(round === 3 ? [restart({ domainId: two, yes: true })] : []),
      ]);
    }
    await sealer.closeAndSeal();
    await expectSealed(one, [rounds * 70]);
    const [first, second] = await logsOf(two);
    expect((first?.checkpointSize ?? 0) + (second?.checkpointSize ?? 0)).toBe(rounds * 3);
    await expectSealed(two, [first?.checkpointSize ?? 0, second?.checkpointSize ?? 0]);
    expect(await notedHalts()).toEqual([]);
  });
});

/** The other one closed an epoch, or waits for it. */
const ignoreElsewhere = (error: unknown) => {
  if (!(error instanceof Error) || !/not yet|in the way/.test(error.message)) throw error;
};
