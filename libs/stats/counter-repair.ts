/** Keeps the counters in Redis correct. Timers and Postgres decide when it runs, because Redis may be flushed. */
import type { Scheduler } from '#libs/base/scheduler';
import type { RepairParts } from './each-organization.ts';
import { sweepOwedRaises } from './owed-raises.ts';
import { fillMissing, reconcile } from './reconcile.ts';

/** `second`: milliseconds that count as a second: 1,000, but fewer in tests. */
export function scheduleCounterRepair(
  { every }: Pick<Scheduler, 'every'>,
  { second, ...parts }: RepairParts & { second: number },
): void {
  const repair = (name: string, seconds: number, task: (signal: AbortSignal) => Promise<unknown>) =>
    every({
      name,
      pace: seconds * second,
      exclusive: true,
      task,
      failed: (error, isNews) => {
        if (isNews) parts.log.warn({ err: error, task: name }, 'counter repair failed');
      },
    });
  repair('raise_owed', 1, () => sweepOwedRaises(parts));
  repair(
    'fill_counters',
    3,
    inPieces((signal, after) => fillMissing(parts, signal, after)),
  );
  repair(
    'compare_counters',
    30,
    inPieces((signal, after) => reconcile(parts, signal, { after })),
  );
}

/** Each round begins after the last organization of the round before. */
function inPieces(
  repair: (signal: AbortSignal, after: string) => Promise<string>,
): (signal: AbortSignal) => Promise<void> {
  let after = '';
  return async (signal) => {
    after = await repair(signal, after);
  };
}
