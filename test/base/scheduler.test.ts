import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTaskLeases } from '#libs/base/db/task-leases';
import { createScheduler, type Scheduler } from '#libs/base/scheduler';
import { type Gate, openGate } from '../support/gate.ts';
import { connectDatabase, openDatabase } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const hour = 3_600_000;
const failed = () => {};

const { db, sql, url } = await openDatabase();

describe('a task of one process at a time', () => {
  beforeEach(() => sql`truncate tasks`);

  /** Milliseconds: where a lease must not end though this process stands still for a second. */
  const unhurried = 300;
  /** As in a process of its own; `claims`: how often it has asked for leases. */
  const open = (database = db, pace = 100): Scheduler & { claims(): number } => {
    const leases = createTaskLeases(database);
    let claims = 0;
    const claim: typeof leases.claim = (...given) => {
      claims += 1;
      return leases.claim(...given);
    };
    const scheduler = createScheduler({ leases: { ...leases, claim }, pace, failed });
    onTestFinished(scheduler.close);
    return { ...scheduler, claims: () => claims };
  };

  it('is run by one, again and again, and by the other once the one has ended', async () => {
    const processes = [open(db, unhurried), open(db, unhurried)];
    const begun = [0, 0];
    let running = 0;
    let most = 0;
    let isAlone = false;
    for (const [at, { every }] of processes.entries()) {
      const task = async () => {
        begun[at] = (begun[at] ?? 0) + 1;
        running += 1;
        most = Math.max(most, running);
        const before = processes.map(({ claims }) => claims());
        await eventually(() => {
          if (isAlone) return;
          for (const [index, { claims }] of processes.entries())
            expect(claims() - (before[index] ?? 0)).toBeGreaterThan(1);
        });
        running -= 1;
      };
      every({ name: 'some', pace: 1, exclusive: true, task, failed });
    }
    await eventually(() => expect((begun[0] ?? 0) + (begun[1] ?? 0)).toBeGreaterThan(1));
    expect(most).toBe(1);
    isAlone = true;
    await processes[0]?.close();
    const before = begun[1] ?? 0;
    await eventually(() => expect(begun[1]).toBeGreaterThan(before));
  });

  it('is taken over from one that stands still once its lease is over, and that process ends the task once it continues', async () => {
    const frozen = createTaskLeases(db);
    await eventually(async () => expect(await frozen.claim([], [{ name: 'some', pace: hour }], 500)).toEqual(['some']));
    const seen: { lease: boolean }[] = [];
    const task = async () => {
      const [row] = await sql<{ lease: boolean }>`select clock_timestamp() >= ${leasedUntil}::timestamptz as lease`;
      if (row) seen.push(row);
    };
    const [{ leasedUntil } = { leasedUntil: '' }] = await sql<{
      leasedUntil: string;
    }>`select leased_until::text as "leasedUntil" from tasks`;
    open().every({ name: 'some', pace: hour, exclusive: true, task, failed });
    await eventually(() => expect(seen).toEqual([{ lease: true }]));
    expect(await frozen.claim(['some'], [], 500)).toEqual([]);
  });

  it('runs although a clock that was 400 days ahead noted when it is due, and who is at it', async () => {
    const run = vi.fn(async () => {});
    open().every({ name: 'some', pace: hour, exclusive: true, task: run, failed });
    await eventually(async () => {
      expect(run).toHaveBeenCalledTimes(1);
      const ahead = await sql`
          update tasks set due_at = due_at + interval '400 days', holder = gen_random_uuid(),
            leased_until = clock_timestamp() + interval '400 days'
          where holder is null`;
      expect(ahead.count).toBe(1);
    });
    await eventually(() => expect(run).toHaveBeenCalledTimes(2));
  });

  it('runs at once on request, also if another process has it, and continues after a failure', async () => {
    const one = open(db, unhurried);
    let runs = 0;
    const failures: unknown[] = [];
    let isHeld = false;
    const rounds = one.every({
      name: 'some',
      pace: hour,
      exclusive: true,
      task: async () => {
        runs += 1;
        await eventually(() => expect(isHeld).toBe(false));
        throw new Error(`run ${runs}`);
      },
      failed: (error) => failures.push(String(error)),
    });
    await rounds.now();
    expect([runs, failures, rounds.isWell()]).toEqual([1, ['Error: run 1'], false]);
    await rounds.now();
    expect(runs).toBe(2);
    isHeld = true;
    const third = rounds.now();
    await eventually(() => expect(runs).toBe(3));
    const run = vi.fn(async () => {});
    const other = open(db, unhurried).every({ name: 'some', pace: hour, exclusive: true, task: run, failed });
    await other.now();
    expect(run).not.toHaveBeenCalled();
    isHeld = false;
    await third;
    await eventually(() => expect(runs + run.mock.calls.length).toBe(4));
  });

  it('is aborted once its lease ends while Postgres is away, and continues later; tasks of every process run meanwhile', async () => {
    const gate: Gate = await openGate(url);
    const { every } = open(connectDatabase(gate.url).db);
    let runs = 0;
    let ends = 0;
    const own = vi.fn(async () => {});
    const task = (signal: AbortSignal) => {
      runs += 1;
      return new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          ends += 1;
          resolve();
        });
      });
    };
    every({ name: 'some', pace: 1, exclusive: true, task, failed });
    every({ name: 'own', pace: 1, task: own, failed });
    await eventually(() => expect(runs).toBe(1));
    gate.shut();
    await eventually(() => expect(ends).toBe(1));
    const before = own.mock.calls.length;
    await eventually(() => expect(own.mock.calls.length).toBeGreaterThan(before + 3));
    expect(runs).toBe(1);
    gate.open();
    await eventually(() => expect(runs).toBe(2));
  });
});
