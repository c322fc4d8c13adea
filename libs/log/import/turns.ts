/** Rows that are refused wait for nothing, so a file of them would keep the process to itself: it also records. */
import { setImmediate } from 'node:timers/promises';

/** Milliseconds. */
const most = 5;

/** To be awaited every few rows: everybody else has a turn as soon as this work had its own. */
export function createTurn(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() < since + most) return;
    await setImmediate();
    since = performance.now();
  };
}
