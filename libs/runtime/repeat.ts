/** Runs a task on a timer. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: the longest delay before the first run, and the longest wait for a running task when stopping. */
const longestWait = 1_000;

/**
 * Runs `task` every `every` milliseconds, counted from the end of one run to the start of the next. A run that fails is
 * reported to `onError`, and the series continues. Returns the function that stops it.
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
  let timer = setTimeout(round, Math.min(every, longestWait));
  return async () => {
    stopped = true;
    clearTimeout(timer);
    // a task may be waiting for a store that is down
    await Promise.race([running, sleep(longestWait)]);
  };
}
