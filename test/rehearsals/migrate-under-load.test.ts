/** A filled database gets an index while it is recorded and read all the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { migrate } from '#libs/base/db/migrate';
import { addDays, addMonths, dayOf, monthOfDay } from '#libs/base/terms/calendar';
import { persist } from '#libs/record/persist/persist';
import { atEnd } from '../support/at-end.ts';
import { recordAt } from '../support/records.ts';
import { at, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const records = 20_000;
const months = 4;
/** milliseconds between two questions of the same kind, without which they would take all of the machine */
const pause = 10;
const index = 'records_by_visitor';
const definition =
  '((hashtext(visitor_id) # domain_number), ((milliseconds_of(id) >> 14)::integer)) where visitor_id is not null';
/** as in the release before, whose processes ask by it until the upgrade is done */
const previous = 'records_of_visitor';
const ofPrevious = '(domain_number, hashtext(visitor_id), id) where visitor_id is not null';

const stack = await startStack();
const direct = postgres(stack.env.DATABASE_URL, { max: 3, onnotice: () => {} });
atEnd(() => direct.end());
const { domainId, tenant } = stack;
const today = dayOf(Date.now());
const since = Date.parse(addDays(today, -30 * (months - 1)));
// of 30 days each, which may begin one month earlier than there are
for (let month = 0; month <= months; month += 1)
  await direct`select make_record_month(${addMonths(monthOfDay(today), -month)})`;
await direct`
  insert into records (domain_number, id, epoch, decision, received_at, source, bot, visitor_id)
  select number,
    (lpad(to_hex(${since}::bigint + n * ${Math.floor((Date.now() - since) / records)}::bigint), 12, '0')
      || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
    (select open_epoch()), 'accept_all', now(), 'banner', false, 'visitor ' || n % 1000
  from domains, generate_series(1, ${records}::int) as n
  where domains.id = ${domainId}`;
await direct`
  insert into counters (organization_id, domain_id, period, accept_all)
  select ${tenant.organizationId}, ${domainId}, level.period, count(*)
  from records
  cross join lateral (
    select to_char(date '1970-01-01' + (milliseconds_of(id) / 86400000)::int, 'YYYY-MM-DD') as day
  ) as decided
  cross join lateral (values (day), (left(day, 7))) as level (period)
  group by 3`;
await direct`analyze records`;

