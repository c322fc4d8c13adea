/**
 * Compares this process' clock with that of Postgres. A measurement relates Postgres' clock to the monotonic clock of the
 * process, so a step of the process' clock shows at once, and the last measurement stays valid while Postgres is away.
 */

import type { Log } from '../ops/process-log.ts';
import { every, type Rounds } from '../timers.ts';
import type { Reads } from './database.ts';

/** Milliseconds by which the clocks may differ, and by which one may move against the monotonic clock within an hour. */
export const clockTolerance = 30_000;
/** Milliseconds for which the clocks have to be steady before anything is deleted by its age: less than an hour. */
export const trustedAfter = 50 * 60 * 1_000;
const hour = 60 * 60 * 1_000;
const measureEvery = 1_000;

export interface Clock {
  /** Milliseconds that this process' clock is ahead of Postgres'; null before the first measurement. */
  skew(): number | null;
  /** Whether the clocks differ by at most 30 s. False before the first measurement. */
  agrees(): boolean;
  /** Milliseconds for which both clocks have agreed and moved with the monotonic clock; 0 if they do not now. */
  steadyFor(): number;
  /** Milliseconds since Postgres' clock was last seen to jump; null if this process saw no jump. */
  sinceJump(): number | null;
  /** Postgres' time in Unix milliseconds, just measured. Rejects while Postgres is away. */
  measure(): Promise<number>;
  /** Measures once a second until `close`. Resolves after the first measurement or its failure. */
  follow(): Promise<void>;
  close(): void;
}

/** Both clocks minus the monotonic one, in milliseconds. */
interface Offsets {
  at: number;
  postgres: number;
  own: number;
}

export function createClock(
  db: Reads,
  log: Pick<Log, 'info' | 'warn'>,
  { now = () => Date.now(), monotonic = () => performance.now() } = {},
): Clock {
  let last: Offsets | undefined;
  /** What later measurements are compared with. It is at most an hour old, because no two clocks run equally fast. */
  let anchor: Offsets | undefined;
  let steadySince: number | undefined;
  let jumpedAt: number | undefined;
  let wasAgreed = true;

  const skew = () => (last ? now() - monotonic() - last.postgres : null);
  const agrees = () => Math.abs(skew() ?? Number.POSITIVE_INFINITY) <= clockTolerance;

  const note = (measured: Offsets) => {
    const differs = (a: number, b: number) => Math.abs(a - b) > clockTolerance;
    const hasJumped = anchor !== undefined && differs(measured.postgres, anchor.postgres);
    const hasStepped = anchor !== undefined && differs(measured.own, anchor.own);
    if (hasJumped) jumpedAt = measured.at;
    if (differs(measured.own, measured.postgres)) steadySince = undefined;
    else if (hasJumped || hasStepped) steadySince = measured.at;
    else steadySince ??= measured.at;
    if (!anchor || hasJumped || hasStepped || measured.at - anchor.at > hour) anchor = measured;
    last = measured;
    logChange(measured.own - measured.postgres);
  };
  const logChange = (ahead: number) => {
    if (agrees() === wasAgreed) return;
    wasAgreed = !wasAgreed;
    const seconds = Math.round(ahead / 1_000);
    if (wasAgreed)
      log.info({ event: 'clock_agrees', seconds }, 'the clock of this process agrees with that of Postgres');
    else log.warn({ event: 'clock_differs', seconds }, 'the clock of this process differs from that of Postgres');
  };

  const measure = async () => {
    const began = monotonic();
    const [row] = await db.read(
      (sql) => sql<{ now: number }[]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
    );
    if (!row) throw new Error('Postgres did not say what time it is');
    // the error is at most half of the round trip, which the deadline bounds
    const at = (began + monotonic()) / 2;
    note({ at, postgres: row.now - at, own: now() - monotonic() });
    return row.now;
  };
  let rounds: Rounds | undefined;

  return {
    skew,
    agrees,
    steadyFor: () => (agrees() && steadySince !== undefined ? monotonic() - steadySince : 0),
    sinceJump: () => (jumpedAt === undefined ? null : monotonic() - jumpedAt),
    measure,
    follow: () => {
      // an outage of Postgres is reported elsewhere
      rounds = every({ name: 'measure_clock', pace: measureEvery, task: measure, failed: () => {} });
      return rounds.now();
    },
    close: () => void rounds?.stop(),
  };
}
