/** New entries of a log, as it keeps them: ids, secrets and leaves one after the other. */

import { sha256 } from '#libs/base/sha256';
import { textId } from '../log-texts.ts';
import { utf8 } from '../tree/bytes.ts';
import { leafHash } from '../tree/hash.ts';

export interface Added {
  /** of its records */
  epoch: number;
  /** 16, 16 and 32 bytes an entry */
  ids: Buffer;
  secrets: Buffer;
  leaves: Buffer;
  /** the texts of those entries that are not records (notices, erasures) */
  texts: AddedText[];
}

export interface AddedText {
  /** its index among the new ones */
  at: number;
  /** the notice's number if the text is a notice's, otherwise null */
  noticeNumber: number | null;
  text: string;
}

const textIdBytes = Buffer.from(textId, 'hex');

/** Entries that are not a record's. */
export function addedTexts(epoch: number, texts: Omit<AddedText, 'at'>[]): Added {
  return {
    epoch,
    ids: Buffer.concat(texts.map(() => textIdBytes)),
    secrets: Buffer.alloc(texts.length * 16),
    leaves: Buffer.concat(texts.map(({ text }) => leafHash(sha256, utf8(text)))),
    texts: texts.map((each, at) => ({ at, ...each })),
  };
}

/** `one`, followed by `other`, of the same epoch. */
export function joined(one: Added, other: Added): Added {
  const before = one.ids.length / 16;
  if (before === 0) return other;
  return {
    epoch: other.epoch,
    ids: Buffer.concat([one.ids, other.ids]),
    secrets: Buffer.concat([one.secrets, other.secrets]),
    leaves: Buffer.concat([one.leaves, other.leaves]),
    texts: [...one.texts, ...other.texts.map((each) => ({ ...each, at: before + each.at }))],
  };
}

/** The id of the last record among the entries `from` to `below`, in hex; undefined where none is a record's. */
export function lastRecordIn({ ids }: Added, from: number, below: number): string | undefined {
  for (let at = below - 1; at >= from; at -= 1) {
    if (ids.compare(textIdBytes, 0, 16, at * 16, at * 16 + 16) !== 0) {
      return ids.toString('hex', at * 16, at * 16 + 16);
    }
  }
  return undefined;
}
