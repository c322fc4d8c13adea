/**
 * An outage under load makes thousands of equal lines a second. One of a kind is written each second, and says how many
 * it stands for; the rest are only counted.
 */

/** milliseconds */
const every = 1_000;
/** Kinds come from the code, so there are few; this bounds the memory should one vary all the same. */
const maxKinds = 1_000;

interface Kind {
  /** when the next line is due, at one a second */
  due: number;
  suppressed: number;
}

/**
 * The returned function takes a line's kind and says how many were left out before it; null: leave this one out too.
 * `burst`: so many may come at once before they have to wait for the next second.
 */
export function createLineLimit(): (kind: string, burst: number) => number | null {
  const kinds = new Map<string, Kind>();
  return (kind, burst) => {
    const now = performance.now();
    const { due, suppressed } = kinds.get(kind) ?? { due: now, suppressed: 0 };
    const isEarly = now < due - (burst - 1) * every;
    if (kinds.size >= maxKinds) kinds.clear();
    kinds.set(kind, isEarly ? { due, suppressed: suppressed + 1 } : { due: Math.max(due, now) + every, suppressed: 0 });
    return isEarly ? null : suppressed;
  };
}
