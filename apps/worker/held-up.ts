/**
 * Organizations whose records wait, because somebody holds a row of Postgres that their statements need: a forgotten
 * transaction, for example. Of all their records one statement at a time tries, so that others are not held up with them.
 */
import type { Database } from '#libs/base/db/database';

/** seconds between two tries */
const triedEvery = 5;

export interface HeldUp {
  has(domainId: string): boolean;
  /** Whether nobody is to try just now. */
  waits(domainId: string): boolean;
  /** A statement took too long for this domain: all domains of its organization wait. */
  begin(domainId: string): Promise<void>;
  end(domainId: string): void;
}

/** `second`: its milliseconds. */
export function watchHeldUp(db: Database, second = 1_000): HeldUp {
  /** of each domain the end of its wait, by `performance.now()` */
  const until = new Map<string, number>();
  return {
    has: (domainId) => until.has(domainId),
    waits: (domainId) => performance.now() < (until.get(domainId) ?? 0),
    begin: async (domainId) => {
      const others = await db.read(
        (sql) => sql<{ id: string }[]>`
          select id from domains where organization_id = (select organization_id from domains where id = ${domainId})`,
      );
      const end = performance.now() + triedEvery * second;
      for (const id of [domainId, ...others.map((other) => other.id)]) until.set(id, end);
    },
    end: (domainId) => void until.delete(domainId),
  };
}
