import { setTimeout as sleep } from 'node:timers/promises';

type Probe = () => Promise<boolean> | boolean;

interface WaitOptions {
  deadlineMs: number;
  intervalMs?: number;
  signal?: AbortSignal | undefined;
}

/** Polls until the probe returns true; false after the deadline. An error of the probe ends the wait. */
export async function waitUntil(probe: Probe, options: WaitOptions): Promise<boolean> {
  const end = performance.now() + options.deadlineMs;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await probe()) return true;
    if (performance.now() >= end) return false;
    await sleep(options.intervalMs ?? 25);
  }
}

/** Waits two minutes, enough for a slow machine, or `deadlineMs`; then throws. */
export async function untilTrue(probe: Probe, what: string, options: Partial<WaitOptions> = {}): Promise<void> {
  const { deadlineMs = 120_000 } = options;
  if (!(await waitUntil(probe, { ...options, deadlineMs })))
    throw new Error(`${what}: not within ${deadlineMs / 1_000} s`);
}

export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );
