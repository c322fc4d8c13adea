/** Verifies a record's proof in the browser. Loaded when somebody asks for it, since it is as large as a page. */
import type { FullRecord, ProofBundle } from '#libs/contract/responses';
import { fromBase64, fromHex, utf8 } from '#libs/merkle/bytes';
import { circumstancesText, commitment, privateText, recordEntry } from '#libs/merkle/entry';
import { Refused } from '#libs/merkle/refused';
import { proveEntry } from '#libs/merkle/tlog-proof';
import { parseVerifierKey } from '#libs/merkle/verifier-key';
import { crypto } from './crypto.ts';

export type Verdict = { holds: true; size: number; signedBy: string[] } | { holds: false; why: string };

/** `keys`: verifier keys, a line each. `shown`: the record as the page shows it. */
export function verifyProof(bundle: string, keys: string, shown: FullRecord): Verdict {
  try {
    return prove(JSON.parse(bundle), keys, shown);
  } catch (error) {
    if (error instanceof Refused) return { holds: false, why: error.message };
    // of another form than the contract's
    return { holds: false, why: 'The answer of the service is not a proof.' };
  }
}

function prove(bundle: ProofBundle, keys: string, shown: FullRecord): Verdict {
  const proof = {
    entry: utf8(bundle.entry),
    index: bundle.position,
    proof: bundle.proof.map(hashIn),
    checkpoint: bundle.checkpoint,
  };
  const known = keys
    .trimEnd()
    .split('\n')
    .map((key) => parseVerifierKey(crypto.sha256, key));
  const { entry, size, signedBy } = proveEntry(proof, known, crypto);
  if (entryOf(shown, bundle) !== entry) {
    throw new Refused('The log has an entry at this position, but it is not that of the record shown here.');
  }
  return { holds: true, size, signedBy };
}

/** The entry that the record shown would have, with the salts of the bundle. */
function entryOf(shown: FullRecord, { entry, opening }: ProofBundle): string {
  // what only the entry says
  const { importedAt, private: erased } = JSON.parse(entry);
  const { circumstances, private: personal } = opening;
  return recordEntry(
    { ...shown, importedAt },
    {
      circumstances: commitment(crypto.sha256, saltIn(circumstances.salt), circumstancesText(shown)),
      // once the personal fields are erased nobody can open their commitment
      private: personal ? commitment(crypto.sha256, saltIn(personal.salt), privateText(shown)) : String(erased),
    },
  );
}

const hashIn = (text: string): Uint8Array => fromBase64(text) ?? refuse('A hash of the proof is not base64.');
const saltIn = (text: string): Uint8Array => fromHex(text) ?? refuse('A salt is not in hex digits.');

function refuse(why: string): never {
  throw new Refused(why);
}
