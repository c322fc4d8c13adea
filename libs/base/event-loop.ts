/** Lets other work of the process run, such as recording, during a long computation. */
import { setImmediate } from 'node:timers/promises';

/** milliseconds */
const longest = 5;

/** Await it every few steps: it yields to the event loop once this work has run for 5 ms. */
export function createYield(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() < since + longest) return;
    await setImmediate();
    since = performance.now();
  };
}
