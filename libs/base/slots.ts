/**
 * Limits how much work runs at once, in total and for each organization. Organizations that wait take turns, so an
 * organization with much work only delays itself. With `slots` Infinity only the share counts, as for what an organization
 * holds open.
 */

export interface SlotsOptions {
  /** How much work runs at once. Infinity: only the share counts. */
  slots: number;
  /** how much of it may have the same key; default: an eighth */
  share?: number;
  /** How many may wait for each key; default: any number. */
  waiting?: number;
}

/** Too much work of the key is waiting. */
export class Crowded extends Error {}

/** An organization's share of `slots`: at least one. */
export const eighthOf = (slots: number): number => Math.max(1, Math.floor(slots / 8));

/** Runs work once there is a slot for it. */
export type InSlot = <T>(work: () => Promise<T>) => Promise<T>;

/** For work that has a slot already. */
export const withoutSlot: InSlot = (work) => work();

export interface Slots {
  /** Returns a function that frees the slot; undefined if no slot is free. */
  tryTake(key: string): (() => void) | undefined;
  /**
   * Resolves with a function that frees the slot. Rejects with Crowded, or with the reason of the signal if it aborts
   * first.
   */
  take(key: string, signal?: AbortSignal): Promise<() => void>;
  /** Runs work in a slot. Rejects as `take` and `work` do. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createSlots({
  slots,
  share = eighthOf(slots),
  waiting = Number.POSITIVE_INFINITY,
}: SlotsOptions): Slots {
  let free = slots;
  const taken = new Map<string, number>();
  /**
   * Waiting work by key, in the order of turns, and oldest first within a key. As long as a slot is free, every key in
   * this map is waiting only because it already holds its full share.
   */
  const lines = new Map<string, Set<() => void>>();

  const hasSlot = (key: string) => free > 0 && (taken.get(key) ?? 0) < share;
  const give = (key: string): (() => void) => {
    free -= 1;
    taken.set(key, (taken.get(key) ?? 0) + 1);
    let isGiven = true;
    return () => {
      if (!isGiven) return;
      isGiven = false;
      free += 1;
      const rest = (taken.get(key) ?? 0) - 1;
      if (rest > 0) taken.set(key, rest);
      else taken.delete(key);
      serve();
    };
  };
  /** A key that had its turn goes to the end. */
  const serve = () => {
    for (const [key, line] of lines) {
      if (free === 0) return;
      if (!hasSlot(key)) continue;
      const [begin] = line;
      lines.delete(key);
      if (!begin) continue;
      line.delete(begin);
      if (line.size > 0) lines.set(key, line);
      begin();
    }
  };
  const tryTake = (key: string) => (hasSlot(key) ? give(key) : undefined);
  const take = (key: string, signal?: AbortSignal): Promise<() => void> => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const leave = tryTake(key);
    if (leave) return Promise.resolve(leave);
    const line = lines.get(key) ?? new Set();
    if (line.size >= waiting) return Promise.reject(new Crowded('too much is waiting'));
    lines.set(key, line);
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(give(key));
      };
      const giveUp = () => {
        line.delete(begin);
        if (line.size === 0) lines.delete(key);
        reject(signal?.reason);
      };
      line.add(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  };
  return {
    tryTake,
    take,
    run: async (key, work, signal) => {
      const leave = await take(key, signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
