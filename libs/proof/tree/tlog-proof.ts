/** One entry's proof as a file (C2SP tlog-proof), with the entry itself as its extra data. */
import { base64, fromBase64, fromUtf8 } from './bytes.ts';
import { type Checkpoint, parseCheckpoint, parseCount } from './checkpoint.ts';
import { hashLength, leafHash, type Sha256 } from './hash.ts';
import { parseNote, signersOf, type VerifyEd25519 } from './note.ts';
import { ProofError } from './proof-error.ts';
import { formatVerifierKey, type VerifierKey } from './verifier-key.ts';
import { verifyInclusion } from './verify-proofs.ts';

const proofHeader = 'c2sp.org/tlog-proof@v1';

interface TlogProof {
  entry: Uint8Array;
  index: number;
  /** the leaf's sibling first */
  proof: Uint8Array[];
  /** the signed note, verbatim */
  checkpoint: string;
}

export function formatTlogProof({ entry, index, proof, checkpoint }: TlogProof): string {
  const hashes = proof.map((hash) => `${base64(hash)}\n`).join('');
  return `${proofHeader}\nextra ${base64(entry)}\nindex ${index}\n${hashes}\n${checkpoint}`;
}

/** Throws a ProofError that says what is wrong with its form. Nothing is verified here. */
export function parseTlogProof(file: string): TlogProof {
  const end = file.indexOf('\n\n');
  const [header, extra, indexLine, ...hashes] = file.slice(0, Math.max(0, end)).split('\n');
  if (header !== proofHeader) throw new ProofError(notProof(file));
  if (!extra?.startsWith('extra '))
    throw new ProofError('The proof file does not hold the entry, so there is nothing to check.');
  const entry = fromBase64(extra.slice('extra '.length));
  if (!entry) throw new ProofError('The entry in the proof file is not canonical base64.');
  const index = indexLine?.startsWith('index ') ? parseCount(indexLine.slice('index '.length)) : undefined;
  if (index === undefined) throw new ProofError("The third line of the proof file is not the entry's position.");
  return { entry, index, proof: hashes.map(parseHash), checkpoint: file.slice(end + 2) };
}

function notProof(file: string): string {
  if (file.startsWith(`${proofHeader}\r`)) {
    return 'There are carriage returns in it: it went through a program that changes line ends.';
  }
  const isCut = file.startsWith(`${proofHeader}\n`) || (file !== '' && proofHeader.startsWith(file));
  return isCut
    ? 'The file is cut off before its checkpoint.'
    : `This is no proof file: its first line is not ${proofHeader}.`;
}

function parseHash(line: string): Uint8Array {
  const hash = fromBase64(line);
  if (hash?.length !== hashLength)
    throw new ProofError(`This line of the proof is not a SHA-256 in base64: ${line.slice(0, 100)}`);
  return hash;
}

export interface Crypto {
  sha256: Sha256;
  verifyEd25519: VerifyEd25519;
}

export interface VerifiedEntry {
  /** the entry's text */
  entry: string;
  index: number;
  size: number;
  origin: string;
  /** those of the given keys that signed the checkpoint, as verifier keys */
  signedBy: string[];
  /** what was signed, its last newline included */
  checkpoint: string;
}

/** Throws a ProofError that says what does not hold. */
export function verifyEntry(
  { entry, index, proof, checkpoint }: TlogProof,
  keys: VerifierKey[],
  crypto: Crypto,
): VerifiedEntry {
  const { text, origin, size, root, signers } = openCheckpoint(checkpoint, keys, crypto.verifyEd25519);
  if (index >= size) throw new ProofError(`The entry's position, ${index}, is beyond the log's size, ${size}.`);
  const leaf = leafHash(crypto.sha256, entry);
  if (!verifyInclusion(crypto.sha256, { leaf, index, size, proof, root })) {
    throw new ProofError(
      `The log that was signed does not have this entry at position ${index}: the entry, the position or the proof was changed.`,
    );
  }
  const entryText = fromUtf8(entry);
  if (entryText === undefined) throw new ProofError('The entry is not text in UTF-8.');
  return {
    entry: entryText,
    index,
    size,
    origin,
    signedBy: signers.map(formatVerifierKey),
    checkpoint: text,
  };
}

export interface OpenedCheckpoint extends Checkpoint {
  /** what was signed */
  text: string;
  signers: VerifierKey[];
}

/** A signed checkpoint's content, once a key of that very log has signed it. Throws a ProofError otherwise. */
export function openCheckpoint(note: string, keys: VerifierKey[], verifyEd25519: VerifyEd25519): OpenedCheckpoint {
  const parsed = inCheckpoint(() => parseNote(note));
  const checkpoint = parseCheckpoint(parsed.text);
  const signers = inCheckpoint(() => signersOf(parsed, keys, verifyEd25519));
  if (!signers.some(({ name }) => name === checkpoint.origin)) {
    throw new ProofError(`The checkpoint is one of ${checkpoint.origin}, but no key of that log has signed it.`);
  }
  return { ...checkpoint, text: parsed.text, signers };
}

/** Errors about a note do not mention the checkpoint; this adds it for the reader. */
function inCheckpoint<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ProofError) throw new ProofError(`The checkpoint does not hold. ${error.message}`);
    throw error;
  }
}
