import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { type Derivation, deriveNext } from '#libs/epochs/derivations';
import { readPage } from '#libs/log/domain-page';
import { type Notice, readNotice } from '#libs/notices/contract';
import { createNoticeDerivation } from '#libs/notices/counting';
import { findNotice, listNotices, putNotice } from '#libs/notices/documents';
import { dropUnnamedNotices, judgeNotices } from '#libs/notices/dropping';
import { createKnownNotices } from '#libs/notices/known-notices';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { noticeNumbersOf } from '#libs/record/persist/reference-numbers';
import { persistOrReject } from '#libs/record/store';
import { atEnd } from '../support/at-end.ts';
import { changingSize } from '../support/piece-size.ts';
import { counting, openPool, type Statement, through } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

let url: string;
let db: Database;
let sql: Statement;
let tenant: Tenant;
let domainId: string;

beforeAll(async () => {
  ({ url, db, sql } = await openDatabase());
});
beforeEach(async () => {
  tenant = await makeTenant(db, { domains: 2 });
  domainId = at(tenant.domainIds, 0);
});

/** As a process that was started now. */
const anotherProcess = () => openPool(url);

const hashOf = (n: number) => n.toString(16).padStart(64, '0');
function noticeOf(title: string): Notice {
  const notice = readNotice(Buffer.from(JSON.stringify({ language: 'de', title })));
  if ('refused' in notice) throw new Error(notice.refused);
  return notice;
}
/** As the domain's managers do; `bound`: as a page does. */
const put = (notice: Notice, process = db, bound: number | null = null) =>
  process.run((sql) => putNotice(sql, domainId, notice, bound));
const record = (notice: string | undefined, fields: Partial<NewRecord> = {}) =>
  recordAt(Date.now(), { domainId, notice, ...fields });
const listed = (id = domainId) => db.run((sql) => listNotices(sql, { domainId: id, limit: 200 }));
const countOf = async (hash: string) => (await listed()).find(({ notice }) => notice === hash)?.records;
/** As if so many hours had passed since the domain's notices were put and dropped. */
const letPass = (hours: number) => sql`
  update notices set documented_at = documented_at - ${hours} * interval '1 hour',
    dropped_at = dropped_at - ${hours} * interval '1 hour'
  where domain_number = (select number from domains where id = ${domainId})`;
/** As if so many days had passed for the domain. */
async function letDaysPass(days: number): Promise<void> {
  await letPass(24 * days);
  const [domain] = await sql<{ number: number }>`select number from domains where id = ${domainId}`;
  const number = domain?.number ?? 0;
  const counted = await sql<{ day: string }>`
    select distinct day::text from notice_days where domain_number = ${number} order by day`;
  // the oldest first, so that two of one notice are never of the same day
  for (const { day } of counted)
    await sql`
      update notice_days set day = day - ${days}::integer
      where domain_number = ${number} and day = ${day}::text::date`;
}
/** Stores these, and counts which notices they name. */
async function storeAndCount(records: NewRecord[]): Promise<void> {
  await persist(db, records);
  await closeOpenEpoch(db);
  while ((await deriveNext(db, createNoticeDerivation())) !== 'done');
}
const times = (count: number, notice: Notice, fields: Partial<NewRecord> = {}) =>
  Array.from({ length: count }, () => record(notice.hash, fields));
const rows = (id = domainId) => sql<{ number: number; notice: string; isHeld: boolean; isNamed: boolean }>`
  select number, encode(hash, 'hex') as notice, document is not null as "isHeld", named_at is not null as "isNamed"
  from notices where domain_number = (select number from domains where id = ${id}) order by number`;
/** The notice of each of a domain's records. */
const shown = async (id = domainId) => {
  const { organizationId } = tenant;
  const { records } = await db.run((sql) => readPage(sql, { organizationId, domainId: id, limit: 1000, offset: 0 }));
  return new Map(records.map((each) => [each.id, each.notice]));
};
const dangling = () => sql`
  select from records where notice_number is not null and notice_number not in (select number from notices)`;

