/**
 * How many records a piece has. One whose statement took longer than statements may would take as long again: the next has
 * half as many, down to a single one. After some that did not, pieces grow again.
 */
import { isTooSlow } from '#libs/base/db/errors';

/** pieces in a row that have to be done before they grow */
const enough = 8;

export interface PieceSize {
  records(): number;
  /** Does `work` as it is, and learns from how it ends. What ends because of others, or of a lost connection, teaches nothing. */
  watch<T>(work: () => Promise<T>): Promise<T>;
}

/** Lasts as long as the process: whoever begins anew finds out again what is too much. */
export function createPieceSize(usual: number): PieceSize {
  let records = usual;
  let done = 0;
  return {
    records: () => records,
    async watch(work) {
      try {
        const result = await work();
        done += 1;
        if (done >= enough && records < usual) {
          records = Math.min(usual, records * 2);
          done = 0;
        }
        return result;
      } catch (error) {
        if (isTooSlow(error)) {
          records = Math.max(1, Math.floor(records / 2));
          done = 0;
        }
        throw error;
      }
    },
  };
}
