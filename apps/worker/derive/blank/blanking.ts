/** Blanking, a round at a time. */
import { deriveNext, type Step } from '#libs/store/epochs/derivations';
import { createPieceSize } from '#libs/store/epochs/piece-size';
import { createVisitorHash } from '#libs/store/privacy/visitor-hash';
import type { Database } from '#libs/store/sql';
import { createBlank, usualPiece } from './blank.ts';

export function createBlanking({ db, privacyKey }: { db: Database; privacyKey: Buffer | undefined }) {
  const hashOf = privacyKey && createVisitorHash(privacyKey);
  const size = createPieceSize(usualPiece);
  const begin = () => ({ blank: createBlank(hashOf, size), generation: db.generation() });
  let blanking = begin();

  const next = async (): Promise<Step> => {
    // another server may lack pieces that were done
    if (blanking.generation !== db.generation()) blanking = begin();
    try {
      return await deriveNext(db, blanking.blank);
    } catch (error) {
      // what it remembers as done may have been rolled back
      blanking = begin();
      throw error;
    }
  };

  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await next()) === 'more');
  };
}
