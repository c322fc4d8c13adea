/**
 * Organizations whose records wait because somebody, such as a forgotten transaction, holds a row that their statements need.
 * For each of them one job at a time of this worker tries, so that the others are not held up.
 */
import type { Database } from '#libs/base/db/database';
import type { Stored } from './store-jobs.ts';

/** Seconds from the end of a try, which lasts up to eight, to the next. */
const tryEvery = 10;
/** Seconds after a failed try in which the organization's records are stored apart: some of them may still fail. */
const apartFor = 60;

/** Shared by all domains of an organization; by `performance.now()`. */
interface Wait {
  until: number;
  failedAt: number;
}

/** `second`: its milliseconds. */
export function watchHeldUp(db: Database, second: number) {
  const waits = new Map<string, Wait>();

  const waitOf = (domainId: string): Wait | undefined => {
    const wait = waits.get(domainId);
    if (!wait || performance.now() < Math.max(wait.until, wait.failedAt + apartFor * second)) return wait;
    waits.delete(domainId);
    return undefined;
  };

  return {
    /** Whether its records are stored apart from those of others. */
    has: (domainId: string): boolean => waitOf(domainId) !== undefined,
    /** Whether no job may try yet, because another one does, or has just failed. */
    mustWait: (domainId: string): boolean => performance.now() < (waitOf(domainId)?.until ?? 0),
    /** A statement took too long for this domain: all domains of its organization wait. */
    begin: async (domainId: string): Promise<void> => {
      const domains = await db.read(
        (sql) => sql<{ id: string }[]>`
          select id from domains where organization_id = (select organization_id from domains where id = ${domainId})`,
      );
      const failedAt = performance.now();
      const wait = { until: failedAt + tryEvery * second, failedAt };
      for (const id of [domainId, ...domains.map((domain) => domain.id)]) waits.set(id, wait);
    },
    /** No other job of the organization tries until `store` has ended. */
    tryAgain: async (domainId: string, store: () => Promise<Stored>): Promise<Stored> => {
      const wait = waitOf(domainId) ?? { until: 0, failedAt: 0 };
      wait.until = Number.POSITIVE_INFINITY;
      const stored = await store();
      const now = performance.now();
      const hasFailed = stored.failure !== undefined || stored.waiting.length > 0;
      wait.until = hasFailed ? now + tryEvery * second : now;
      if (hasFailed) wait.failedAt = now;
      return stored;
    },
  };
}