describe('the notice of a record', () => {
  it('is one row for each hash and domain, whichever processes meet it first', async () => {
    const records = [1, 2, 3].flatMap((n) => tenant.domainIds.map((id) => record(hashOf(n), { domainId: id })));
    const ours = Array.from({ length: 4 }, () =>
      records.map(({ domainId: id, notice }) => record(notice, { domainId: id })),
    );
    await Promise.all(
      [db, anotherProcess(), anotherProcess(), anotherProcess()].map((each, n) => persist(each, at(ours, n))),
    );
    for (const id of tenant.domainIds) {
      expect((await rows(id)).map(({ notice, isNamed }) => [notice, isNamed])).toEqual(
        [1, 2, 3].map((n) => [hashOf(n), true]),
      );
      const found = await shown(id);
      for (const each of ours.flat().filter((one) => one.domainId === id)) expect(found.get(each.id)).toBe(each.notice);
    }
  });

  it('costs others of its batch nothing where a record cannot be stored, and leaves none behind that names nothing', async () => {
    const process = anotherProcess();
    const refused = record(hashOf(1), { visitorId: 'a\0b' });
    await expect(persist(process, [refused])).rejects.toThrow();
    expect((await shown()).size).toBe(0);
    const [fine, ofNobody] = [record(hashOf(1)), record(hashOf(1), { domainId: 'gone' })];
    expect(await persistOrReject(process, [refused, ofNobody, fine])).toMatchObject({ added: 1, rejected: 2 });
    expect([...(await shown())]).toEqual([[fine.id, hashOf(1)]]);
    const rejected = await sql<{ record: string }>`select record from rejected_records`;
    const kept = rejected.map((row) => JSON.parse(row.record));
    expect(kept).toContainEqual(expect.objectContaining({ id: refused.id, notice: hashOf(1) }));
  });

  it('costs a statement a batch where it is new, none where the process has met it, and one again after a flood of made-up ones or a lost connection', async () => {
    const { db: counted, asked } = counting(anotherProcess());
    let generation = 0;
    const process = { ...counted, generation: () => generation };
    const costOf = async (...hashes: string[]) => {
      const [named, before] = [hashes.map((hash) => record(hash)), asked()];
      const numbers = await noticeNumbersOf(process, named, 50);
      return { numbers, statements: asked() - before };
    };
    const { numbers, statements } = await costOf(hashOf(1));
    expect(statements).toBe(1);
    expect(await costOf(hashOf(1))).toEqual({ numbers, statements: 0 });
    for (let wave = 1; wave < 4; wave += 1)
      expect(await costOf(...Array.from({ length: 20 }, (_, n) => hashOf(1_000 * wave + n)))).toMatchObject({
        statements,
      });
    for (const statements of [1, 0]) expect(await costOf(hashOf(1))).toEqual({ numbers, statements });
    generation = 1;
    expect(await costOf(hashOf(1))).toEqual({ numbers, statements });
  });
});

describe('the document of a notice', () => {
  it('is stored once, however many put it at once, and its row is that of the records that named it before', async () => {
    const notice = noticeOf('once');
    await persist(db, [record(notice.hash)]);
    const [before] = await rows();
    const processes = [db, anotherProcess(), anotherProcess()];
    const puts = await Promise.all(Array.from({ length: 12 }, (_, n) => put(notice, processes[n % 3])));
    expect(puts.toSorted()).toEqual([...Array(11).fill('known'), 'new']);
    expect([...(await rows())]).toEqual([{ ...before, isHeld: true }]);
    expect(await db.run((sql) => findNotice(sql, domainId, notice.hash))).toEqual(Buffer.from(notice.document));
  });

  it('is never other bytes than those of its hash', async () => {
    const { hash } = noticeOf('genuine');
    await expect(put({ ...noticeOf('forged'), hash })).rejects.toThrow(/violates check constraint/);
    expect(await listed()).toHaveLength(0);
  });

  it('is bounded by domain and day exactly, however many processes put at once', async () => {
    const processes = [db, anotherProcess(), anotherProcess()];
    const notices = Array.from({ length: 30 }, (_, n) => noticeOf(`of ${domainId} ${n}`));
    const bounded = (notice: Notice, n: number) =>
      at(processes, n % 3).run((sql) => putNotice(sql, domainId, notice, 10));
    const puts = await Promise.all(notices.map(bounded));
    expect(puts.toSorted()).toEqual([...Array(20).fill('full'), ...Array(10).fill('new')]);
    expect(await bounded(at(notices, puts.indexOf('new')), 0)).toBe('known');
    await letPass(24);
    expect(await bounded(noticeOf('the next day'), 0)).toBe('new');
  });
});

