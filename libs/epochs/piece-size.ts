/** How many records a transaction handles, as learned from how long earlier ones took. */
import type { Sql } from '#libs/base/db/database';
import { isTooSlow } from '#libs/base/db/errors';

/** pieces in a row that have to be done before they grow */
const piecesUntilGrowth = 8;

/** Thrown where the records of a piece do not fit into memory. */
export class PieceTooLarge extends Error {}

/**
 * If a piece takes too long, or does not fit into memory, repeating it would not help, so the next has half as many
 * records, down to one. After several that succeed, pieces grow again.
 */
export interface PieceSize {
  maxRecords(): number;
  /**
   * A longer time limit in milliseconds while pieces are smaller than usual; undefined at the usual size, where the normal
   * limits apply. It is the deadline of the whole transaction. In `withLongTimeout`, it is also the timeout of each
   * statement: some take as long however small the piece is, such as listing a domain's remaining ids.
   */
  patience(): number | undefined;
  /** Does `work`, and learns from how it ends. A lost connection, or one that others ended, changes nothing. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Starts at `usual`: each process learns the size for itself. */
export function createPieceSize(usual: number): PieceSize {
  let records = usual;
  let done = 0;
  return {
    maxRecords: () => records,
    patience: () => (records < usual ? 5 * 60_000 : undefined),
    async run(work) {
      try {
        const result = await work();
        done += 1;
        if (done >= piecesUntilGrowth && records < usual) {
          records = Math.min(usual, records * 2);
          done = 0;
        }
        return result;
      } catch (error) {
        if (isTooSlow(error) || error instanceof PieceTooLarge) {
          records = Math.max(1, Math.floor(records / 2));
          done = 0;
        }
        throw error;
      }
    },
  };
}

/**
 * Runs `work`. If pieces were too slow lately, its statements may take minutes; afterwards the transaction has its usual
 * timeout again. Call it inside a derivation's transaction.
 */
export async function withLongTimeout<T>(sql: Sql, size: PieceSize, work: () => Promise<T>): Promise<T> {
  const patience = size.patience();
  if (patience === undefined) return work();
  const timeout = (value: string) => sql<{ before: string }[]>`
    select before, set_config('statement_timeout', ${value}, true)
    from current_setting('statement_timeout') as before`;
  const [usual] = await timeout(String(patience));
  const result = await work();
  if (usual) await timeout(usual.before);
  return result;
}
