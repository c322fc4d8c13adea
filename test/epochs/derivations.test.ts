import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '#libs/base/db/database';
import { lastClosedEpoch } from '#libs/epochs/closed-epochs';
import { type Derivation, deriveNext, isBehindBy, lastEpochDone } from '#libs/epochs/derivations';
import { createPieceSize } from '#libs/epochs/piece-size';
import { createIdLister, nextDomains, nil, recordsIn } from '#libs/epochs/slices';
import { createNoticeDerivation } from '#libs/notices/counting';
import { recordBacklog } from '#libs/record/metrics';
import { persist } from '#libs/record/persist/persist';
import { changingSize } from '../support/piece-size.ts';
import { openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch } from '../support/sealing.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const { db, sql } = await openDatabase();
const { domainIds } = await makeTenant(db, { domains: 4 });
await sql`create table derived (name text, epoch integer, domain_number integer, records integer)`;

describe('a derivation', () => {
  let stored = 0;

  const close = () => closeOpenEpoch(db);
  const store = async (epochs: number) => {
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      const batch = domainIds.flatMap((domainId, at) =>
        // not every domain has records in every epoch
        Array.from({ length: (epoch + at) % 3 }, () => recordAt(Date.now(), { domainId })),
      );
      stored += (await persist(db, batch)).added;
      await close();
    }
  };

  /** Counts the records of each domain, and fails half of the time after it has written. */
  const counting = (name: string, { after, fails = 0 }: { after?: string; fails?: number } = {}): Derivation => ({
    name,
    ...(after && { after }),
    size: createPieceSize(1),
    async derive(sql, slice) {
      await sql`
        insert into derived (name, epoch, domain_number, records)
        select ${name}, epoch, domain_number, count(*) from ${recordsIn(sql, slice)} as r group by epoch, domain_number`;
      if (Math.random() < fails) throw new Error('killed');
      return undefined;
    },
  });

  const runUntilDone = async (derivation: Derivation) => {
    for (;;) {
      const step = await deriveNext(db, derivation).catch(() => 'more');
      if (step === 'done') return;
    }
  };
  const derivedBy = (name: string) =>
    sql<{ rows: number; places: number; records: number }>`
        select count(*)::int as rows, count(distinct (epoch, domain_number))::int as places,
          coalesce(sum(records), 0)::int as records
        from derived where name = ${name}`;

  it('handles every record once, after any failure, however many processes try', async () => {
    await store(8);
    const derivation = counting('once', { fails: 0.4 });
    await Promise.all(Array.from({ length: 3 }, () => runUntilDone(derivation)));
    const [all] = await derivedBy('once');
    expect(all?.records).toBe(stored);
    expect(all?.rows).toBe(all?.places);
    expect(await db.run((sql) => lastEpochDone(sql, 'once'))).toBe(await db.run(lastClosedEpoch));
  });

  it('is behind by the age of the oldest epoch that it is not done with, also while it is at it', async () => {
    const lags = async () => (await db.run(recordBacklog(['once', 'never']).ask)).derivationLag;
    await store(3);
    const before = await lags();
    expect(before.once).toBeGreaterThan(0);
    expect(before.never).toBeGreaterThan(before.once ?? Number.NaN);
    const counts = counting('once');
    const seen: Record<string, number>[] = [];
    const derive: Derivation['derive'] = async (...given) => {
      seen.push(await lags());
      return counts.derive(...given);
    };
    await deriveNext(db, { ...counts, derive });
    expect(seen[0]?.once).toBeGreaterThan(before.once ?? Number.NaN);
    await runUntilDone(counts);
    expect((await lags()).once).toBe(0);
  });

  it('begins no epoch before the one it follows is done with it', async () => {
    const first = counting('first');
    const second = counting('second', { after: 'first' });
    await runUntilDone(second);
    expect((await derivedBy('second'))[0]?.records).toBe(0);
    for (let step = 0; step < 9; step += 1) await deriveNext(db, first);
    await runUntilDone(second);
    const [ahead] = await sql`
        select from derived where name = 'second' and epoch > (select epoch from derivations where name = 'first')`;
    expect(ahead).toBeUndefined();
    await runUntilDone(first);
    await runUntilDone(second);
    expect((await derivedBy('second'))[0]?.records).toBe(stored);
  });

  it('handles epochs together that have no more records than a piece may, and is due again after a time', async () => {
    const most = 9;
    const spans: string[] = [];
    const together: Derivation = {
      ...counting('together'),
      size: createPieceSize(most),
      acrossEpochs: true,
      async derive(sql, slice) {
        const [row] = await sql<{ records: number }[]>`
          insert into derived (name, epoch, domain_number, records)
          select 'together', ${slice.first}, 0, count(*) from ${recordsIn(sql, slice)} as r
          returning records`;
        expect(row?.records).toBeLessThanOrEqual(most);
        spans.push(`${slice.first}-${slice.last}`);
        return undefined;
      },
    };
    const isDue = (milliseconds: number) => db.run((sql) => isBehindBy(sql, 'together', milliseconds));
    expect(await isDue(3_600_000)).toBe(true);
    await runUntilDone(together);
    expect((await derivedBy('together'))[0]?.records).toBe(stored);
    expect(spans.some((span) => new Set(span.split('-')).size === 2)).toBe(true);
    expect(await db.run((sql) => lastEpochDone(sql, 'together'))).toBe(await db.run(lastClosedEpoch));
    expect([await isDue(0), await isDue(3_600_000)]).toEqual([true, false]);
  });
});

