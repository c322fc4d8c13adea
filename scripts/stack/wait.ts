import { setTimeout as sleep } from 'node:timers/promises';

interface WaitOptions {
  deadlineMs: number;
  intervalMs?: number;
  signal?: AbortSignal | undefined;
}

/** Asks again and again until the probe says yes; false once the deadline has passed. What the probe throws ends the wait. */
export async function waitUntil(probe: () => Promise<boolean> | boolean, options: WaitOptions): Promise<boolean> {
  const end = performance.now() + options.deadlineMs;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await probe()) return true;
    if (performance.now() >= end) return false;
    await sleep(options.intervalMs ?? 25);
  }
}

/** What comes within two minutes, however slow the machine, or else is an error. */
export async function untilTrue(probe: () => Promise<boolean> | boolean, what: string): Promise<void> {
  if (!(await waitUntil(probe, { deadlineMs: 120_000 }))) throw new Error(`${what}: not within two minutes`);
}

export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
