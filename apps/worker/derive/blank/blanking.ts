/** Blanking, a round at a time. */
import { deriveNext } from '#libs/store/epochs/derivations';
import { createVisitorHash } from '#libs/store/privacy/visitor-hash';
import type { Database } from '#libs/store/sql';
import { createBlank } from './blank.ts';

export function createBlanking({ db, privacyKey }: { db: Database; privacyKey: Buffer | undefined }) {
  const blank = createBlank(privacyKey && createVisitorHash(privacyKey));
  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await deriveNext(db, blank)) === 'more');
  };
}
