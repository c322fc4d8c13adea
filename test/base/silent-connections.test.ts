import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { isUnavailable } from '#libs/base/db/errors';
import { lookAtSchema } from '#libs/base/db/schema';
import { askPostgres } from '#libs/base/ops/sampled-gauges';
import { statsBacklog } from '#libs/stats/metrics';
import { atEnd } from '../support/at-end.ts';
import { openGate } from '../support/gate.ts';
import { openPool } from '../support/pool.ts';
import { freshDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** Postgres' word that a connection is made and takes queries. */
const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');

const nobodyHandled: unknown[] = [];
const note = (error: unknown) => nobodyHandled.push(error);

process.on('unhandledRejection', note);
atEnd(() => process.off('unhandledRejection', note));

describe('connections to Postgres that go silent', () => {
  /** Each goes silent for good once it is made, until `speak`. */
  const open = async () => {
    let isSilent = true;
    const made = new Set<object>();
    const hold = (response: Buffer, connection: object) => {
      if (isSilent && made.has(connection)) return new Promise(() => {});
      if (response.includes(readyForQuery)) made.add(connection);
      return undefined;
    };
    const gate = await openGate(await freshDatabase(), { hold });
    const speak = () => {
      isSilent = false;
    };
    return { gate, made, speak, db: openPool(gate.url, { statementTimeout: 1_000, deadline: 800 }) };
  };

  it('right after they are made cost no process its life, and are replaced, also beside work that asks Postgres nothing', async () => {
    const { gate, made, speak, db } = await open();
    // such as for a limit that no plan sets
    const askNothing = () => db.run(async () => {});
    const asking = setInterval(askNothing, 20);
    onTestFinished(() => clearInterval(asking));
    // a busy machine may take longer to make one than it is waited for
    await eventually(async () => {
      await expect(db.run((sql) => sql`select 1`)).rejects.toSatisfy(isUnavailable);
      expect(made.size).toBeGreaterThan(0);
    });
    // the pool that they belonged to was ended
    await eventually(() => expect(gate.connections()).toBe(0));
    await askNothing();
    expect(db.unavailableSince()).not.toBeNull();
    speak();
    await eventually(async () => expect(await db.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]));
    expect(nobodyHandled).toEqual([]);
  });

  it.each<[string, string, (db: Database) => Promise<unknown>]>([
    ['the backlog', 'owed_raises', (db) => askPostgres(db, statsBacklog).catch(() => 'unknown')],
    ['the schema', 'schema_migrations', (db) => lookAtSchema(db, 500, 'api')],
  ])('are not taken for lost by a look at %s, which gives up sooner', async (_, table, look) => {
    const url = await freshDatabase();
    const db = openPool(url);
    const blocker = openPool(url);
    const slow = await blocker.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table ${transaction(table)}`;
        const counted = db.run((other) => other`select count(*)::int from ${other(table)}`);
        expect(await look(db)).toBe('unknown');
        return { counted };
      }),
    );
    await expect(slow.counted).resolves.toHaveLength(1);
  });

  it('are not what a call has met that found all of them taken: it says so, and those under way go on', async () => {
    const url = await freshDatabase();
    const db = openPool(url, { max: 1, deadline: 200 });
    const blocker = openPool(url);
    const long = await blocker.run((sql) =>
      sql.begin(async (transaction) => {
        await transaction`lock table owed_raises`;
        const counted = db.run((other) => other`select count(*)::int from owed_raises`, 20_000);
        await expect(db.run((other) => other`select 1`)).rejects.toThrow('no connection to Postgres was free');
        expect(db.unavailableSince()).toBeNull();
        return { counted };
      }),
    );
    await expect(long.counted).resolves.toHaveLength(1);
  });
});
