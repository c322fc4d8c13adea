/** Recognizes the kind of document to check. Anything else is `nothing`; only what is recognized can “not hold”. */
import { fromUtf8 } from './bytes.ts';
import { checkCheckpoint, checkFile, type Verdict, type VerifiedCheckpoint } from './check-file.ts';
import { type Fields, fieldOf, parseObject } from './fields.ts';
import type { Crypto } from './tlog-proof.ts';
import type { VerifierKey } from './verifier-key.ts';
import { checkVisitor, type VisitorVerdict } from './visitor-download.ts';

/** Bytes: a visitor's answer with ten thousand records has some 80 MB. */
export const largestFile = 256 * 1024 * 1024;

export type Recognized =
  | { kind: 'proof' | 'bundle'; file: Uint8Array }
  | { kind: 'checkpoint'; note: string }
  | { kind: 'visitor'; answer: Fields }
  | { kind: 'nothing'; why: string };

export type Finding =
  | { kind: 'proof' | 'bundle'; verdict: Verdict }
  | { kind: 'checkpoint'; verdict: Verdict<VerifiedCheckpoint> }
  | { kind: 'visitor'; verdict: VisitorVerdict };

const nothing = (why: string): Recognized => ({ kind: 'nothing', why });

/** Nothing is checked here. `nothing`: it is not a proof of any kind. */
export function recognize(file: Uint8Array): Recognized {
  const text = fromUtf8(file);
  if (text === undefined) return nothing('It is not text in UTF-8.');
  if (/^\s*\{/.test(text)) return recognizeJson(file, text);
  if (text.startsWith('c2sp.org/tlog-proof@')) return { kind: 'proof', file };
  if (/\n\r?\n— /.test(text)) return { kind: 'checkpoint', note: text };
  return nothing("It is neither a proof file, a bundle, a checkpoint nor a visitor's download.");
}

/** A bundle that lacks some of these is a broken one. */
const partsOfBundle = ['entry', 'opening', 'proof', 'checkpoint'];

function recognizeJson(file: Uint8Array, text: string): Recognized {
  let fields: Fields;
  try {
    fields = parseObject(text, 'It');
  } catch {
    return nothing('It begins like JSON, but is not: a download that was cut off is not whole.');
  }
  if (Array.isArray(fields.records) && typeof fields.visitorId === 'string') return { kind: 'visitor', answer: fields };
  const parts = partsOfBundle.filter((name) => fieldOf(fields, name) !== undefined);
  if (parts.length > 1) return { kind: 'bundle', file };
  return nothing("This JSON is neither a bundle nor a visitor's download.");
}

export function examine(found: Exclude<Recognized, { kind: 'nothing' }>, keys: VerifierKey[], crypto: Crypto): Finding {
  switch (found.kind) {
    case 'visitor':
      return { kind: found.kind, verdict: checkVisitor(found.answer, keys, crypto) };
    case 'checkpoint':
      return { kind: found.kind, verdict: checkCheckpoint(found.note, keys, crypto) };
    default:
      return { kind: found.kind, verdict: checkFile(found.file, keys, crypto) };
  }
}
