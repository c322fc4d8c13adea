/**
 * Tenants whose records wait because somebody, such as a forgotten transaction, holds a row that their statements need.
 * Only one statement at a time tries whether the row is free again, so that the other tenants are not held up too.
 */

interface Wait {
  /** by `performance.now()` */
  until: number;
  failedAt: number;
  /** whether the last try succeeded */
  isOver: boolean;
}

interface HeldUpTimes {
  /** milliseconds from a try that failed to the next */
  tryEvery: number;
  /** How many milliseconds a tenant stays held up after its last failure: its other records may still fail. */
  staysFor: number;
}

/** Keys are ids of domains or of organizations. */
export function createHeldUp({ tryEvery, staysFor }: HeldUpTimes) {
  const waits = new Map<string, Wait>();

  const waitOf = (key: string): Wait | undefined => {
    const wait = waits.get(key);
    if (wait?.isOver && performance.now() >= wait.failedAt + staysFor) waits.delete(key);
    return waits.get(key);
  };
  const failed = () => ({ until: performance.now() + tryEvery, failedAt: performance.now(), isOver: false });

  return {
    /** Whether the tenant is held up: its records must not share a statement with those of others. */
    has: (key: string): boolean => waitOf(key) !== undefined,
    /** Whether nobody may try yet, because another try is under way or has just failed. */
    mustWait: (key: string): boolean => performance.now() < (waitOf(key)?.until ?? 0),
    /** These are held up together: a try for one of them is a try for all. */
    add: (keys: string[]): void => {
      const wait = failed();
      for (const key of keys) waits.set(key, wait);
    },
    remove: (key: string): void => void waits.delete(key),
    /** Nobody else may try until the returned function is called. */
    beginTry: (key: string): ((hasFailed: boolean) => void) => {
      const wait = waitOf(key) ?? failed();
      wait.until = Number.POSITIVE_INFINITY;
      return (hasFailed) => void Object.assign(wait, hasFailed ? failed() : { until: 0, isOver: true });
    },
  };
}
