/** Checks of proof files and notes as values, and entry bundles as a reader takes them. */

import { fromUtf8 } from '#libs/proof/tree/bytes';
import { rootOf } from '#libs/proof/tree/frontier';
import type { Sha256 } from '#libs/proof/tree/hash';
import { frontierFromTiles, type TileBytes } from '#libs/proof/tree/make-proofs';
import { parseNote, signersOf, type VerifyEd25519 } from '#libs/proof/tree/note';
import { ProofError } from '#libs/proof/tree/proof-error';
import { type Crypto, parseTlogProof, verifyEntry } from '#libs/proof/tree/tlog-proof';
import type { VerifierKey } from '#libs/proof/tree/verifier-key';

function checked<T>(check: () => T): ({ holds: true } & T) | { holds: false; why: string } {
  try {
    return { holds: true, ...check() };
  } catch (error) {
    if (error instanceof ProofError) return { holds: false, why: error.message };
    throw error;
  }
}

/** Whether the entry in this file was in the log at that position when one of these keys signed it. */
export const verifyTlogProof = (file: Uint8Array | string, keys: VerifierKey[], crypto: Crypto) =>
  checked(() => {
    const text = typeof file === 'string' ? file : fromUtf8(file);
    if (text === undefined) throw new ProofError('The file is not text in UTF-8.');
    return verifyEntry(parseTlogProof(text), keys, crypto);
  });

export const verifyNote = (note: string, keys: VerifierKey[], verifyEd25519: VerifyEd25519) =>
  checked(() => {
    const parsed = parseNote(note);
    return { text: parsed.text, signers: signersOf(parsed, keys, verifyEd25519) };
  });

export const rootFromTiles = (sha256: Sha256, size: number, tiles: TileBytes): Uint8Array =>
  rootOf(sha256, { size, hashes: frontierFromTiles(sha256, size, tiles) });

/** Throws where the bytes end within an entry. */
export function unpackBundle(bundle: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(bundle);
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) throw new RangeError('the bundle is cut off');
    entries.push(bundle.slice(at + 2, end));
    at = end;
  }
  return entries;
}
