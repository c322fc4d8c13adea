/** Compares a log's checkpoint, and the size and root in Redis, with the tree of its entries. */

import { sha256 } from '#libs/base/sha256';
import { verifyEd25519 } from '../ed25519.ts';
import { hex } from '../tree/bytes.ts';
import { ProofError } from '../tree/proof-error.ts';
import { type OpenedCheckpoint, openCheckpoint } from '../tree/tlog-proof.ts';
import { parseVerifierKey } from '../tree/verifier-key.ts';
import type { Witnessed } from '../witness.ts';
import type { StoredLog } from './stored.ts';

type RootAt = (size: number) => Buffer | undefined;
type Differs = (position: number | null, what: string) => void;

export function compareCheckpoint(stored: StoredLog, rootAt: RootAt, differs: Differs): void {
  const { checkpoint, checkpointSize, size, origin } = stored;
  if (checkpoint === null) {
    if (checkpointSize > 0) differs(null, `the checkpoint of ${checkpointSize} entries is missing`);
    return;
  }
  const opened = open(stored, checkpoint, differs);
  if (!opened) return;
  if (opened.origin !== origin) differs(null, `the checkpoint is one of ${opened.origin}, and the log is ${origin}`);
  if (opened.size !== checkpointSize) {
    differs(null, `the checkpoint covers ${opened.size} entries, not ${checkpointSize}`);
  }
  if (opened.size > size) differs(null, `the checkpoint covers ${opened.size} entries, and only ${size} are stored`);
  const root = rootAt(opened.size);
  if (root && hex(root) !== hex(opened.root)) {
    differs(null, `the root in the checkpoint is not that of the first ${opened.size} entries`);
  }
}

/** Opens the checkpoint, and reports a reason if that fails. */
function open({ verifierKeys }: StoredLog, checkpoint: string, differs: Differs): OpenedCheckpoint | undefined {
  try {
    const keys = verifierKeys.map((key) => parseVerifierKey(sha256, key));
    return openCheckpoint(checkpoint, keys, verifyEd25519);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    differs(null, `the checkpoint cannot be trusted: ${error.message}`);
    return undefined;
  }
}

/** `witnessed`: what Redis knows of this log. */
export function compareWitness({ size }: StoredLog, witnessed: Witnessed, rootAt: RootAt, differs: Differs): void {
  if (witnessed.size > size) {
    differs(size, `${witnessed.size} entries were signed, as Redis remembers, and only ${size} are stored`);
    return;
  }
  const root = rootAt(witnessed.size);
  if (root && root.toString('base64') !== witnessed.root) {
    differs(null, `Redis remembers another root of the first ${witnessed.size} entries than they have`);
  }
}