describe('a migration that builds an index', () => {
  /** As a release before the index left the database. */
  const takeAway = async () => {
    await direct.unsafe(`drop index if exists ${index}`);
  };
  const state = async () => {
    const [row] = await direct<{ valid: boolean; parts: number; months: number }[]>`
      select
        (select indisvalid from pg_index where indexrelid = to_regclass(${index})) as valid,
        (
          select count(*)::int from pg_inherits join pg_index on indexrelid = inhrelid
          where inhparent = to_regclass(${index}) and indisvalid
        ) as parts,
        (select count(*)::int from pg_inherits where inhparent = 'records'::regclass) as months`;
    return row;
  };
  /** What builds an index and waits for whoever may still read without it. */
  const waitingForReaders = () => direct<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event = 'virtualxid' and query ~ '^create index'`;
  const whole = async () => {
    const { parts = 0, months: partitions = 0, ...rest } = (await state()) ?? {};
    expect(rest).toEqual({ valid: true });
    expect(parts).toBe(partitions);
  };

  /** Migrates while records are posted and read all the time, and while a transaction holds on that has read. */
  const migrateUnderLoad = async () => {
    const { client, domainId, apiKey } = stack;
    const today = dayOf(Date.now());
    const requests: (() => Promise<{ status: number }>)[] = [
      // as the API does without Redis: those that the queue takes wait there for nobody
      async () => {
        await persist(stack.db, [recordAt(Date.now(), { domainId, decision: 'custom', visitorId: 'visitor 7' })]);
        return { status: 202 };
      },
      () => client.record(domainId, apiKey, { decision: 'custom', visitorId: 'visitor 7' }),
      () => client.records(domainId),
      () => client.records(domainId, 'visitorId=visitor%207'),
      () => client.stats(domainId, `from=${addDays(today, -30)}&to=${today}`),
    ];
    // what the machine alone takes: nothing in these waits for the migration
    const unconcerned = [
      () => client.get('/openapi.json'),
      async () => {
        await stack.db.run((sql) => sql`select count(*) from plans`);
        return { status: 200 };
      },
    ];
    let isRunning = true;
    let noise = 0;
    const control = Promise.all(
      unconcerned.map(async (ask) => {
        while (isRunning) {
          const started = performance.now();
          await ask();
          noise = Math.max(noise, performance.now() - started);
          await sleep(pause);
        }
      }),
    );
    const took = requests.map((): number[] => []);
    const longest = () => Math.max(...took.flat());
    const untilAllAsked = (times: number) => {
      const before = took.map((each) => each.length);
      return eventually(() =>
        expect(Math.min(...took.map((each, at) => each.length - (before[at] ?? 0)))).toBeGreaterThanOrEqual(times),
      );
    };
    const statuses = new Set<number>();
    const load = Promise.all(
      requests.map(async (ask, at) => {
        while (isRunning) {
          const started = performance.now();
          statuses.add((await ask()).status);
          took[at]?.push(performance.now() - started);
          await sleep(pause);
        }
      }),
    );
    let letGo = () => {};
    const reading = direct.begin('isolation level repeatable read', async (reader) => {
      await reader`select count(*) from records`;
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
    });
    await untilAllAsked(5);
    const alone = longest();
    const migrating = migrate(stack.env.DATABASE_URL);
    // the migration has come to where it waits for the reader
    await eventually(async () => expect(await waitingForReaders()).toHaveLength(1));
    await untilAllAsked(20).finally(letGo);
    await reading;
    const output = await migrating;
    isRunning = false;
    await Promise.all([load, control]);
    const [slowest, before, others] = [longest(), alone, noise].map((time) => Math.round(time));
    console.log(
      `the slowest of ${took.flat().length} requests took ${slowest} ms (before ${before}), of others ${others}`,
    );
    expect([...statuses].sort()).toEqual([200, 202]);
    expect(longest()).toBeLessThan(1_000 + Math.max(alone, noise));
    return output;
  };

  it('keeps no request waiting for a second', async () => {
    await takeAway();
    await direct.unsafe(`create index ${previous} on records ${ofPrevious}`);
    const output = await migrateUnderLoad();
    expect(output).toContain(`built ${index}`);
    expect(output).not.toContain('dropped');
    await whole();
    // all that was recorded meanwhile is in it
    await eventually(async () => {
      const [found] = await direct<{ n: number }[]>`
        select count(*)::int as n from records
        where domain_number = (select number from domains where id = ${stack.domainId}) and visitor_id = 'visitor 7' and decision = 'custom'`;
      const { body } = await stack.client.records(stack.domainId, 'visitorId=visitor%207&decision=custom');
      expect(body.total).toBe(found?.n);
      expect(body.total).toBeGreaterThan(5);
    });
  });

  it('goes on where one before was cut off', async () => {
    await takeAway();
    await direct.unsafe(`create index ${index} on only records ${definition}`);
    const partitions = await direct<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'records'::regclass order by 1`;
    const partOf = (at: number) => (partitions[at]?.name ?? '').replace('records', index);
    // the first was built and not attached, the second was cut off while it was built
    await direct.unsafe(`create index concurrently ${partOf(0)} on ${partitions[0]?.name} ${definition}`);
    await direct.begin('isolation level repeatable read', async (reader) => {
      await reader`select count(*) from plans`;
      const building = direct.unsafe(`create index concurrently ${partOf(1)} on ${partitions[1]?.name} ${definition}`);
      const cutOff = expect(building).rejects.toThrow(/user request/);
      const { pid } = await eventually(async () => at(await waitingForReaders(), 0));
      await direct`select pg_cancel_backend(${pid})`;
      await cutOff;
    });
    const [cut] = await direct`select indisvalid as valid from pg_index where indexrelid = to_regclass(${partOf(1)})`;
    expect(cut).toEqual({ valid: false });
    expect(await migrate(stack.env.DATABASE_URL)).toContain(`built ${index}`);
    await whole();
    const next = await migrate(stack.env.DATABASE_URL);
    expect(next).not.toContain('built');
    expect(next).toContain(`dropped ${previous}`);
    expect(await migrate(stack.env.DATABASE_URL)).not.toContain('dropped');
  });
});
