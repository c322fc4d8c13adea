import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '#libs/base/sha256';
import { deriveNext } from '#libs/epochs/derivations';
import { readPage } from '#libs/log/domain-page';
import { dropExpiredMonths } from '#libs/privacy/drop-months';
import { checkLogs } from '#libs/proof/check/check-domains';
import { createProofMetrics } from '#libs/proof/metrics';
import { restartLog } from '#libs/proof/seal/restart';
import { createSeal } from '#libs/proof/seal/seal';
import { readSealed } from '#libs/proof/sealed-entries';
import { entryOf } from '#libs/proof/tree/entry';
import { type Entry, parseEntry } from '#libs/proof/tree/parse-entry';
import { persist } from '#libs/record/persist/persist';
import { createPerform } from '#libs/tenants/audited-change';
import { atOnce } from '../support/clock.ts';
import { changingSize } from '../support/piece-size.ts';
import { recordAt } from '../support/records.ts';
import { createSealer, eraseRecords, logName } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedis, openRedisServer } from '../support/stores.ts';

const now = Date.now();
const [banner, other] = ['ab'.repeat(32), 'cd'.repeat(32)];

const { db, sql } = await openDatabase();
const redis = await openRedis((await openRedisServer()).url);
const sealer = createSealer(db, redis);

