/** What the log is counted by: the counters of crawlers and of visitors with many records. And a page of many records. */
import { describe, expect, it } from 'vitest';
import type { Database, Reads } from '#libs/base/db/database';
import { type Decision, decisions } from '#libs/base/terms/terms';
import { type LogQuery, readPage } from '#libs/log/domain-page';
import { readDomain } from '#libs/log/export/domain-records';
import { dropExpiredMonths, forgetMonth } from '#libs/privacy/drop-months';
import { listVisitorDomains, newestFirst as recordsOf } from '#libs/privacy/visitor-records';
import { countBusyVisitors, noteBusyVisitor } from '#libs/record/busy-visitors';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { atOnce } from '../support/clock.ts';
import { untilWaiting } from '../support/lock-waits.ts';
import { counting, openPool } from '../support/pool.ts';
import { recordAt } from '../support/records.ts';
import { makeTenant, openDatabase } from '../support/stores.ts';
import { rowsRead } from '../support/transaction.ts';
import { eventually } from '../support/wait.ts';

const start = Date.parse('2024-02-27T00:00:00.000Z');
const hour = 3_600_000;
let organizationId: string;
let domainId: string;
let domainNumber: number;

const { db, sql, url } = await openDatabase();

const newDomain = async () => {
  const tenant = await makeTenant(db);
  organizationId = tenant.organizationId;
  [domainId = ''] = tenant.domainIds;
  const [domain] = await sql<{ number: number }>`select number from domains where id = ${domainId}`;
  domainNumber = domain?.number ?? 0;
};
/** One an hour over some days; every third is a crawler's. */
const make = (count: number, fields: Partial<NewRecord> = {}, timeOf = (index: number) => index * hour) =>
  Array.from({ length: count }, (_, index) =>
    recordAt(start + timeOf(index), {
      domainId,
      decision: decisions[index % 4] ?? 'custom',
      bot: index % 3 === 0,
      ...fields,
    }),
  );
const read = async (query: Partial<LogQuery>) => {
  let isBusy = false;
  const noteBusy = () => {
    isBusy = true;
  };
  const page = await db.run((sql) =>
    readPage(sql, { organizationId, domainId, limit: 20, offset: 0, ...query }, noteBusy),
  );
  return { total: page.total, ids: page.records.map(({ id }) => id), isBusy };
};
const newestFirst = (records: NewRecord[]) =>
  records
    .map(({ id }) => id)
    .sort()
    .reverse();

describe('counters of crawlers', () => {
  it('are those of the records, by day and month, also where batches with the same records come at once', async () => {
    await newDomain();
    const records = make(200);
    await Promise.all(Array.from({ length: 12 }, (_, at) => persist(db, records.slice(at * 10, at * 10 + 90))));
    const stored = await sql<{ period: string } & Record<Decision, number>>`
      select period, accept_all::int, reject_all::int, custom::int, withdraw::int from crawler_counters
      where domain_number = ${domainNumber}`;
    expect(stored.length).toBeGreaterThan(6);
    for (const { period, ...counts } of stored) {
      const counted = records.filter(({ bot, receivedAt }) => bot && receivedAt.startsWith(period));
      const of = (decision: Decision) => counted.filter((record) => record.decision === decision).length;
      expect(counts).toEqual(Object.fromEntries(decisions.map((decision) => [decision, of(decision)])));
    }
    const days = stored.filter(({ period }) => period.length === 10);
    const total = days.reduce((sum, day) => decisions.reduce((all, decision) => all + day[decision], sum), 0);
    expect(total).toBe(records.filter(({ bot }) => bot).length);
  });
});

