/** Merkle trees as RFC 6962 defines them, in section 2.1, with no thought of speed: what the fast ones are held against. */
import { sha256 } from './log-vector.ts';

const node = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  const both = new Uint8Array(1 + left.length + right.length);
  both[0] = 1;
  both.set(left, 1);
  both.set(right, 1 + left.length);
  return sha256(both);
};

/** The largest power of two smaller than n. */
const split = (n: number) => 2 ** Math.ceil(Math.log2(n) - 1);

export function slowRoot(leaves: Uint8Array[]): Uint8Array {
  const [first] = leaves;
  if (!first) return sha256(new Uint8Array());
  if (leaves.length === 1) return first;
  const k = split(leaves.length);
  return node(slowRoot(leaves.slice(0, k)), slowRoot(leaves.slice(k)));
}

export function slowInclusion(index: number, leaves: Uint8Array[]): Uint8Array[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k
    ? [...slowInclusion(index, left), slowRoot(right)]
    : [...slowInclusion(index - k, right), slowRoot(left)];
}

export const slowConsistency = (from: number, leaves: Uint8Array[]): Uint8Array[] => subproof(from, leaves, true);

function subproof(from: number, leaves: Uint8Array[], isWhole: boolean): Uint8Array[] {
  if (from === leaves.length) return isWhole ? [] : [slowRoot(leaves)];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return from <= k
    ? [...subproof(from, left, isWhole), slowRoot(right)]
    : [...subproof(from - k, right, false), slowRoot(left)];
}

/** The hashes of level `level`, each the root of 256^level leaves; what tiles are cut from. */
export function slowLevel(leaves: Uint8Array[], level: number): Uint8Array[] {
  const width = 256 ** level;
  const roots: Uint8Array[] = [];
  for (let begin = 0; begin + width <= leaves.length; begin += width)
    roots.push(slowRoot(leaves.slice(begin, begin + width)));
  return roots;
}
