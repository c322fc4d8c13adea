/** Tasks that run again and again in this process, such as probes and background work, and waits that come to an end. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds: the longest delay before the first round, and the longest wait for one under way when stopping. */
const longestWait = 1_000;
/** Milliseconds after which the same failure is news again. */
const newsEvery = 60_000;

export interface Task {
  name: string;
  /** milliseconds from the end of one round to the start of the next */
  pace: number;
  /** The signal aborts where the round is to end. */
  task: (signal: AbortSignal) => Promise<unknown>;
  /** Told of each failure, after which the rounds go on. `isNews`: not of one like that of the round before, within a minute. */
  failed: (error: unknown, isNews: boolean) => void;
}

export interface Rounds {
  /** A round at once, or right after the one under way. Resolves once it has ended, also where it failed. */
  now(): Promise<void>;
  /** Whether the last round succeeded. */
  isWell(): boolean;
  /** No round begins any more. Resolves once the one under way has ended, after a second at the latest. */
  stop(): Promise<void>;
}

/** Runs rounds of a task until it is stopped. What a store or another process knows has no part in when they run. */
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

/** It may wait for a store that is down. */
export const endsSoon = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(longestWait, undefined, { ref: false })]);

export class TimedOut extends Error {}

/**
 * The promise's own result, or TimedOut after that many milliseconds; the work itself goes on. A process that stood
 * still itself for that long first reads what came meanwhile: its own pause is nobody's silence.
 */
export function within<T>(milliseconds: number, promise: Promise<T>, onTimeout?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // timers run before sockets are read, immediates after
      late = setImmediate(() => {
        onTimeout?.();
        reject(new TimedOut(`no answer within ${milliseconds} ms`));
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

/** Tells failures that are news from those that an outage repeats: the same is news again after `again` milliseconds. */
export function watchOutcomes<Failure = unknown>(failed: (error: Failure, isNews: boolean) => void, again = newsEvery) {
  let reason: string | null = null;
  let toldAt = 0;
  return {
    isWell: () => reason === null,
    succeeded: () => {
      reason = null;
    },
    failed: (error: Failure) => {
      const isNews = reason !== String(error) || performance.now() - toldAt > again;
      if (isNews) toldAt = performance.now();
      reason = String(error);
      failed(error, isNews);
    },
  };
}
