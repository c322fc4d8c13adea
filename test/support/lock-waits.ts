/** Statements that wait for what a test holds. */
import { expect } from 'vitest';
import type { Statement } from './pool.ts';
import { eventually } from './wait.ts';

/** Once one like that waits for a lock in the database of `sql`. `like`: as SQL has it. */
export const untilWaiting = (sql: Statement, like: string): Promise<void> =>
  eventually(async () => {
    const waiting = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${like}`;
    expect(waiting.count).toBeGreaterThan(0);
  });
