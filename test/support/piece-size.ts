/** Pieces whose size changes from one to the next, as where some of them took too long. */
import type { PieceSize } from '#libs/epochs/piece-size';

export function changingSize(sizes: number[]): PieceSize {
  let pieces = 0;
  return {
    maxRecords: () => sizes[pieces++ % sizes.length] ?? 1,
    patience: () => undefined,
    run: (work) => work(),
  };
}
