/** Proofs of the sealed log. */

import { checkpoint, decidedAt, recordId, siblingHash, verifierKey } from '#libs/base/terms/example-names';
import { fullRecord } from '#libs/record/examples';
import type { Consistency, ProofBundle } from './contract.ts';

const salt = '8f14e45fceea167a5a36dedd4bea2543';

export const proofText = `c2sp.org/tlog-proof@v1\nindex 6\n${siblingHash}\n\n${checkpoint}`;

export const proofBundle: ProofBundle = {
  record: fullRecord,
  entry: `{"id":"${recordId}","decision":"custom","decidedAt":"${decidedAt}","circumstances":"…","private":"…"}`,
  opening: {
    circumstances: { salt, text: '{"language":"de","source":"banner"}' },
    private: { salt, text: '{"ip":"203.0.113.0","visitorId":"v-6f1c2a90"}' },
  },
  log: 1,
  position: 6,
  proof: [siblingHash],
  checkpoint,
  verifierKeys: [verifierKey],
  notice: null,
  timestamp: null,
};

/** Binary answers are shown as text. */
export const bytes = '…';

export const consistency: Consistency = { log: 1, from: 3, to: 7, proof: [siblingHash] };
