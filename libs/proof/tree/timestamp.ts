/**
 * A time-stamp of a checkpoint: the token of a time-stamping authority (RFC 3161) is over the root of a tree whose
 * leaves are the newest checkpoints of all domains. What leads from the checkpoint to the token is checked here; the
 * authority's signature is not: `openssl ts -verify` does that.
 */
import { concat, equal, fromBase64, hex, utf8 } from './bytes.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { countIn, type Fields, textIn, textsIn } from './fields.ts';
import { hashLength, leafHash, type Sha256 } from './hash.ts';
import { parseNote } from './note.ts';
import { ProofError } from './proof-error.ts';
import { inclusionRoot } from './verify-proofs.ts';

export interface Timestamp {
  /** the time-stamped checkpoint, without signatures */
  body: string;
  checkpoint: Checkpoint;
  /** what the token is over, in hex */
  digest: string;
  token: Uint8Array;
}

/** Throws a ProofError where the path does not lead from the checkpoint to what the token is over. */
export function openTimestamp(sha256: Sha256, fields: Fields): Timestamp {
  const given = textIn(fields, 'checkpoint');
  const body = given.includes('\n\n') ? parseNote(given).text : given;
  const checkpoint = parseCheckpoint(body);
  const proof = textsIn(fields, 'path').map((each) => {
    const hash = fromBase64(each);
    if (hash?.length !== hashLength)
      throw new ProofError('A hash on the path of the time-stamp is not a SHA-256 in base64.');
    return hash;
  });
  const leafProof = {
    leaf: leafHash(sha256, utf8(body)),
    index: countIn(fields, 'index'),
    size: countIn(fields, 'size'),
    proof,
  };
  const root = inclusionRoot(sha256, leafProof);
  if (!root) throw new ProofError('The path of the time-stamp does not fit its position and size.');
  const token = fromBase64(textIn(fields, 'token'));
  if (!token) throw new ProofError('The token of the time-stamp is not base64.');
  if (!contains(token, concat(octetString, root))) {
    throw new ProofError('The token of the time-stamp is over something else than this checkpoint.');
  }
  return { body, checkpoint, digest: hex(root), token };
}

/** How DER begins an octet string of 32 bytes, as the hashed message in a token is. */
const octetString = Uint8Array.of(4, hashLength);

function contains(bytes: Uint8Array, part: Uint8Array): boolean {
  for (let at = 0; at + part.length <= bytes.length; at++) {
    if (equal(bytes.subarray(at, at + part.length), part)) return true;
  }
  return false;
}
