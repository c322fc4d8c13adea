/** Waits for a condition, never for a time. */

/** milliseconds */
const soonest = 20;
const latest = 250;

/** Milliseconds before midnight, UTC, in which no file begins. */
const lastMoments = 120_000;

/** What a file calls today, or this month, is to be so until its end. */
export async function untilTodayLasts(): Promise<void> {
  const day = 86_400_000;
  const left = day - (Date.now() % day);
  if (left < lastMoments) await new Promise((resolve) => setTimeout(resolve, left + soonest));
}

/** What is promised within a second, on a machine that is ten times slower. */
export const withinASecond = { within: 10_000 };

/**
 * A passing test never waits so long, so a machine may be many times slower. Shorter than the limit of a test, so that the
 * reason is shown.
 */
const patience = 180_000;

/** The longer it has waited, the less often it looks, so that long waits leave the processors to others. */
export async function eventually<T>(check: () => Promise<T> | T, { within = patience, every = 0 } = {}): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waited = performance.now() - began;
      if (waited > within) throw error;
      const pause = every || Math.min(latest, Math.max(soonest, waited / 10));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