describe('a domain with more records in an epoch than a slice', () => {
  const noting = (name: string, fails = 0): Derivation => {
    const size = changingSize([3, 1, 8, 2]);
    return {
      name,
      size,
      nextIds: createIdLister(() => 0, size),
      async derive(sql, slice) {
        await sql`insert into noted (name, id) select ${name}, id from ${recordsIn(sql, slice)} as r`;
        if (Math.random() < fails) throw new Error('killed');
        return undefined;
      },
    };
  };
  const next = (derivation: Derivation) =>
    deriveNext(db, derivation).catch((error: Error) => {
      expect(error.message).toBe('killed');
      return 'more';
    });
  const ids = (name: string) => sql<{ id: string }>`select id from noted where name = ${name} order by id`;
  const stored = () => sql<{ id: string }>`select id from records order by id`;
  const store = async (domainId: string, time = Date.now()) => {
    await persist(
      db,
      Array.from({ length: 20 }, (_, n) => recordAt(time + n, { domainId })),
    );
    await closeOpenEpoch(db);
  };

  beforeAll(() => sql`create table noted (name text, id uuid, primary key (name, id))`);

  it('is handled in several slices, each record once, after any failure, by several processes', async () => {
    for (const domainId of domainIds) await store(domainId);
    const run = async () => {
      const derivation = noting('divided', 0.3);
      while ((await next(derivation)) !== 'done');
    };
    await Promise.all([run(), run()]);
    expect(await ids('divided')).toEqual(await stored());
  });

  it('is handled from its first record on where a worker of 0.1.0 moved the mark and left an id behind', async () => {
    while ((await next(noting('mixed'))) !== 'done');
    const [domainId = expect.fail()] = domainIds;
    await store(domainId);
    const old = noting('mixed');
    await next(old);
    const [begun] = await sql`
      update derivations set epoch = epoch + 1, domain_number = 0 where name = 'mixed' and id <> ${nil} returning id`;
    expect(begun).toBeDefined();
    await store(domainId, Date.now() - 3_600_000);
    const before = (await ids('mixed')).length;
    while ((await next(old)) !== 'done');
    expect((await ids('mixed')).length - before).toBe(20);
  });
});

