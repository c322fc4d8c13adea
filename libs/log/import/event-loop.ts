/**
 * Lets the event loop go on. Rows that are refused wait for nothing, so a file of them would keep the process to itself,
 * and it also records.
 */
import { setImmediate } from 'node:timers/promises';

/** Milliseconds. */
const longest = 5;

/** To be awaited every few rows: it yields to the event loop once this work has had it for 5 ms. */
export function createYield(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() < since + longest) return;
    await setImmediate();
    since = performance.now();
  };
}
