/** Clocks: that by which limits count, and those of processes and of Postgres, each wrong or right as a test says. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { inject, vi } from 'vitest';
import { createClock } from '#libs/base/db/clock';
import type { Database } from '#libs/base/db/database';
import { createLog } from '#libs/base/ops/process-log';
import type { Round } from '#libs/record/due-months';
import { clockOfProcess } from '../../scripts/chaos/clocks.ts';
import { atEnd } from './at-end.ts';

/** A round that suffices, for tests of what follows. */
export const atOnce: Round = { counts: true, sinceJump: null, every: 0, needed: 1 };

/** What a process is started with so that its clock is ahead by so many milliseconds. */
export function clockAhead(milliseconds: number): Record<string, string> {
  const { env, set } = clockOfProcess(path.join(mkdtempSync(path.join(inject('folder'), 'clock-')), 'ahead'));
  set(milliseconds);
  return env;
}

/** From now on Postgres' clock is what `turn` says, in milliseconds ahead of the machine's, for connections made later. */
export async function holdPostgresClock(db: Database): Promise<{ turn(ahead: number): Promise<void> }> {
  await db.run((sql) =>
    sql.begin(async (transaction) => {
      await transaction`create schema turned`;
      await transaction`create table turned.ahead (milliseconds float8 not null)`;
      await transaction`insert into turned.ahead values (0)`;
      await transaction`
        create function turned.clock_timestamp() returns timestamptz language sql volatile
        return pg_catalog.clock_timestamp() + (select milliseconds from turned.ahead) * interval '1 ms'`;
      await transaction`
        create function turned.statement_timestamp() returns timestamptz language sql stable
        return pg_catalog.statement_timestamp() + (select milliseconds from turned.ahead) * interval '1 ms'`;
      // before the system's own functions
      await transaction.unsafe(`do $$ begin execute format(
        'alter database %I set search_path = turned, pg_catalog, public', current_database()); end $$`);
    }),
  );
  return {
    turn: async (ahead) => void (await db.run((sql) => sql`update turned.ahead set milliseconds = ${ahead}`)),
  };
}

/** A process' clock against Postgres', measured when a test says so; each of its own clocks is turned on by the test. */
export function turnedClock(db: Database) {
  const turned = { own: 0, monotonic: 0 };
  const clock = createClock(db, createLog('test', 'silent'), {
    now: () => Date.now() + turned.own,
    monotonic: () => performance.now() + turned.monotonic,
  });
  return { clock, turned };
}

/** `work`, and what it calls and awaits, sees this process' clocks so many milliseconds ahead; all else here goes by the right ones. */
export async function withClocksAhead<T>(
  { own = 0, monotonic = 0 }: { own?: number; monotonic?: number },
  work: () => Promise<T>,
): Promise<T> {
  const inside = new AsyncLocalStorage<true>();
  const [date, now] = [Date.now, performance.now.bind(performance)];
  const turned = [
    vi.spyOn(Date, 'now').mockImplementation(() => date() + (inside.getStore() ? own : 0)),
    vi.spyOn(performance, 'now').mockImplementation(() => now() + (inside.getStore() ? monotonic : 0)),
  ];
  return inside.run(true, work).finally(() => {
    for (const each of turned) each.mockRestore();
  });
}

/**
 * What this process measures of time passes a hundred times slower, so that no minute of a limit ends meanwhile: until the
 * file ends, or what is returned is called.
 */
export function holdTheMinute(): () => void {
  const now = performance.now.bind(performance);
  const start = now();
  const held = vi.spyOn(performance, 'now').mockImplementation(() => start + (now() - start) / 100);
  const release = () => void held.mockRestore();
  atEnd(release);
  return release;
}
