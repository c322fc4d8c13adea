/** Whether Postgres responds but stores nothing, such as with a full disk: judged by a pool's last writes. */
import { isNothingStored } from './errors.ts';

/** Milliseconds for which a refused write counts. Only another write shows that it is over, and there may be none. */
const holds = 10_000;

export interface Refusal {
  reason: string;
  /** Unix milliseconds */
  since: number;
}

export function watchWrites() {
  let last: (Refusal & { until: number }) | null = null;
  const refusal = (): Refusal | null => (last && performance.now() < last.until ? last : null);
  return {
    refusal,
    /** Returns the result of `writing`. */
    async watch<T>(writing: Promise<T>): Promise<T> {
      try {
        const result = await writing;
        last = null;
        return result;
      } catch (error) {
        const since = refusal()?.since ?? Date.now();
        if (isNothingStored(error)) last = { reason: error.message, since, until: performance.now() + holds };
        throw error;
      }
    },
  };
}