describe('a notice that no record names', () => {
  it('is dropped after 24 hours, and not before; one that a record names stays', async () => {
    const [unnamed, named, later] = [noticeOf('unnamed'), noticeOf('named'), noticeOf('later')];
    // those of other tests
    await dropUnnamedNotices(db);
    for (const notice of [unnamed, named]) await put(notice);
    await persist(db, [record(named.hash)]);
    await letPass(23.9);
    expect(await dropUnnamedNotices(db)).toBe(0);
    await letPass(0.2);
    await put(later);
    // of two clocks the earlier one counts
    expect(await dropUnnamedNotices(db, new Date(Date.now() - 3_600_000))).toBe(0);
    expect(await dropUnnamedNotices(db)).toBe(1);
    expect((await listed()).map(({ notice }) => notice)).toEqual([later.hash, named.hash]);
    // its row stays for a while, so that every process hears of it
    expect(await rows()).toHaveLength(3);
    await letPass(1.1);
    await dropUnnamedNotices(db);
    expect((await rows()).map(({ notice }) => notice)).toEqual([named.hash, later.hash]);
    // put and named again it is as if it were new
    await persist(db, [record(unnamed.hash)]);
    expect(await put(unnamed)).toBe('new');
    await letPass(25);
    await dropUnnamedNotices(db);
    expect((await listed()).map(({ notice }) => notice)).toContain(unnamed.hash);
  });

  it('leaves no record behind with a number of nothing, while records name notices that are being dropped', async () => {
    const notices = Array.from({ length: 60 }, (_, n) => noticeOf(`race ${domainId} ${n}`));
    const processes = [anotherProcess(), anotherProcess()];
    for (let round = 0; round < 5; round += 1) {
      const fresh = notices.slice(round * 12, round * 12 + 12);
      for (const notice of fresh) await put(notice);
      await letPass(30);
      const records = () => fresh.map(({ hash }) => record(hash));
      await Promise.all([
        ...records().map((each, n) => persist(at(processes, n % 2), [each])),
        dropUnnamedNotices(db),
        letPass(30).then(() => dropUnnamedNotices(db)),
      ]);
      // by numbers that the processes remember
      await Promise.all(processes.map((process) => persist(process, records())));
    }
    await dropUnnamedNotices(db);
    expect(await dangling()).toHaveLength(0);
    const [counted] = await sql<{ records: number }>`
      select count(*) as records from records join notices on number = notice_number
      where records.domain_number = (select number from domains where id = ${domainId})`;
    expect(counted?.records).toBe(60 * 3);
  });
});

