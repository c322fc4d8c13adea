/** Whether Postgres stores nothing although it answers, such as with a full disk: as the last writes of a pool ended. */
import { isNothingStored } from './errors.ts';

/** Milliseconds for which a refused write counts. Only the next one can tell that it is over, and perhaps nobody tries. */
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
    /** The result of `writing`. */
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
