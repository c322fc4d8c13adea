import type { Sql } from './sql.ts';

/**
 * True, and a word in the write-ahead log. A commit waits for synchronous standbys only if its transaction wrote. One that
 * found everything stored may follow an attempt that was stored here and whose wait was ended, so it has to wait as well.
 */
export const writeSomething = (sql: Sql) => sql`pg_logical_emit_message(true, 'assent', '') is not null`;
