/** Waits for a condition, never for a time. */

/** milliseconds */
const soonest = 20;
const latest = 250;

/** What is promised within a second, and what a busy machine adds. */
export const withinASecond = { within: 2_500 };

/** The longer it has waited, the less often it looks, so that long waits leave the processors to others. */
export async function eventually<T>(check: () => Promise<T> | T, { within = 30_000, every = 0 } = {}): Promise<T> {
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