describe('the notices of a domain whose key somebody abuses', () => {
  const madeUp = (count: number) => Array.from({ length: count }, (_, n) => noticeOf(`made up ${n} of ${domainId}`));
  const heldOnes = async () => (await listed()).map(({ notice }) => notice);

  it('find room although the day is full, once more records of visitors name them than one of those', async () => {
    const [real, ahead, flood] = [noticeOf('real'), noticeOf('ahead'), madeUp(3)];
    const putByPage = (notice: Notice) => put(notice, db, 3);
    for (const each of flood) expect(await putByPage(each)).toBe('new');
    await storeAndCount([
      ...flood.flatMap((each) => times(2, each)),
      ...times(2, real),
      ...times(5, real, { bot: true }),
    ]);
    expect(await putByPage(real)).toBe('full');
    await storeAndCount(times(1, real));
    expect(await putByPage(real)).toBe('new');
    expect(await heldOnes()).toHaveLength(3);
    const again: string[] = [];
    for (const each of flood) again.push(await putByPage(each));
    expect(again.toSorted()).toEqual(['full', 'known', 'known']);
    // the domain's managers have no limit, and take no room from pages
    expect([await put(ahead), await put(real), await put(real)]).toEqual(['new', 'kept', 'known']);
    expect(await putByPage(noticeOf('in the room of the one that is kept'))).toBe('new');
  });

  it('stay for good if enough records named them, each day counting the same; others go after 30 days', async () => {
    const [real, rare, short, ofCrawlers, managed] = ['real', 'rare', 'short', 'of crawlers', 'managed'].map(noticeOf);
    if (!real || !rare || !short || !ofCrawlers || !managed) throw new Error('five were made');
    const flood = madeUp(60);
    for (const each of [real, rare, short, ofCrawlers, ...flood]) await put(each, db, 500);
    await put(managed);
    await storeAndCount([
      ...times(2, real),
      ...times(1, rare),
      ...times(1, managed),
      ...times(50, ofCrawlers, { bot: true }),
      ...flood.flatMap((each) => times(20, each)),
    ]);
    for (let day = 0; day < 5; day += 1) {
      await letDaysPass(1);
      await storeAndCount([...times(20, real), ...(day === 0 ? times(10, short) : [])]);
    }
    await letDaysPass(24);
    expect(await judgeNotices(db)).toBe(0);
    await letDaysPass(2);
    expect(await judgeNotices(db, new Date(Date.now() - 10 * 86_400_000))).toBe(0);
    expect(await judgeNotices(db)).toBe(62);
    const stay = [real, short, managed].map(({ hash }) => hash);
    expect((await heldOnes()).toSorted()).toEqual(stay.toSorted());
    // in the records it is named as before, and may be put again
    const naming = await sql`
      select from records join notices on number = notice_number where hash = decode(${rare.hash}, 'hex')`;
    expect(naming).toHaveLength(1);
    expect(await put(rare, db, 500)).toBe('new');
    await letDaysPass(29);
    expect(await judgeNotices(db)).toBe(0);
    await letDaysPass(400);
    expect(await judgeNotices(db)).toBe(1);
    expect((await heldOnes()).toSorted()).toEqual(stay.toSorted());
    const left = await sql`
      select from notice_days where domain_number = (select number from domains where id = ${domainId})`;
    expect(left).toHaveLength(0);
  });
});

describe('which notices are held', () => {
  it('is known of what another process puts, of what is dropped, and again after a lost connection', async () => {
    const held = createKnownNotices(anotherProcess(), { warn: () => {} });
    await held.follow();
    atEnd(() => held.close());
    const [dropped, lost] = [noticeOf('dropped'), noticeOf('lost')];
    const areWanted = () => [dropped, lost].map(({ hash }) => held.isWanted(domainId, hash));
    expect(areWanted()).toEqual([true, true]);
    await put(dropped);
    await eventually(() => expect(areWanted()).toEqual([false, true]));
    await letPass(25);
    await put(lost);
    await dropUnnamedNotices(db);
    await eventually(() => expect(areWanted()).toEqual([true, false]));
    // as a standby that never got it
    await sql`delete from notices where hash = decode(${lost.hash}, 'hex')`;
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await eventually(() => expect(areWanted()).toEqual([true, true]));
  });

  it('is not asked for before it is known, so that nothing is sent in vain while Postgres is away', async () => {
    const away = createKnownNotices(
      through(db, () => Promise.reject(new Error('away'))),
      { warn: () => {} },
    );
    atEnd(() => away.close());
    await away.follow();
    expect(away.isWanted(domainId, hashOf(1))).toBe(false);
  });
});

