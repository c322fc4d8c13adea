import { expect } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { eventually } from './wait.ts';

/** Until a worker has told Redis of everybody who was erased. */
export const untilRedisKnowsErased = (db: Database): Promise<void> =>
  eventually(
    async () => {
      const [row] = await db.run(
        (sql) => sql<{ all: number; told: number }[]>`
          select count(*)::int as all, count(remembered_at)::int as told from tombstones`,
      );
      expect([row?.all === 0, row?.told]).toEqual([false, row?.all]);
    },
    { within: 30_000 },
  );