// otherwise each epoch would cost another transaction, which finds nothing
it('the next domains of an epoch come with whether any are left', async () => {
  const [one = '', , other = ''] = domainIds;
  const of = (domainId: string, count: number) =>
    Array.from({ length: count }, () => recordAt(Date.now(), { domainId }));
  await persist(db, [...of(one, 2), ...of(other, 3)]);
  await closeOpenEpoch(db);
  const epoch = await db.read(lastClosedEpoch);
  const [first, , last] = (
    await sql<{ number: number }>`select number from domains where id = any(${domainIds}) order by number`
  ).map(({ number }) => number);
  const next = async (after: number, limit: number) => {
    const { domains, through } = await db.read((sql) => nextDomains(sql, epoch, after, limit));
    return [domains.map(({ domainNumber }) => domainNumber), through];
  };
  expect(await next(0, 5)).toEqual([[first, last], undefined]);
  expect(await next(0, 4)).toEqual([[first], first]);
  expect(await next(first ?? 0, 3)).toEqual([[last], undefined]);
  expect(await next(first ?? 0, 2)).toEqual([[last], last]);
  expect(await next(last ?? 0, 2)).toEqual([[], undefined]);
});

it('ids that are listed from a place on are listed again where others before it are asked for', async () => {
  const [domainId = expect.fail()] = (await makeTenant(db)).domainIds;
  await persist(
    db,
    Array.from({ length: 5 }, () => recordAt(Date.now(), { domainId })),
  );
  await closeOpenEpoch(db);
  const epoch = await db.read(lastClosedEpoch);
  const [domain = expect.fail()] = await sql<{ number: number }>`select number from domains where id = ${domainId}`;
  const nextIds = createIdLister(() => 0, createPieceSize(9));
  const after = (place: string) =>
    db.read((own) => nextIds(own, { epoch, domainNumber: domain.number, after: place }, 9));
  const all = await after(nil);
  expect(all.length).toBe(5 * 16);
  const third = all.subarray(32, 48).toString('hex');
  expect((await after(third)).equals(all.subarray(48))).toBe(true);
  // fewer than were asked for are the last ones, also where not all were kept
  const nextOf = createIdLister(() => 0, createPieceSize(9), 3);
  const two = (place: string) => db.read((own) => nextOf(own, { epoch, domainNumber: domain.number, after: place }, 2));
  expect((await two(nil)).equals(all.subarray(0, 32))).toBe(true);
  expect((await two(all.subarray(16, 32).toString('hex'))).equals(all.subarray(32, 64))).toBe(true);
  // as where a log was cut back
  expect((await after(nil)).equals(all)).toBe(true);
});

it('an epoch with very many records of one domain is gone on with, however long it takes to read all of them', async () => {
  const { url, db, sql } = await openDatabase();
  const [domainId = expect.fail()] = (await makeTenant(db)).domainIds;
  const named = { domainId, notice: 'a'.repeat(64) };
  await persist(
    db,
    Array.from({ length: 150 }, () => recordAt(Date.now(), named)),
  );
  await closeOpenEpoch(db);
  // few rows, of which each takes 10 ms, are as good as millions
  await sql`alter table records rename to stored_records`;
  await sql`create view records as select * from stored_records where pg_sleep(0.01)::text = ''`;
  const derive = (derivation: Derivation) =>
    deriveNext(openPool(url, { statementTimeout: 1_000, deadline: 1_200 }), derivation);
  const size = createPieceSize(2);
  const listing = (name: string, then: (own: Sql) => PromiseLike<unknown>): Derivation => ({
    name,
    size,
    nextIds: createIdLister(() => 0, size),
    async derive(own, slice) {
      expect(slice.ids?.length).toBeGreaterThan(0);
      await then(own);
      return undefined;
    },
  });
  for (const [derivation, end] of [
    [createNoticeDerivation(createPieceSize(2)), 'done'],
    [listing('lists', (own) => own`select`), 'more'],
  ] as const) {
    await expect(derive(derivation)).rejects.toThrow(/statement timeout|no answer/);
    await eventually(async () => expect(await derive(derivation)).toBe(end));
  }
  // nothing else may take as long: what is made of a piece is less, the fewer records it has
  const slow = derive(listing('lists and is slow', (own) => own`select pg_sleep(1.5)`));
  await expect(slow).rejects.toThrow('statement timeout');
});
