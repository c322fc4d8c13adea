/** Whether a log only grew from one signed checkpoint to another. */
import { fromBase64 } from './bytes.ts';
import { type Fields, fieldOf, textsIn } from './fields.ts';
import { hashLength } from './hash.ts';
import { ProofError } from './proof-error.ts';
import { type Crypto, type OpenedCheckpoint, openCheckpoint } from './tlog-proof.ts';
import type { VerifierKey } from './verifier-key.ts';
import { verifyConsistency } from './verify-proofs.ts';

export interface TwoCheckpoints {
  older: OpenedCheckpoint;
  newer: OpenedCheckpoint;
}

/** Both signed, of one log, and in this order; throws a ProofError otherwise. Of one size they need no proof. */
export function openTwo(older: string, newer: string, keys: VerifierKey[], { verifyEd25519 }: Crypto): TwoCheckpoints {
  const open = (which: string, note: string) => {
    try {
      return openCheckpoint(note, keys, verifyEd25519);
    } catch (error) {
      if (error instanceof ProofError) throw new ProofError(`The ${which}: ${error.message}`);
      throw error;
    }
  };
  const two = { older: open('older one', older), newer: open('newer one', newer) };
  const [one, other] = [two.older, two.newer];
  if (one.origin !== other.origin) {
    throw new ProofError(`They are checkpoints of two logs, ${one.origin} and ${other.origin}.`);
  }
  if (one.size > other.size) {
    throw new ProofError(
      `The first one has ${one.size} entries and the second ${other.size}: name the older one first.`,
    );
  }
  return two;
}

/** `answer`: that of `…/log/consistency`; undefined for checkpoints of one size. Throws a ProofError that says why not. */
export function requireContinuation(
  { older, newer }: TwoCheckpoints,
  response: Fields | undefined,
  { sha256 }: Pick<Crypto, 'sha256'>,
): void {
  const { size: from, root: fromRoot } = older;
  const { size: to, root: toRoot } = newer;
  for (const [name, size] of Object.entries({ from, to })) {
    const given = response && fieldOf(response, name);
    if (given !== undefined && given !== size)
      throw new ProofError(`The proof is of other sizes: \`${name}\` is not ${size}.`);
  }
  const proof = response && from !== to ? textsIn(response, 'proof').map(toHash) : [];
  if (verifyConsistency(sha256, { from, to, fromRoot, toRoot, proof })) return;
  throw new ProofError(
    from === to
      ? `Both have ${to} entries, but not the same: the log was altered.`
      : `The log of ${to} entries is not proven to begin with that of ${from}: the log was altered, or the proof was.`,
  );
}

function toHash(text: string): Uint8Array {
  const hash = fromBase64(text);
  if (hash?.length !== hashLength) throw new ProofError('A hash of the proof is not a SHA-256 in base64.');
  return hash;
}
