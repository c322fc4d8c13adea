/** Lets the event loop go on: work that waits for nothing would keep the process to itself, and it also records. */
import { setImmediate } from 'node:timers/promises';

/** Milliseconds. */
const longest = 5;

/** To be awaited every few steps: it yields to the event loop once this work has had it for 5 ms. */
export function createYield(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() < since + longest) return;
    await setImmediate();
    since = performance.now();
  };
}
