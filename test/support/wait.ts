/** Waits for a condition, never for a time. */
export async function eventually<T>(check: () => Promise<T> | T, { within = 10_000, every = 20 } = {}): Promise<T> {
  const end = performance.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, every));
    }
  }
}
