/** When a message that was not taken is tried again. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds before the second try, the third and so on: three days and some hours in all. */
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
 * `failed`: tries so far. `retryAfter`: milliseconds that the receiver asked for. `chance`: from 0 to 1, so that what failed
 * together is not tried together. Returns the milliseconds until then; null: never again.
 */
export function nextTry(failed: number, retryAfter: number, chance: number): number | null {
  const wait = waits[failed - 1];
  if (wait === undefined) return null;
  return Math.round(Math.max(wait * (0.9 + 0.2 * chance), retryAfter));
}
