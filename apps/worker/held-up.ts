/**
 * Organizations whose records wait, because somebody holds a row of Postgres that their statements need: a forgotten
 * transaction, for example. Of all their records one statement at a time tries, so that others are not held up with them.
 */
import type { Database } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';

/** Seconds between two tries, which last up to eight. */
const triedEvery = 10;

/** Shared by all domains of an organization. */
interface Wait {
  /** by `performance.now()` */
  until: number;
  /** how many tries have failed */
  failed: number;
}

export type HeldUp = ReturnType<typeof watchHeldUp>;

/** `second`: its milliseconds. */
export function watchHeldUp(db: Database, second = 1_000) {
  const waits = new Map<string, Wait>();

  /** A statement took too long for this domain: all domains of its organization wait. */
  const begin = async (domainId: string): Promise<void> => {
    const ids = await db.read(
      (sql) => sql<{ id: string }[]>`
        select id from domains where organization_id = (select organization_id from domains where id = ${domainId})`,
    );
    const wait = { until: performance.now() + triedEvery * second, failed: 1 };
    for (const id of [domainId, ...ids.map((row) => row.id)]) waits.set(id, wait);
  };

  return {
    has: (domainId: string): boolean => waits.has(domainId),
    /** Whether nobody is to try just now, since somebody is trying, or has tried lately. */
    mustWait: (domainId: string): boolean => performance.now() < (waits.get(domainId)?.until ?? 0),
    begin,
    /**
     * Stores records of one domain, in smaller parts with each try that has failed: perhaps they are too many. Beginning
     * with others each time: perhaps it is one of them. Returns those that are left where a part takes too long.
     */
    tryAgain: async <Item>(
      domainId: string,
      items: Item[],
      store: (some: Item[]) => Promise<'stored' | 'took too long'>,
    ): Promise<Item[]> => {
      const wait = waits.get(domainId) ?? { until: 0, failed: 0 };
      wait.until = Number.POSITIVE_INFINITY;
      try {
        const first = wait.failed % items.length;
        const inTurn = [...items.slice(first), ...items.slice(0, first)];
        const size = Math.ceil(items.length / 2 ** wait.failed);
        for (const [at, some] of chunksOf(inTurn, size).entries()) {
          if ((await store(some)) === 'stored') continue;
          wait.failed += 1;
          return inTurn.slice(at * size);
        }
        waits.delete(domainId);
        wait.failed = 0;
        return [];
      } finally {
        wait.until = wait.failed === 0 ? 0 : performance.now() + triedEvery * second;
      }
    },
  };
}
