/** What a person brings, a proof file, a bundle or a checkpoint, checked with the keys they trust. */
import { base64, fromUtf8 } from './bytes.ts';
import { parseObject } from './fields.ts';
import type { Sha256 } from './hash.ts';
import { type Entry, parseEntry } from './parse-entry.ts';
import { type VerifiedBundle, verifyBundle } from './proof-bundle.ts';
import { ProofError } from './proof-error.ts';
import { type Crypto, openCheckpoint, parseTlogProof, type VerifiedEntry, verifyEntry } from './tlog-proof.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from './verifier-key.ts';

/** A proof file proves the entry alone; a bundle also what the entry's commitments are about. */
export type Verified = { proven: VerifiedEntry; entry: Entry } & Partial<Omit<VerifiedBundle, 'proven' | 'entry'>>;

export interface VerifiedCheckpoint {
  origin: string;
  size: number;
  /** base64 */
  root: string;
  signedBy: string[];
}

export type Verdict<Result = Verified> = ({ holds: true } & Result) | { holds: false; why: string };

export function checkFile(file: Uint8Array, keys: VerifierKey[], crypto: Crypto): Verdict {
  return verdictOf(() => {
    const text = fromUtf8(file);
    if (text === undefined) throw new ProofError('The file is not text in UTF-8.');
    if (keys.length === 0) throw new ProofError('There is no verifier key to check it with.');
    if (/^\s*\{/.test(text)) return verifyBundle(parseObject(text, 'The bundle'), keys, crypto);
    const proven = verifyEntry(parseTlogProof(text), keys, crypto);
    const entry = parseEntry(proven.entry);
    if (!isLogOf(entry.domainId, proven.origin)) {
      throw new ProofError(`The entry is one of ${entry.domainId}, but the log is ${proven.origin}.`);
    }
    return { proven, entry };
  });
}

export function checkCheckpoint(note: string, keys: VerifierKey[], crypto: Crypto): Verdict<VerifiedCheckpoint> {
  return verdictOf(() => {
    const { origin, size, root, signers } = openCheckpoint(note, keys, crypto.verifyEd25519);
    return { origin, size, root: base64(root), signedBy: signers.map(formatVerifierKey) };
  });
}

/** What `prove` proves, or why it is refused. */
export function verdictOf<Result>(prove: () => Result): Verdict<Result> {
  try {
    return { holds: true, ...prove() };
  } catch (error) {
    if (error instanceof ProofError) return { holds: false, why: error.message };
    throw error;
  }
}

const isLogOf = (domainId: string, origin: string): boolean =>
  origin.endsWith(`/${domainId}`) || origin.replace(/\/[1-9][0-9]*$/, '').endsWith(`/${domainId}`);

/** One on each line; empty lines are skipped. Throws a ProofError that says what is wrong with one. */
export const parseVerifierKeys = (sha256: Sha256, text: string): VerifierKey[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => parseVerifierKey(sha256, line));