describe('a visitor with many records', () => {
  const visitorId = 'everybody';
  const note = () => db.run((sql) => noteBusyVisitor(sql, { domainId, visitorId }));
  /** Of six in six hours, two each are of one millisecond, and all of a few seconds. */
  const close = (index: number) => (index - (index % 6)) * hour + (index % 3) * 5_000;

  it('has the same pages before and after they are counted, with every filter', async () => {
    await newDomain();
    const records = make(1_500, { visitorId }, close);
    const others = make(100, { visitorId: 'somebody else' });
    await persist(db, records.slice(0, 1_200));
    await persist(db, [...others, ...records.slice(1_200, 1_300)]);
    const filters: Partial<LogQuery>[] = [
      {},
      { decision: 'custom' },
      { bot: true },
      { bot: false, decision: 'withdraw' },
      { from: '2024-03-05', to: '2024-03-20' },
      { offset: 777, limit: 50 },
      { after: newestFirst(records)[700] },
      { offset: 5_000 },
    ];
    const ask = async () => {
      const responses: Awaited<ReturnType<typeof read>>[] = [];
      for (const filter of filters) responses.push(await read({ visitorId, ...filter }));
      return responses.map(({ total, ids }) => ({ total, ids }));
    };
    const before = await ask();
    expect(before[0]).toEqual({ total: 1_300, ids: newestFirst(records.slice(0, 1_300)).slice(0, 20) });
    expect((await read({ visitorId })).isBusy).toBe(true);
    await note();
    expect(await countBusyVisitors(db)).toBe(1);
    expect((await read({ visitorId })).isBusy).toBe(false);
    expect(await ask()).toEqual(before);
    // what comes later is counted as it is stored
    await persist(db, [...records.slice(1_300), ...others]);
    expect(await read({ visitorId })).toEqual({ total: 1_500, ids: newestFirst(records).slice(0, 20), isBusy: false });
    expect(await read({ visitorId: 'somebody else' })).toMatchObject({ total: 100, isBusy: false });
    await forgetMonth(db, '2024-02');
    const left = records.filter(({ receivedAt }) => receivedAt >= '2024-03');
    expect((await read({ visitorId, offset: left.length - 1 })).ids).toEqual(newestFirst(left).slice(-1));
    expect((await read({ visitorId })).total).toBe(left.length);
    for (const month of new Set(left.map(({ receivedAt }) => receivedAt.slice(0, 7)))) {
      await forgetMonth(db, month);
    }
    // with the last record goes the visitor's id
    const kept = await sql`select from busy_visitors where domain_number = ${domainNumber}`;
    expect([kept.length, (await read({ visitorId })).total]).toEqual([0, 0]);
  });

  it('is shown and exported whole, in the order of ids', async () => {
    await newDomain();
    // in months that are still there
    const later = (index: number) => close(index) + 500 * 24 * hour;
    const records = make(1_500, { visitorId }, later);
    await persist(db, [...make(100, { visitorId: 'somebody else' }, later), ...records]);
    const domains = await listVisitorDomains(db, { organizationId, domainId }, visitorId);
    expect(domains.map(({ record }) => record.id)).toEqual(newestFirst(records).slice(0, 1));
    const shown: string[] = [];
    for await (const page of recordsOf(db, domains, visitorId)) shown.push(...page.map(({ record }) => record.id));
    expect(shown).toEqual(newestFirst(records));
    const wanted = { organizationId, domainId, visitorId, format: 'ndjson' as const, epoch: 1_000_000 };
    let exported = '';
    for await (const { text } of readDomain(db, wanted)) exported += text;
    const ids = exported.split('\n').flatMap((line) => (line ? [JSON.parse(line).id] : []));
    expect(ids).toEqual(newestFirst(records).reverse());
  });

  it('leaves no id behind where a month goes while it is counted', async () => {
    await newDomain();
    await persist(db, [recordAt('2023-04-20', { domainId, visitorId })]);
    await note();
    let gone: Promise<boolean> = Promise.resolve(false);
    // as a count does that was begun before
    await db.transaction(async (counting) => {
      await counting`
        insert into visitor_counters (domain_number, visitor_id, period, bot, accept_all, reject_all, custom, withdraw)
        select number, ${visitorId}, '2023-04', false, count(records), 0, 0, 0
        from domains left join records on domain_number = number where domains.id = ${domainId} group by number`;
      await counting`update busy_visitors set counted_at = now() where domain_number = ${domainNumber}`;
      gone = forgetMonth(db, '2023-04');
      await untilWaiting(sql, 'alter table records detach%');
    });
    expect(await gone).toBe(true);
    // the next round
    await dropExpiredMonths(db, { retentionMonths: 1_000, derivations: [], round: atOnce }, Date.now());
    const left = await sql`
      select from visitor_counters full join busy_visitors using (domain_number, visitor_id)
      where domain_number = ${domainNumber}`;
    expect(left.count).toBe(0);
  });

  it('is counted exactly while somebody reads for hours, and beside one who cannot be counted', async () => {
    await newDomain();
    await persist(db, [recordAt('2024-05-20', { domainId, visitorId })]);
    await sql`
      insert into busy_visitors (domain_number, visitor_id)
      select number, visitor from domains, unnest(array['aaa', ${visitorId}]) as visitor where id = ${domainId}`;
    const counted = db.transaction(async (reading) => {
      await reading`select count(*) from busy_visitors, visitor_counters`;
      await sql`
        create function refuse() returns trigger language plpgsql as $$
        begin
          if new.visitor_id = 'aaa' then raise exception 'not this one'; end if;
          return new;
        end $$`;
      await sql`create trigger refuse before update on busy_visitors for each row execute function refuse()`;
      await countBusyVisitors(db);
    });
    await expect(counted).rejects.toThrow('not this one');
    await sql`drop trigger refuse on busy_visitors`;
    await sql`delete from busy_visitors where visitor_id = 'aaa'`;
    expect((await read({ visitorId })).isBusy).toBe(false);
    const [row] = await sql<{ n: number }>`
      select sum(accept_all) as n from visitor_counters where domain_number = ${domainNumber} and length(period) = 10`;
    expect(Number(row?.n)).toBe(1);
  });

  it('is counted exactly while records are stored, also if records were on their way when it was noted', async () => {
    await newDomain();
    const records = Array.from({ length: 600 }, (_, index) =>
      recordAt(Date.parse('2024-05-01') + index * 60_000, { domainId, visitorId }),
    );
    const batches = Array.from({ length: 60 }, (_, at) => records.slice(at * 10, at * 10 + 10));
    await persist(db, records.slice(0, 1));
    const storing = Promise.all(
      [0, 1, 2].map(async (lane) => {
        for (const [at, batch] of batches.entries()) if (at % 3 === lane) await persist(db, batch);
      }),
    );
    // one that has read before it was noted, and stores after
    const late = recordAt('2024-05-20', { domainId, visitorId });
    const unaware = db.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table visitor_counters in row exclusive mode`;
        await transaction`select count(*) from busy_visitors`;
        await note();
        const { db: watched, asked } = counting(db);
        const counted = countBusyVisitors(watched);
        await transaction`
          insert into records (domain_number, id, epoch, decision, received_at, source, bot, visitor_id)
          select number, ${late.id}::uuid, (select open_epoch()), 'accept_all', now(), 'banner', false, ${visitorId} from domains
          where id = ${domainId}`;
        // for whom was noted, for those who do not know of it, and whether these are gone
        await eventually(() => expect(asked()).toBeGreaterThanOrEqual(3));
        return { counted };
      }),
    );
    expect(await (await unaware).counted).toBe(1);
    await storing;
    const [row] = await sql<{ n: number }>`
      select sum(accept_all) as n from visitor_counters
      where domain_number = ${domainNumber} and visitor_id = ${visitorId} and length(period) = 10`;
    expect(Number(row?.n)).toBe(records.length + 1);
  });
});

/** On connections that are made from now on: for each value, or one for all that may come. */
const planFor = (what: 'each value' | 'any value') => {
  const mode = what === 'each value' ? 'force_custom_plan' : 'force_generic_plan';
  const set = `do $$ begin execute format('alter database %I set plan_cache_mode = ${mode}', current_database()); end $$`;
  return db.run((pool) => pool.unsafe(set));
};

// Postgres may prefer a plan for any range, which expects few records in it
it('a page of a busy domain reads its own records, also with a plan for any range', async () => {
  await newDomain();
  for (let first = 0; first < 4_000; first += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, n) => recordAt(Date.parse('2024-06-10') + first + n, { domainId }));
    await persist(db, batch);
  }
  await sql`analyze records`;
  await planFor('any value');
  const readFirst = async (inside: Database) => {
    const { records } = await inside.read((sql) => readPage(sql, { organizationId, domainId, limit: 50 }));
    expect(records).toHaveLength(50);
  };
  // a connection that was made after the setting
  expect(await rowsRead(openPool(url), readFirst)).toBeLessThan(1_000);
});

// Postgres expects few records of any domain, and may look up all of them beside those of a visitor
it('what is read of a visitor of a busy domain are few records, also with a plan for any visitor', async () => {
  await newDomain();
  const times = Array.from({ length: 20 }, (_, part) => Date.parse('2024-06-01') + part * 24 * hour);
  for (const first of times) {
    const of = (n: number) => recordAt(first + n * 1_000, { domainId, visitorId: `visitor ${n}` });
    await persist(
      db,
      Array.from({ length: 1_000 }, (_, n) => of(n)),
    );
  }
  await sql`analyze records`;
  // as if there were millions, to the end of the test
  await sql`alter table records_2024_06 set (autovacuum_enabled = off)`;
  await sql`update pg_class set reltuples = reltuples * 200 where relname like 'records_2024_06%'`;
  await planFor('any value');
  const pool = openPool(url);
  const visitorId = 'visitor 7';
  const page = async (inside: Database) => {
    const { total } = await inside.read((sql) => readPage(sql, { organizationId, domainId, visitorId, limit: 50 }));
    expect(total).toBe(times.length);
  };
  const wanted = { organizationId, domainId, visitorId, format: 'ndjson' as const, epoch: 1_000_000 };
  const exported = async (inside: Reads) => {
    let total = 0;
    for await (const { count } of readDomain(inside, wanted)) total += count;
    expect(total).toBe(times.length);
  };
  const domains = await listVisitorDomains(pool, { organizationId, domainId }, visitorId);
  const next = (inside: Reads) => recordsOf(inside, domains, visitorId).next();
  const read = [];
  for (const each of [page, exported, next]) read.push(await rowsRead(pool, each));
  expect(Math.max(...read), `${read}`).toBeLessThan(100);
});

// Postgres expects few records of any visitor, and rather sorts these than reading them in order
it.each(['each value', 'any value'] as const)(
  'pages about a visitor with many records read few of them, with a plan for %s',
  async (what) => {
    await newDomain();
    // over three months
    const third = (index: number) => (index * hour) / 3 + 700 * 24 * hour;
    const visitorId = 'everybody';
    for (let part = 0; part < 4; part += 1) {
      const others = make(1_000, {}, third).map((record, at) => ({ ...record, visitorId: `visitor ${at}` }));
      await persist(
        db,
        make(1_000, { visitorId }, (index) => third(part * 1_000 + index)),
      );
      await persist(db, others);
    }
    await sql`analyze records`;
    await planFor(what);
    const pool = openPool(url);
    const list = (inside: Reads) => listVisitorDomains(inside, { organizationId, domainId }, visitorId);
    const domains = await list(pool);
    expect(await rowsRead(pool, list)).toBeLessThan(50);
    expect(await rowsRead(pool, (inside) => recordsOf(inside, domains, visitorId).next())).toBeLessThan(600);
    const wanted = { organizationId, domainId, visitorId, format: 'ndjson' as const, epoch: 1_000_000 };
    let total = 0;
    const exportAll = async (inside: Reads) => {
      for await (const { count } of readDomain(inside, wanted)) total += count;
    };
    expect(await rowsRead(pool, exportAll)).toBeLessThan(4_600);
    expect(total).toBe(4_000);
  },
);
