/** What the driver of Postgres does not do by itself. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Sql } from '#libs/base/db/database';
import { retryingReads } from '#libs/base/db/long-reads';
import { openPool } from '../support/pool.ts';
import { freshDatabase, openDatabase } from '../support/stores.ts';
import { repairs } from '../support/uncaught.ts';

it('a read is asked again where the store was busy, and gives up on a mistake at once', async () => {
  const db = retryingReads(openPool(await freshDatabase(), { statementTimeout: 400 }));
  let asked = 0;
  const read = (ask: (sql: Sql) => Promise<unknown>) => {
    asked = 0;
    return db.read((sql) => {
      asked += 1;
      return ask(sql);
    });
  };
  expect(await read((sql) => (asked === 1 ? sql`select pg_sleep(60)` : sql`select 1 as n`))).toEqual([{ n: 1 }]);
  expect(asked).toBe(2);
  await expect(read((sql) => sql`select 1 / 0`)).rejects.toThrow('division by zero');
  expect(asked).toBe(1);
});

// with a hundred statements on each connection
it.each([199, 200, 201])('a transaction after %i statements on two connections is its own', async (before) => {
  const url = await freshDatabase();
  const db = openPool(url, { max: 2 });
  await db.run((sql) => sql`create table noted (number integer)`);
  const insert = () => db.run((sql) => sql`insert into noted values (1)`);
  await Promise.all(Array.from({ length: 4 }, () => db.run((sql) => sql`select pg_sleep(0.05)`)));
  await Promise.all([insert(), insert(), insert(), insert()]);
  const inserts = Array.from({ length: before }, insert);
  // the driver has them by then
  await Promise.resolve().then(() => {});
  const transaction = db.run((sql) => sql.begin((own) => own`insert into noted values (2)`));
  const all = await Promise.allSettled([...inserts, transaction]);
  expect(all.filter(({ status }) => status === 'rejected')).toEqual([]);
  const [row] = await openPool(url, { max: 1 }).run(
    (sql) => sql<{ count: number; open: number }[]>`
      select count(*)::integer as count, (
        select count(*)::integer from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'
      ) as open from noted`,
  );
  expect(row).toEqual({ count: before + 5, open: 0 });
});

// a connection whose transaction has ended goes to the next one that waits
it('more transactions than connections, through a pooler with prepared statements, all end, and what they wrote is there', async () => {
  const transactions = 60;
  const db = openPool(await freshDatabase(), { max: 2, pooled: true });
  await db.run((sql) => sql`create table noted (number integer)`);
  const insert = (number: number) =>
    db.run((sql) =>
      number % 2 === 0
        ? sql`insert into noted values (${number})`
        : sql.begin((transaction) => transaction`insert into noted values (${number})`),
    );
  const all = await Promise.allSettled(Array.from({ length: transactions }, (_, number) => insert(number)));
  expect(all.filter(({ status }) => status === 'rejected')).toEqual([]);
  const [row] = await db.run((sql) => sql<{ count: number }[]>`select count(distinct number)::integer from noted`);
  expect(row?.count).toBe(transactions);
});

it('closing waits for no connection that only the driver takes to be in use', async () => {
  const db = openPool(await freshDatabase());
  await db.run(async (pool) => {
    await pool`select`;
    await pool.reserve();
  });
  const since = performance.now();
  await db.close();
  // it waits for 5 s for what somebody waits for
  expect(performance.now() - since).toBeLessThan(4_000);
});

const { db } = await openDatabase();

describe('a write of the driver to a connection that has just closed', () => {
  const uncaught: unknown[] = [];

  const repair = (error: unknown) => {
    uncaught.push(error);
    return db.recover(error);
  };
  afterEach(() => void repairs.delete(repair));

  /** A transaction that loses its connection between two statements. */
  const loseConnection = () =>
    db.run(
      (sql) =>
        sql.begin(async (transaction) => {
          const [own] = await transaction<{ pid: number }[]>`select pg_backend_pid() as pid`;
          await db.run((other) => other`select pg_terminate_backend(${own?.pid ?? 0})`);
          await transaction`select`;
        }),
      2_000,
    );

  it('is recognized by its stack, and every later statement gets a response', async () => {
    repairs.add(repair);
    for (let attempt = 0; attempt < 50 && uncaught.length === 0; attempt += 1) {
      await expect(loseConnection()).rejects.toThrow();
    }
    expect(uncaught).not.toEqual([]);
    const responses = Array.from({ length: 50 }, () => db.run((sql) => sql<{ n: number }[]>`select 1 as n`));
    expect((await Promise.all(responses)).map(([row]) => row?.n)).toEqual(responses.map(() => 1));
  });

  it('is nothing else', () => {
    expect(db.recover(new TypeError('nextWrite'))).toBe(false);
    expect(db.recover('nextWrite (file:///postgres/src/connection.js')).toBe(false);
  });
});
