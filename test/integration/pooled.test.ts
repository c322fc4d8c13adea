import { beforeAll, expect, it } from 'vitest';
import type { Database } from '#libs/store/sql';
import { openPool } from '../support/pool.ts';
import { freshDatabase } from '../support/stores.ts';

const connections = 2;
const transactions = 60;
let db: Database;

beforeAll(async () => {
  db = openPool(await freshDatabase(), { max: connections, pooled: true });
  await db.run((sql) => sql`create table noted (number integer)`);
});

// a connection whose transaction has ended goes to the next one that waits
it('more transactions than connections, through a pooler with prepared statements, all end, and what they wrote is there', async () => {
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
