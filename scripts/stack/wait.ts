import { setTimeout as sleep } from 'node:timers/promises';

type Probe = () => Promise<boolean> | boolean;

interface WaitOptions {
  deadlineMs: number;
  intervalMs?: number;
  signal?: AbortSignal | undefined;
}

/** Asks again and again until the probe says yes; false once the deadline has passed. What the probe throws ends the wait. */
export async function waitUntil(probe: Probe, options: WaitOptions): Promise<boolean> {
  const end = performance.now() + options.deadlineMs;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await probe()) return true;
    if (performance.now() >= end) return false;
    await sleep(options.intervalMs ?? 25);
  }
}

/** What comes within two minutes, however slow the machine, or within `deadlineMs`; else it is an error. */
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
