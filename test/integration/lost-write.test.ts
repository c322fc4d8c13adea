import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#libs/store/sql';
import { openDatabase } from '../support/stores.ts';
import { repairs } from '../support/uncaught.ts';

const deadline = 2_000;

describe('a write of the driver to a connection that has just closed', () => {
  let db: Database;
  const uncaught: unknown[] = [];

  beforeAll(async () => {
    ({ db } = await openDatabase());
  });

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
      deadline,
    );

  it('is known by its stack, and every statement after it is answered', async () => {
    repairs.add(repair);
    for (let attempt = 0; attempt < 50 && uncaught.length === 0; attempt += 1) {
      await expect(loseConnection()).rejects.toThrow();
    }
    expect(uncaught).not.toEqual([]);
    const answers = Array.from({ length: 50 }, () => db.run((sql) => sql<{ n: number }[]>`select 1 as n`, deadline));
    expect((await Promise.all(answers)).map(([row]) => row?.n)).toEqual(answers.map(() => 1));
  });

  it('is nothing else', () => {
    expect(db.recover(new TypeError('nextWrite'))).toBe(false);
    expect(db.recover('nextWrite (file:///postgres/src/connection.js')).toBe(false);
  });
});
