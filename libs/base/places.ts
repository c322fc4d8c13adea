/**
 * Places that organizations share: so many pieces of work at once, of which one organization has at most its share. What
 * waits is served by turns over organizations, so whoever brings much waits for itself. A place is for work that the
 * service does. Where somebody holds a connection open there are no places, only shares: `places` is Infinity.
 */

export interface PlacesOptions {
  /** Pieces of work at once. Infinity: the share alone counts. */
  places: number;
  /** of these, of one key; default: an eighth */
  share?: number;
  /** How much of one key may wait; default: any number. */
  waiting?: number;
}

/** As much of the key's work waits as may. */
export class Crowded extends Error {}

/** What one organization may have of `places`: at least one. */
export const eighthOf = (places: number): number => Math.max(1, Math.floor(places / 8));

/** Does a piece of work once it has a place. */
export type InPlace = <T>(work: () => Promise<T>) => Promise<T>;

/** For work whose place somebody has already. */
export const withoutPlace: InPlace = (work) => work();

export interface Places {
  /** What gives the place back; undefined where none is free now. */
  tryTake(key: string): (() => void) | undefined;
  /**
   * Resolves, once there is a place, with what gives it back. Rejects with Crowded, or with the reason of a signal that
   * aborts meanwhile.
   */
  take(key: string, signal?: AbortSignal): Promise<() => void>;
  /** Does a piece of work in a place of its own. Rejects as `take` and as the work do. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createPlaces({
  places,
  share = eighthOf(places),
  waiting = Number.POSITIVE_INFINITY,
}: PlacesOptions): Places {
  let free = places;
  const taken = new Map<string, number>();
  /** By key, in the order of their turns; of a key the oldest first. Where a place is free, all of them are at their share. */
  const lines = new Map<string, Set<() => void>>();

  const hasPlace = (key: string) => free > 0 && (taken.get(key) ?? 0) < share;
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
  /** Who has had a turn goes to the end. */
  const serve = () => {
    for (const [key, line] of lines) {
      if (free === 0) return;
      if (!hasPlace(key)) continue;
      const [begin] = line;
      lines.delete(key);
      if (!begin) continue;
      line.delete(begin);
      if (line.size > 0) lines.set(key, line);
      begin();
    }
  };
  const tryTake = (key: string) => (hasPlace(key) ? give(key) : undefined);
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
