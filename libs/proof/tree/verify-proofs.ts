/**
 * Checks proofs as RFC 9162 does it (sections 2.1.3.2 and 2.1.4.2), deliberately not the way they are made: an error in
 * one does not hide in the other. A proof with a hash too many, too few or of another length is refused.
 */
import { equal } from './bytes.ts';
import { emptyRoot, hashLength, nodeHash, type Sha256 } from './hash.ts';

/** A leaf at a position of a tree, and the hashes that lead from it to the root. */
interface LeafProof {
  leaf: Uint8Array;
  index: number;
  size: number;
  /** the leaf's sibling first */
  proof: Uint8Array[];
}

/** The root of the tree in which the leaf has that position; undefined where the proof is not one of such a position. */
export function inclusionRoot(sha256: Sha256, { leaf, index, size, proof }: LeafProof): Uint8Array | undefined {
  if (!isCount(index) || !isCount(size) || index >= size || ![leaf, ...proof].every(isHash)) return undefined;
  let [at, last] = [index, size - 1];
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sha256, sibling, hash);
      for (; at % 2 === 0 && at !== 0; at /= 2) last = half(last);
    } else {
      hash = nodeHash(sha256, hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 ? hash : undefined;
}

interface Inclusion extends LeafProof {
  root: Uint8Array;
}

export function verifyInclusion(sha256: Sha256, { root, ...leafProof }: Inclusion): boolean {
  const found = inclusionRoot(sha256, leafProof);
  return found !== undefined && equal(found, root);
}

interface Consistency {
  from: number;
  to: number;
  fromRoot: Uint8Array;
  toRoot: Uint8Array;
  proof: Uint8Array[];
}

/** That the tree of `to` leaves begins with that of `from`. Every tree begins with the empty one, by an empty proof. */
export function verifyConsistency(sha256: Sha256, { from, to, fromRoot, toRoot, proof }: Consistency): boolean {
  if (!isCount(from) || !isCount(to) || from > to || ![fromRoot, toRoot, ...proof].every(isHash)) return false;
  if (from === to) return proof.length === 0 && equal(fromRoot, toRoot);
  if (from === 0) return proof.length === 0 && equal(fromRoot, emptyRoot(sha256));

  let [at, last] = [from - 1, to - 1];
  for (; at % 2 === 1; at = half(at)) last = half(last);
  // if the old tree is a complete subtree of the new one, the proof leaves out its root, so we put it first
  const [first, ...rest] = at === 0 ? [fromRoot, ...proof] : proof;
  if (!first) return false;
  let [oldHash, newHash] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      oldHash = nodeHash(sha256, sibling, oldHash);
      newHash = nodeHash(sha256, sibling, newHash);
      for (; at % 2 === 0 && at !== 0; at /= 2) last = half(last);
    } else {
      newHash = nodeHash(sha256, newHash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equal(oldHash, fromRoot) && equal(newHash, toRoot);
}

const half = (value: number) => Math.floor(value / 2);
const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
const isHash = (hash: Uint8Array) => hash.length === hashLength;
