/** Logs that were halted get what they were passed over for. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { deriveNext } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { checkLogs } from '#libs/proof/check/check-domains';
import { readSealing } from '#libs/proof/heads';
import { createProofMetrics } from '#libs/proof/metrics';
import { createCatchingUp } from '#libs/proof/seal/catching-up';
import { confirmLogs } from '#libs/proof/seal/confirm';
import { restartLogs } from '#libs/proof/seal/restart';
import { createSeal } from '#libs/proof/seal/seal';
import { persist } from '#libs/record/persist/persist';
import { createPerform } from '#libs/tenants/audited-change';
import { recordAt } from '../support/records.ts';
import { createSealer, logName, type Sealer } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { connectDatabase, freshDatabase, makeTenant, openRedis, openRedisServer } from '../support/stores.ts';

const now = Date.now();
const keys = [randomBytes(32)];
const redis = await openRedis((await openRedisServer()).url);
const { signal } = new AbortController();

describe('logs that catch up', () => {
  let url: string;
  let db: Database;
  let sealer: Sealer;
  let domainIds: string[];

  const setUp = async (domains: number) => {
    ({ domainIds } = await makeTenant(db, { domains }));
    await storeEpoch(domainIds);
    await sealer.seal();
  };
  beforeEach(async () => {
    await redis.client.flushall();
    url = await freshDatabase();
    ({ db } = connectDatabase(url));
    sealer = createSealer(db, redis, keys);
  });

  let stored = 0;
  /** An epoch with a record of each of these domains, as often as it is named. */
  const storeEpoch = async (of: string[]) => {
    await persist(
      db,
      of.map((domainId) => recordAt(now - 1_000_000 + stored++, { domainId })),
    );
    await sealer.close();
  };
  /** Every log with an entry is halted until it is confirmed. */
  const haltAll = async () => {
    await redis.client.flushall();
    await db.run((sql) => sql`update log_server set timeline = '0000002A'`);
    await sealer.seal();
  };
  const confirm = (...only: string[]) => confirmLogs({ db, perform: createPerform(db, 'ann'), redis }, only);

  /** A sealer that counts transactions, of every kind. */
  const countingSealer = () => {
    const counted = { transactions: 0 };
    const transaction: Database['transaction'] = (...given) => {
      counted.transactions += 1;
      return db.transaction(...given);
    };
    return { counted, counting: createSealer({ ...db, transaction }, redis, keys) };
  };

  /** By domain, from which epoch. */
  const waiting = async (): Promise<Record<string, number>> => {
    const logs = await db.run(async (sql) => (await readSealing(sql)).waiting);
    const domains = await db.run((sql) => sql<{ id: string; number: number }[]>`select id, number from domains`);
    const idOf = new Map(domains.map(({ id, number }) => [number, id]));
    return Object.fromEntries(logs.map(({ domainNumber, waitsFrom }) => [idOf.get(domainNumber) ?? '', waitsFrom]));
  };

  /** The records that a domain's log has, and those that it should have, in the order of positions. */
  const expectAllSealed = async (of = domainIds) => {
    for (const domainId of of) {
      const { ids, records } = await db.run(async (sql) => {
        const number = sql`(select number from domains where id = ${domainId})`;
        const runs = await sql<{ ids: string }[]>`
          select encode(ids, 'hex') as ids from log_runs where domain_number = ${number} order by log, first`;
        const all = await sql<{ id: string }[]>`
          select replace(id::text, '-', '') as id from records where domain_number = ${number} order by epoch, id`;
        return { ids: runs.map((run) => run.ids).join(''), records: all.map(({ id }) => id).join('') };
      });
      expect(ids).toBe(records);
      expect((await checkLogs({ db, redis, domainId })).differences).toEqual([]);
    }
  };

  it('do so together, an epoch at a time', async () => {
    await setUp(60);
    await haltAll();
    const epochs = 10;
    // each waits from another epoch, and lacks others
    for (let epoch = 0; epoch < epochs; epoch += 1)
      await storeEpoch(domainIds.filter((_, place) => epoch >= place % 7 && (epoch + place) % 3 > 0));
    await sealer.seal();
    await confirm();
    const { counted, counting } = countingSealer();
    await counting.seal();
    expect(await waiting()).toEqual({});
    // two for each epoch at most, and some to blank and to seal
    expect(counted.transactions).toBeLessThan(2 * epochs + 10);
    await expectAllSealed();
  });

  it('get the positions that they would have had, also beside one that stays halted and one with a large epoch', async () => {
    await setUp(6);
    const [large = '', halted = '', quiet = '', ...others] = domainIds;
    await haltAll();
    const many = Array.from({ length: 4_500 }, () => large);
    await storeEpoch([large, ...others, halted]);
    await storeEpoch([...many, ...others, halted]);
    await storeEpoch([large, ...others, ...others, halted]);
    await sealer.seal();
    await confirm(large, quiet, ...others);
    await storeEpoch([large, ...others, quiet]);
    await sealer.seal();
    await expectAllSealed([large, quiet, ...others]);
    expect(await waiting()).toEqual({});
    await confirm();
    await storeEpoch(domainIds);
    await sealer.seal();
    await expectAllSealed();
  });

  it('have every record once where two workers seal, and some are restarted meanwhile', async () => {
    await setUp(8);
    await haltAll();
    for (let epoch = 0; epoch < 12; epoch += 1)
      await storeEpoch(
        domainIds.flatMap((domainId, place) => Array.from({ length: (epoch + place) % 4 }, () => domainId)),
      );
    await sealer.seal();
    await confirm();
    const [first = '', second = ''] = domainIds;
    const perform = createPerform(db, 'ann');
    const restart = (domainId: string) => restartLogs({ db, perform, redis, logName }, { domainId, yes: true });
    const other = createSealer(connectDatabase(url).db, redis, keys);
    await Promise.all([sealer.seal(), other.seal(), restart(first).then(() => restart(second))]);
    await sealer.seal();
    expect(await waiting()).toEqual({});
    await expectAllSealed();
  });

  const sealInPieces = (records: number) => {
    const metrics = createProofMetrics(new Registry());
    const originOf = (domainId: string) => `${logName}/${domainId}`;
    return createSeal({ redis, db, metrics, originOf, after: 'blank', size: createPieceSize(records) });
  };

  it('go on where they are in an epoch of which they have a part', async () => {
    await setUp(2);
    const [one = '', two = ''] = domainIds;
    await storeEpoch([...Array.from({ length: 100 }, () => one), two]);
    await sealer.blank();
    expect(await deriveNext(db, sealInPieces(64))).toBe('more');
    await haltAll();
    await confirm();
    await sealer.seal();
    expect(await waiting()).toEqual({});
    await expectAllSealed();
  });

  /** Catches up in spans of 32 records. */
  const smallTurns = () => {
    const catchUp = createCatchingUp(sealInPieces(16));
    return async () => catchUp((await db.run(readSealing)).waiting, signal);
  };

  it('look through what others have recorded a span at a time, and keep how far they have come', async () => {
    await setUp(2);
    const [quiet = '', busy = ''] = domainIds;
    await haltAll();
    await confirm(busy);
    const ten = Array.from({ length: 10 }, () => busy);
    await storeEpoch([quiet]);
    for (let epoch = 0; epoch < 6; epoch += 1) await storeEpoch(ten);
    // more than a span by itself
    await storeEpoch([...ten, ...ten, ...ten, ...ten]);
    await sealer.seal();
    await confirm();
    const turns = smallTurns();
    const from = at(Object.values(await waiting()), 0);
    const seen: (number | undefined)[] = [];
    do {
      await turns();
      seen.push((await waiting())[quiet]);
    } while (seen.at(-1) !== undefined && seen.length < 9);
    // 1 + 3 × 10, 3 × 10, 40
    expect(seen).toEqual([from + 4, from + 7, undefined]);
    await expectAllSealed();
  });

  it('do not wait for one that is far behind', async () => {
    await setUp(3);
    const [far = '', near = '', other = ''] = domainIds;
    await haltAll();
    for (let epoch = 0; epoch < 10; epoch += 1) await storeEpoch(Array.from({ length: 9 }, () => far));
    await storeEpoch([near, near, near]);
    await sealer.seal();
    await confirm(far, near);
    const turns = smallTurns();
    await turns();
    expect(Object.keys(await waiting())).toEqual([far]);
    await expectAllSealed([near]);
    await confirm(other);
    while (await turns());
    await sealer.seal();
    await expectAllSealed();
  });
});