describe('the number of records of a notice', () => {
  const close = () => closeOpenEpoch(db);
  const derive = async (sizes?: number[], fails = 0) => {
    const derivation = createNoticeDerivation(sizes && changingSize(sizes));
    const failing: Derivation = {
      ...derivation,
      async derive(...given) {
        const mark = await derivation.derive(...given);
        if (Math.random() < fails) throw new Error('killed');
        return mark;
      },
    };
    for (;;) if ((await deriveNext(db, failing).catch(() => 'more')) === 'done') return;
  };

  it('counts each once, in the epoch in which it was stored, also those from before the document came', async () => {
    const notice = noticeOf('counted');
    const ours = [record(notice.hash), record(notice.hash), record(hashOf(7)), record(hashOf(8))];
    await persist(db, ours);
    await close();
    await put(notice);
    expect(await countOf(notice.hash)).toBe(0);
    await derive();
    expect(await countOf(notice.hash)).toBe(2);
    // the same again, one more, and one that names nothing
    await persist(db, [...ours, record(notice.hash), recordAt(Date.now(), { domainId })]);
    await derive();
    expect(await countOf(notice.hash)).toBe(2);
    await close();
    await derive();
    await derive();
    expect(await countOf(notice.hash)).toBe(3);
  });

  it('counts what a worker of 0.1.0 left of a domain, whose notices it had counted up to a number', async () => {
    const hashes = [1, 2, 3].map((n) => hashOf(n));
    await persist(
      db,
      hashes.map((hash) => record(hash)),
    );
    await close();
    await sql`
      with numbers as (
        select n.number, domain_number, row_number() over (order by n.number) as place
        from notices n join domains d on d.number = domain_number where d.id = ${domainId}
      ),
      noted as (
        insert into notice_counting (epoch, domain_number, notice_number)
        select (select open - 1 from epochs), domain_number, number from numbers where place = 2
      )
      update notices set records = 1 from numbers where numbers.number = notices.number and place <= 2`;
    await derive();
    const counted = await sql<{ records: number }>`
      select records from notices n join domains d on d.number = domain_number where d.id = ${domainId}`;
    expect(counted.map(({ records }) => records)).toEqual([1, 1, 1]);
  });

  it('is exact for many domains and made-up hashes, in small pieces, with failures and several processes', async () => {
    const { domainIds } = await makeTenant(db, { domains: 5 });
    domainId = at(domainIds, 0);
    const expected = new Map<string, number>();
    for (let epoch = 0; epoch < 4; epoch += 1) {
      const batch = domainIds.flatMap((id, of) =>
        Array.from({ length: of === 0 ? 97 * Math.sign(epoch) : of * 3 }, (_, n) =>
          record(hashOf(n % 41), { domainId: id }),
        ),
      );
      for (const each of batch) {
        const key = `${each.domainId} ${each.notice}`;
        expected.set(key, (expected.get(key) ?? 0) + 1);
      }
      await persist(db, batch);
      await close();
    }
    await Promise.all([derive([10, 200, 3], 0.3), derive([10], 0.3), derive([60, 10], 0.3)]);
    const counted = await sql<{ key: string; records: number }>`
      select d.id || ' ' || encode(hash, 'hex') as key, records from notices join domains d on d.number = domain_number
      where d.id = any (${domainIds}::text[])`;
    expect(new Map(counted.map(({ key, records }) => [key, records]))).toEqual(expected);
    const wrong = await sql`
      select from domains d join notices n on n.domain_number = d.number
      where d.id = any (${domainIds}::text[])
      group by d.number
      having sum(records) <> (
        select sum(records) from notice_days where domain_number = d.number and notice_number = 0
      ) or sum(records) <> (
        select sum(records) from notice_days where domain_number = d.number and notice_number > 0
      )`;
    expect(wrong).toHaveLength(0);
  });
});
