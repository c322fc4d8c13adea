/** A task on a plain timer, round after round. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: no series begins later than this after its start, and no stop waits longer for a round. */
const moment = 1_000;

/**
 * Runs `task` every `every` milliseconds, counted from the end of one round to the beginning of the next. A round that
 * fails is reported to `onError` and the series goes on. Returns what stops it.
 */
export function repeat(
  every: number,
  task: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  const round = () => {
    running = task()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(round, every);
      });
  };
  let timer = setTimeout(round, Math.min(every, moment));
  return async () => {
    stopped = true;
    clearTimeout(timer);
    // a round may be waiting for a store that is away
    await Promise.race([running, sleep(moment)]);
  };
}
