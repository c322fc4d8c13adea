/** A log's size and root as they are signed (C2SP tlog-checkpoint). */
import { base64, fromBase64 } from './bytes.ts';
import { hashLength } from './hash.ts';
import { ProofError } from './proof-error.ts';

export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
}

/** What is signed, its last newline included. */
export const formatCheckpoint = (origin: string, size: number, root: Uint8Array): string =>
  `${origin}\n${size}\n${base64(root)}\n`;

/** Throws a ProofError that says what is wrong with it. Extension lines are allowed and ignored, as the format asks. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, sizeText, rootText, ...more] = text.split('\n');
  if (!origin || sizeText === undefined || rootText === undefined || more.pop() !== '' || more.includes('')) {
    throw new ProofError('The checkpoint is not three lines: origin, size and root.');
  }
  const size = parseCount(sizeText);
  if (size === undefined) throw new ProofError("The checkpoint's second line is not a size.");
  const root = fromBase64(rootText);
  if (root?.length !== hashLength) throw new ProofError("The checkpoint's third line is not a SHA-256 in base64.");
  return { origin, size, root };
}

/** A number as these formats write it: decimal, no leading zeros, at most 2^53 − 1. */
export function parseCount(text: string): number | undefined {
  const count = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(count) ? count : undefined;
}
