/** When a failed message is retried. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds before the second attempt, the third and so on: three days and some hours in all. */
export const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/**
 * `failed`: attempts so far. `retryAfter`: milliseconds that the receiver asked for. `chance`: random, from 0 to 1. It
 * shortens or lengthens the wait, so that messages that failed together are not retried together (a longer `retryAfter` is
 * used as it is). Returns milliseconds; null after the last attempt.
 */
export function nextWait(failed: number, retryAfter: number, chance: number): number | null {
  const wait = waits[failed - 1];
  if (wait === undefined) return null;
  return Math.round(Math.max(wait * (0.9 + 0.2 * chance), retryAfter));
}
