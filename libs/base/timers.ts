/** Periodic tasks of a process, such as probes and background work, and waits with a timeout. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: the longest delay before the first round, and how long `stop` waits for a round in progress. */
const longestWait = 1_000;
/** Milliseconds after which a repeated failure counts as news again. */
const newsEvery = 60_000;

export interface Task {
  name: string;
  /** milliseconds from the end of one round to the start of the next */
  pace: number;
  /** The signal aborts when the round should end. */
  task: (signal: AbortSignal) => Promise<unknown>;
  /**
   * Called for each failure; the rounds continue. `isNews`: false if the previous round failed in the same way within a
   * minute.
   */
  failed: (error: unknown, isNews: boolean) => void;
}

export interface Rounds {
  /** Starts a round at once, or right after the one in progress. Resolves once it has ended, even if it failed. */
  now(): Promise<void>;
  /** Whether the last round succeeded. */
  isWell(): boolean;
  /** Starts no more rounds. Resolves once the one in progress has ended, after a second at the latest. */
  stop(): Promise<void>;
}

/** Runs rounds of a task until it is stopped. They depend on no store and on no other process. */
export function every({ pace, task, failed }: Task): Rounds {
  const stopping = new AbortController();
  const outcomes = watchOutcomes(failed);
  let last = Promise.resolve();
  const round = async () => {
    if (stopping.signal.aborted) return;
    try {
      await task(stopping.signal);
      outcomes.succeeded();
    } catch (error) {
      outcomes.failed(error);
    }
  };
  const now = () => {
    last = last.then(round);
    return last;
  };
  const next = async () => {
    await now();
    if (!stopping.signal.aborted) timer = setTimeout(next, pace);
  };
  let timer = setTimeout(next, Math.min(pace, longestWait));
  return {
    now,
    isWell: outcomes.isWell,
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await endsSoon(last);
    },
  };
}

/** Waits a second at most, since the work may be waiting for a store that is down. */
export const endsSoon = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(longestWait, undefined, { ref: false })]);

export class TimedOut extends Error {}

/**
 * The result of the promise, or TimedOut after that many milliseconds; the work continues. A process that was itself
 * blocked for that long first reads what has arrived meanwhile, so that its own pause does not count as silence of the
 * other side.
 */
export function within<T>(milliseconds: number, promise: Promise<T>, onTimeout?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // timers run before sockets are read, immediates after
      late = setImmediate(() => {
        onTimeout?.();
        reject(new TimedOut(`no response within ${milliseconds} ms`));
      });
    }, milliseconds);
    const settle =
      <Value>(how: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        clearImmediate(late);
        how(value);
      };
    promise.then(settle(resolve), settle(reject));
  });
}

/** Decides which failures are news: a repeated one is news again only after `again` milliseconds. */
export function watchOutcomes<Failure = unknown>(failed: (error: Failure, isNews: boolean) => void, again = newsEvery) {
  let reason: string | null = null;
  let reportedAt = 0;
  return {
    isWell: () => reason === null,
    succeeded: () => {
      reason = null;
    },
    failed: (error: Failure) => {
      const isNews = reason !== String(error) || performance.now() - reportedAt > again;
      if (isNews) reportedAt = performance.now();
      reason = String(error);
      failed(error, isNews);
    },
  };
}
