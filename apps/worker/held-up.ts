/**
 * Organizations whose records wait, because somebody holds a row of Postgres that their statements need: a forgotten
 * transaction, for example. Of each of them this worker has one job at a time that tries, so that others are not held up.
 */
import type { Database } from '#libs/base/db/database';

/** Seconds from the end of a try, which lasts up to eight, to the next. */
const triedEvery = 10;
/** Seconds since a try has failed: until then there may be records that still fail. */
const keptFor = 60;

/** Shared by all domains of an organization; by `performance.now()`. */
interface Wait {
  until: number;
  failedAt: number;
}

/** `second`: its milliseconds. */
export function watchHeldUp(db: Database, second = 1_000) {
  const waits = new Map<string, Wait>();

  const waitOf = (domainId: string): Wait | undefined => {
    const wait = waits.get(domainId);
    if (!wait || performance.now() < Math.max(wait.until, wait.failedAt + keptFor * second)) return wait;
    waits.delete(domainId);
    return undefined;
  };

  return {
    /** those that are stored apart, and perhaps some more */
    domains: waits as ReadonlyMap<string, unknown>,
    /** Whether its records are stored apart from those of others. */
    has: (domainId: string): boolean => waitOf(domainId) !== undefined,
    /** Whether no job is to try just now, since another does, or has failed lately. */
    mustWait: (domainId: string): boolean => performance.now() < (waitOf(domainId)?.until ?? 0),
    /** A statement took too long for this domain: all domains of its organization wait. */
    begin: async (domainId: string): Promise<void> => {
      const domains = await db.read(
        (sql) => sql<{ id: string }[]>`
          select id from domains where organization_id = (select organization_id from domains where id = ${domainId})`,
      );
      const failedAt = performance.now();
      const wait = { until: failedAt + triedEvery * second, failedAt };
      for (const id of [domainId, ...domains.map((domain) => domain.id)]) waits.set(id, wait);
    },
    /** Nobody else of the organization tries until `store` has ended. It returns what is left, which waits. */
    tryAgain: async <Item>(domainId: string, store: () => Promise<Item[]>): Promise<Item[]> => {
      const wait = waitOf(domainId) ?? { until: 0, failedAt: 0 };
      wait.until = Number.POSITIVE_INFINITY;
      let hasFailed = true;
      try {
        const left = await store();
        hasFailed = left.length > 0;
        return left;
      } finally {
        const now = performance.now();
        wait.until = hasFailed ? now + triedEvery * second : now;
        if (hasFailed) wait.failedAt = now;
      }
    },
  };
}
