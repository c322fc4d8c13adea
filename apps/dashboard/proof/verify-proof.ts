/** Verifies a record's proof in the browser. Loaded on demand, since it is as large as a page. */

import { fromHex } from '#libs/proof/tree/bytes';
import { parseVerifierKeys } from '#libs/proof/tree/check-file';
import { circumstancesText, commitment, privateText, recordEntry, sealedAs } from '#libs/proof/tree/entry';
import { type Fields, maybeText, objectIn, parseObject, textIn } from '#libs/proof/tree/fields';
import { crypto } from '#libs/proof/tree/noble';
import { verifyBundle } from '#libs/proof/tree/proof-bundle';
import { ProofError } from '#libs/proof/tree/proof-error';
import type { FullRecord } from '#libs/record/contract';

/** `lacksPlace`: sealed by a release that did not know the record's region and model. */
export type Verdict =
  | { holds: true; size: number; signedBy: string[]; lacksPlace: boolean }
  | { holds: false; why: string };

/** `keys`: verifier keys, one per line. `shown`: the record as the page shows it. */
export function verifyProof(bundle: string, keys: string, shown: FullRecord): Verdict {
  try {
    return prove(bundle, keys, shown);
  } catch (error) {
    if (error instanceof ProofError) return { holds: false, why: error.message };
    throw error;
  }
}

function prove(text: string, keys: string, shown: FullRecord): Verdict {
  const bundle = parseObject(text, 'The bundle');
  const { proven } = verifyBundle(bundle, parseVerifierKeys(crypto.sha256, keys), crypto);
  const opening = objectIn(bundle, 'opening');
  const sealed = sealedAs(shown).findIndex((record) => entryOf(record, proven.entry, opening) === proven.entry);
  if (sealed === -1) {
    throw new ProofError('The log has an entry at this position, but it is not that of the record shown here.');
  }
  return { holds: true, size: proven.size, signedBy: proven.signedBy, lacksPlace: sealed > 0 };
}

/** Computes the entry from the shown record, with the bundle's salts. */
function entryOf(shown: FullRecord, sealed: string, opening: Fields): string {
  const entry = parseObject(sealed, 'The entry');
  const commit = (label: 'circumstances' | 'private', text: string): string => {
    // once the personal fields are erased, their commitment cannot be opened
    if (opening[label] === null) return textIn(entry, label);
    const salt = fromHex(textIn(objectIn(opening, label), 'salt'));
    return commitment(crypto.sha256, salt ?? new Uint8Array(), text);
  };
  return recordEntry(
    // only the entry contains the time of an import
    { ...shown, importedAt: maybeText(entry, 'importedAt') },
    {
      circumstances: commit('circumstances', circumstancesText(shown)),
      private: commit('private', privateText(shown)),
    },
  );
}
