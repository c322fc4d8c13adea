/** For statements that need a lock of a busy table for a moment: whoever comes behind one that waits for it waits with it. */
import type postgres from 'postgres';
import { isInTheWay } from './errors.ts';

/** Milliseconds that others may wait behind a lock that these statements need for a moment. */
const lockTimeout = 200;
/** milliseconds */
const pause = 250;
/** milliseconds */
const usualPatience = 108_000;

/** Again and again, each time for a moment, for so many milliseconds. All in one transaction. */
export async function withShortLocks<Types extends Record<string, unknown>>(
  sql: postgres.Sql<Types>,
  statements: string[],
  patience = usualPatience,
): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      // of this transaction alone: behind a pooler the next client may get the same connection
      await sql.begin(async (transaction) => {
        await transaction.unsafe(`set local lock_timeout = ${lockTimeout}`);
        for (const statement of statements) await transaction.unsafe(statement);
      });
      return;
    } catch (error) {
      if (!isInTheWay(error) || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
