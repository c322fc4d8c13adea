import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { dropExpiredMonths } from '#libs/privacy/drop-months';
import { checkLogs } from '#libs/proof/check/check-domains';
import { createProofMetrics } from '#libs/proof/metrics';
import { createSeal } from '#libs/proof/seal/seal';
import { deriveNext } from '#libs/record/derivations';
import { persist } from '#libs/record/persist/persist';
import { atOnce } from '../support/clock.ts';
import { changingSize } from '../support/piece-size.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, logName } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';

const { db } = await openDatabase();
const redis = await openRedis((await openRedisServer()).url);
const sealer = createSealer(db, redis);
const { domainIds } = await makeTenant(db, { domains: 3 });

describe('sealing', () => {
  const now = Date.now();

  const some = (domainId: string, count: number) =>
    Array.from({ length: count }, (_, each) =>
      recordAt(now - each * 17, {
        domainId,
        // zeros at the end of a time, texts beyond ASCII, and what has to be escaped
        receivedAt: new Date(Math.floor(now / 100) * 100 - each * 50).toISOString(),
        visitorId: `visitor ${each}`,
        userAgent: `Söme "browser"/${each % 3}`,
        preferences: { 10: true, 9: false, analytics: each % 2 === 0 },
        metadata: { text: 'ü\u2028"\\', number: 1e21, small: 0.1, flag: true },
        language: 'de',
        gpc: each % 3 === 0,
      }),
    );

  /** All entries of a domain's log as stored, and its records in the order that they must have there. */
  const logOf = (domainId: string) =>
    db.run(async (sql) => {
      const runs = await sql<{ first: number; entries: number; ids: Buffer; leaves: Buffer; secrets: Buffer }[]>`
        select first, entries, coalesce(ids, decode(repeat('00', entries * 16), 'hex')) as ids, leaves,
          coalesce(secrets, decode(repeat('00', entries * 16), 'hex')) as secrets
        from log_runs
        where domain_number = (select number from domains where id = ${domainId}) order by first`;
      const records = await sql<{ id: string; epoch: number }[]>`
        select id, epoch from records where domain_number = (select number from domains where id = ${domainId})
        order by epoch, id`;
      const cut = (bytes: Buffer, width: number) =>
        Array.from({ length: bytes.length / width }, (_, each) => bytes.subarray(each * width, (each + 1) * width));
      return {
        runs,
        ids: runs.flatMap(({ ids }) => cut(ids, 16).map((id) => id.toString('hex'))),
        leaves: runs.flatMap(({ leaves }) => cut(leaves, 32)),
        expected: records.map(({ id }) => id.replaceAll('-', '')),
      };
    });

  /** In order, each entry that of its record, the tree that of the entries, and signed. */
  const expectSound = async (domainId: string, records: number) => {
    const log = await logOf(domainId);
    expect(log.ids).toEqual(log.expected);
    expect(await checkLogs({ db, redis, domainId })).toEqual({ checked: records, differences: [] });
    return log;
  };

  it('gives the records of closed epochs their positions, by epoch and id, and signs the tree', async () => {
    const [one, two] = [at(domainIds, 0), at(domainIds, 1)];
    await persist(db, [...some(one, 250), ...some(two, 5)]);
    // not what is in the open epoch
    await sealer.seal();
    expect((await logOf(one)).leaves).toEqual([]);
    await sealer.closeAndSeal();
    await expectSound(one, 250);
    await expectSound(two, 5);
    const before = (await logOf(one)).leaves;
    for (const count of [1, 3, 20, 300, 7]) {
      await persist(db, [...some(one, count), ...some(two, 2)]);
      await sealer.closeAndSeal();
    }
    const log = await expectSound(one, 581);
    expect(log.leaves.slice(0, 250)).toEqual(before);
    await expectSound(two, 15);
  });

  it('keeps every leaf of an expired month, and no id or secret; the month stays until its records are sealed', async () => {
    const { domainIds: own } = await makeTenant(db);
    const domainId = at(own, 0);
    const old = Array.from({ length: 280 }, (_, each) =>
      recordAt(Date.UTC(2024, each < 260 ? 0 : 1, 20, 0, each), { domainId }),
    );
    await persist(db, old);
    const retention = (from: number) =>
      dropExpiredMonths(db, { retentionMonths: 1, derivations: ['seal'], round: atOnce }, from);
    const march = Date.UTC(2024, 2, 5);
    expect(await retention(march)).toMatchObject({ dropped: [], awaited: '2024-01' });
    await sealer.closeAndSeal();
    const before = await logOf(domainId);
    expect(await retention(march)).toMatchObject({ dropped: ['2024-01'] });
    const after = await logOf(domainId);
    expect(after.leaves).toEqual(before.leaves);
    const isGone = (id: string) => /^0+$/.test(id);
    expect(after.ids.slice(0, 260).every(isGone)).toBe(true);
    expect(after.ids.slice(260)).toEqual(after.expected);
    expect(after.runs.every(({ secrets }, each) => secrets.length === after.runs[each]?.ids.length)).toBe(true);
    // and it goes on
    await persist(db, [recordAt(Date.UTC(2024, 1, 21), { domainId })]);
    await sealer.closeAndSeal();
    const grown = await logOf(domainId);
    expect(grown.leaves).toHaveLength(281);
    expect(grown.leaves.slice(0, 280)).toEqual(before.leaves);
  });

  it('seals an epoch in which one domain has more records than fit a piece, whatever pieces fit', async () => {
    const three = at(domainIds, 2);
    const originOf = (domainId: string) => `${logName}/${domainId}`;
    const [metrics, size] = [createProofMetrics(new Registry()), changingSize([100, 30, 1_000])];
    const seal = createSeal({ redis, db, metrics, originOf, after: 'blank', size });
    await persist(db, [...some(three, 250), ...some(at(domainIds, 0), 10)]);
    await sealer.close();
    await sealer.blank();
    let pieces = 0;
    while ((await deriveNext(db, seal)) === 'more') pieces += 1;
    expect(pieces).toBeGreaterThan(3);
    await sealer.seal();
    await expectSound(three, 250);
  });
});
