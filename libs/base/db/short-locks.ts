/**
 * For statements that need a lock on a busy table for a moment. Everybody who queues behind a waiting lock waits with it.
 */
import type postgres from 'postgres';
import { isBlocked } from './errors.ts';

/** Milliseconds for which others may queue behind our waiting lock. */
const lockTimeout = 200;
/** milliseconds */
const pause = 250;
/** milliseconds */
const usualPatience = 108_000;

/** Retries all statements in one transaction for `patience` milliseconds, each time waiting only a moment for the locks. */
export async function withShortLocks<Types extends Record<string, unknown>>(
  sql: postgres.Sql<Types>,
  statements: string[],
  patience = usualPatience,
): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      // for this transaction only: behind a pooler the next client may get the same connection
      await sql.begin(async (transaction) => {
        await transaction.unsafe(`set local lock_timeout = ${lockTimeout}`);
        for (const statement of statements) await transaction.unsafe(statement);
      });
      return;
    } catch (error) {
      if (!isBlocked(error) || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
