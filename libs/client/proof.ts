/** Checks proofs of records offline, with the proof and the log's verifier keys alone. */
import { utf8 } from '#libs/proof/tree/bytes';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { crypto } from '#libs/proof/tree/noble';
import { ProofError } from '#libs/proof/tree/proof-error';
import { recognize } from '#libs/proof/tree/recognize';
import { AssentError } from './assent-error.ts';

export type Proof =
  | {
      holds: true;
      /** the name of the log, which ends with the domain's id */
      log: string;
      /** the entry's place in the log, from 0 */
      position: number;
      /** entries in the log when the checkpoint was signed */
      size: number;
      /** the given verifier keys that have signed the checkpoint */
      signedBy: string[];
      /** of the entry */
      type: 'record' | 'notice' | 'erasure';
      /**
       * the fields that the log committed to: those of the entry and, for a bundle, its circumstances and personal fields
       */
      fields: Record<string, unknown>;
      /** the document that the visitor was shown, if the bundle has it */
      notice: string | undefined;
      /** fields of the bundle's record that the log does not commit to */
      unproven: string[];
    }
  | { holds: false; why: string };

/**
 * `file`: a proof file, or a record's bundle. `keys`: the log's verifier keys, one per line. Rejects with `not_a_proof` if
 * it is something else, and with `invalid_options` for a malformed key.
 */
export function verifyProof(file: string | Uint8Array, keys: string): Proof {
  const bytes = typeof file === 'string' ? utf8(file) : file;
  const found = recognize(bytes);
  if (found.kind !== 'proof' && found.kind !== 'bundle') {
    const why = found.kind === 'nothing' ? found.why : `It is a ${found.kind}; the page /verify checks it.`;
    throw new AssentError('not_a_proof', `This is neither a proof file nor a bundle. ${why}`);
  }
  const verdict = checkFile(bytes, parseKeys(keys), crypto);
  if (!verdict.holds) return verdict;
  const { proven, entry, circumstances, personal, notice, unproven = [] } = verdict;
  const { type, ...own } = entry;
  const { commitments: _, ...fields } = { commitments: undefined, ...own };
  const { origin, index, size, signedBy } = proven;
  return {
    holds: true,
    log: origin,
    position: index,
    size,
    signedBy,
    type,
    fields: { ...fields, ...circumstances, ...personal },
    notice,
    unproven,
  };
}

function parseKeys(text: string) {
  try {
    return parseVerifierKeys(crypto.sha256, text);
  } catch (error) {
    if (error instanceof ProofError) throw new AssentError('invalid_options', error.message);
    throw error;
  }
}