describe('sealing', () => {
  let domainId: string;
  let neighbour: string;
  let organizationId: string;
  beforeEach(async () => {
    const tenant = await makeTenant(db, { domains: 2 });
    organizationId = tenant.organizationId;
    [domainId, neighbour] = [at(tenant.domainIds, 0), at(tenant.domainIds, 1)];
  });

  const store = async (count: number, notice?: string, time = now, fields = {}) => {
    const records = Array.from({ length: count }, (_, each) => recordAt(time - each, { domainId, notice, ...fields }));
    await persist(db, records);
    return records.map(({ id }) => id).toSorted();
  };

  const number = async () =>
    at(await sql<{ number: number }>`select number from domains where id = ${domainId}`, 0).number;

  const sealedOf = async (log = 1) => {
    const domainNumber = await number();
    return db.run((sql) => readSealed(sql, { domainNumber, log }, { from: 0, below: 100_000 }));
  };
  const leavesOf = async () => (await sealedOf()).map(({ leaf }) => leaf);
  const entriesOf = async (log = 1): Promise<Entry[]> =>
    (await sealedOf(log)).map(({ text, record, secret }) => {
      const entry = text ?? (record && entryOf(sha256, record, secret));
      if (entry === undefined) throw new Error('an entry is missing');
      return parseEntry(entry);
    });
  const shortOf = (entry: Entry) => {
    if (entry.type === 'notice') return `notice ${entry.notice.slice(0, 2)}`;
    return entry.type === 'erasure' ? `erasure ${entry.id}` : entry.id;
  };
  const shorts = async (log?: number) => (await entriesOf(log)).map(shortOf);

  const erase = (ids: string[]) => eraseRecords(db, domainId, ids);

  const expectSound = async () => expect((await checkLogs({ db, redis, domainId })).differences).toEqual([]);

  /** Every record finds its place. */
  const expectPlaces = async () => {
    const entries = await entriesOf();
    const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId, limit: 200, offset: 0 }));
    for (const { id, position } of records) {
      expect(position).not.toBeNull();
      expect(at(entries, position ?? -1)).toMatchObject({ type: 'record', id });
    }
  };

  it('gives the records of closed epochs their positions, by epoch and id, and changes no position later', async () => {
    // zeros at the end of a time, texts beyond ASCII, and what has to be escaped
    const odd = {
      receivedAt: new Date(Math.floor(now / 100) * 100).toISOString(),
      userAgent: 'Söme "browser"',
      preferences: { 10: true, 9: false, analytics: true },
      metadata: { text: 'ü\u2028"\\', number: 1e21, small: 0.1, flag: true },
    };
    const ids: string[] = [];
    let before: Buffer[] = [];
    for (const count of [250, 1, 3, 20, 300, 7]) {
      ids.push(...(await store(count, undefined, now, odd)));
      await store(2, undefined, now, { domainId: neighbour });
      // not what is in the open epoch
      await sealer.seal();
      expect(await leavesOf()).toEqual(before);
      await sealer.closeAndSeal();
      const leaves = await leavesOf();
      expect(leaves.slice(0, before.length)).toEqual(before);
      before = leaves;
    }
    expect(await shorts()).toEqual(ids);
    expect(await checkLogs({ db, redis, domainId })).toEqual({ checked: 581, differences: [] });
    expect(await checkLogs({ db, redis, domainId: neighbour })).toEqual({ checked: 12, differences: [] });
  });

  it('keeps leaves and notices of an expired month, and no id or secret; the month stays until it is sealed', async () => {
    await store(260, banner, Date.UTC(2024, 0, 20));
    await store(20, other, Date.UTC(2024, 1, 20));
    const retention = () =>
      dropExpiredMonths(db, { retentionMonths: 1, derivations: ['seal'], round: atOnce }, Date.UTC(2024, 2, 5));
    expect(await retention()).toMatchObject({ dropped: [], awaited: '2024-01' });
    await sealer.closeAndSeal();
    const before = await sealedOf();
    expect(await retention()).toMatchObject({ dropped: ['2024-01'] });
    const zeros = { id: '0'.repeat(32), secret: Buffer.alloc(16), record: undefined };
    const isGone = (position: number) => position >= 2 && position < 262;
    expect(await sealedOf()).toEqual(before.map((entry) => (isGone(entry.position) ? { ...entry, ...zeros } : entry)));
    await expectSound();
    // and it goes on
    await store(1, undefined, Date.UTC(2024, 1, 21));
    await sealer.closeAndSeal();
    expect((await leavesOf()).slice(0, -1)).toEqual(before.map(({ leaf }) => leaf));
  });

  it('seals an epoch in which one domain has more records than fit a piece, whatever pieces fit', async () => {
    const originOf = (domainId: string) => `${logName}/${domainId}`;
    const [metrics, size] = [createProofMetrics(new Registry()), changingSize([100, 30, 1_000])];
    const seal = createSeal({ redis, db, metrics, originOf, after: 'blank', size });
    const ids = await store(250);
    await store(10, undefined, now, { domainId: neighbour });
    await sealer.close();
    await sealer.blank();
    let pieces = 0;
    while ((await deriveNext(db, seal)) === 'more') pieces += 1;
    expect(pieces).toBeGreaterThan(2);
    await sealer.seal();
    expect(await shorts()).toEqual(ids);
    await expectSound();
  });

  it('puts a notice before the first record that names it, once', async () => {
    const first = await store(3, banner);
    await sealer.closeAndSeal();
    const second = await store(2, banner);
    const third = await store(2, other);
    const fourth = await store(1);
    await sealer.closeAndSeal();
    const last = await store(1, other);
    await sealer.closeAndSeal();
    const rest = [...second, ...third, ...fourth].toSorted();
    expect(await shorts()).toEqual(['notice ab', ...first, 'notice cd', ...rest, ...last]);
    expect((await entriesOf()).at(-1)).toMatchObject({ type: 'record', notice: other });
    await expectPlaces();
    await expectSound();
  });

  it('an erasure comes behind its record, also in an epoch of its own, and in the order of the ids', async () => {
    const [one = '', two = '', three = ''] = await store(3);
    await sealer.closeAndSeal();
    await erase([three, one]);
    await sealer.seal();
    const [four = ''] = await store(1);
    await erase([four, two]);
    await sealer.closeAndSeal();
    const expected = [one, two, three, `erasure ${one}`, `erasure ${three}`, `erasure ${two}`];
    // the fourth was not sealed yet when it was erased: nothing precedes its record
    expect((await shorts()).filter((each) => !expected.includes(each))).toEqual([four, `erasure ${four}`]);
    expect(await entriesOf()).toContainEqual({ type: 'erasure', domainId, id: two, erasedOn: '2026-11-22' });
    await expectPlaces();
    await expectSound();
  });

  it('records keep their places among runs of texts alone, across tiles', async () => {
    const ids = await store(250, banner);
    await sealer.closeAndSeal();
    for (let from = 0; from < 16; from += 4) {
      await erase(ids.slice(from, from + 4));
      await sealer.seal();
      if (from % 8 === 0) await store(1, from === 8 ? other : undefined);
      await sealer.closeAndSeal();
    }
    const texts = (await entriesOf()).filter(({ type }) => type !== 'record');
    expect(texts).toHaveLength(18);
    await expectPlaces();
    await expectSound();
  });

  it('a notice or an erasure that is changed or deleted by hand is found', async () => {
    const [one = ''] = await store(2, banner);
    await sealer.closeAndSeal();
    await erase([one]);
    await sealer.seal();
    const own = await number();
    await sql`update log_texts set text = replace(text, 'ab', 'ba') where domain_number = ${own} and position = 0`;
    await sql`delete from log_texts where domain_number = ${own} and position = 3`;
    const { differences } = await checkLogs({ db, redis, domainId });
    expect(differences).toEqual([
      { domainId, log: 1, position: 0, what: 'a notice or an erasure as stored is not what was sealed' },
      { domainId, log: 1, position: 3, what: 'a notice or an erasure is not stored any more' },
    ]);
  });

  it('a user agent that was deleted while processes remember it is in no entry', async () => {
    const stores = () => persist(db, [recordAt(now, { domainId, userAgent: 'Example/1.0' })]);
    await stores();
    await sealer.closeAndSeal();
    // as with the last record that named it
    await sql`delete from records`;
    await sql`delete from user_agent_months`;
    await sql`delete from user_agents`;
    await stores();
    await sealer.closeAndSeal();
    const domainNumber = await number();
    const [, second] = await db.run((sql) => readSealed(sql, { domainNumber, log: 1 }, { from: 0, below: 2 }));
    expect(second?.record?.userAgent).toBeNull();
    expect((await checkLogs({ db, redis, domainId })).differences.map(({ position }) => position)).toEqual([0]);
  });

  it('what no checkpoint covers goes into the next log: notices again, erasures once', async () => {
    const [one = ''] = await store(2, banner);
    await sealer.closeAndSeal();
    await erase([one]);
    await sealer.seal();
    const own = await number();
    await sql`update logs set checkpoint_size = 3 where domain_number = ${own}`;
    const restarted = await restartLog(createPerform(db, 'test'), domainId, async (ended) => ({
      log: ended + 1,
      origin: `${logName}/${domainId}/${ended + 1}`,
    }));
    expect(restarted).toMatchObject({ ended: 1, size: 3, log: 2 });
    const [third = ''] = await store(1, banner);
    await sealer.closeAndSeal();
    expect(await shorts(2)).toEqual(['notice ab', third, `erasure ${one}`]);
    expect((await shorts(1)).slice(0, 1)).toEqual(['notice ab']);
    expect(await shorts(1)).toHaveLength(3);
  });
});
