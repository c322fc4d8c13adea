/** The compact range of a tree: all that appending needs, at most 53 hashes. Positions go up to 2^53: no bit operators. */
import { concat } from './bytes.ts';
import { emptyRoot, hashLength, nodeHash, type Sha256 } from './hash.ts';

export interface Frontier {
  size: number;
  /** Roots of the complete subtrees that the tree consists of, largest first; as many as `size` has bits set. */
  hashes: Uint8Array[];
}

/**
 * Called when a subtree of 256^level leaves becomes complete, smaller ones first: the `index`-th hash
 * (from 0) of that level, which is number `index % 256` of the level's tile `floor(index / 256)`.
 */
type OnSubtree = (level: number, index: number, hash: Uint8Array) => void;

export const emptyFrontier = (): Frontier => ({ size: 0, hashes: [] });

/** Changes `frontier` in place; one node hash a leaf on average. `onSubtree` hears of levels from 1, not of the leaf. */
export function append(sha256: Sha256, frontier: Frontier, leaf: Uint8Array, onSubtree?: OnSubtree): void {
  let hash = leaf;
  let index = frontier.size;
  for (let height = 1; index % 2 === 1; height++) {
    const left = frontier.hashes.pop();
    if (!left) throw new RangeError(`a tree of ${frontier.size} leaves lacks the roots of its subtrees`);
    hash = nodeHash(sha256, left, hash);
    index = (index - 1) / 2;
    if (height % 8 === 0) onSubtree?.(height / 8, index, hash);
  }
  frontier.hashes.push(hash);
  frontier.size++;
}

export function rootOf(sha256: Sha256, { hashes }: Frontier): Uint8Array {
  return hashes.length === 0 ? emptyRoot(sha256) : hashes.reduceRight((right, left) => nodeHash(sha256, left, right));
}

/** The hashes one after the other; the size is kept beside them. */
export const packFrontier = ({ hashes }: Frontier): Uint8Array => concat(...hashes);

/** Throws a RangeError where the bytes cannot be those of a tree of this size. */
export function unpackFrontier(size: number, bytes: Uint8Array): Frontier {
  const count = countBits(size);
  if (bytes.length !== count * hashLength) {
    throw new RangeError(`the frontier of ${size} leaves has ${count * hashLength} bytes, not ${bytes.length}`);
  }
  const hashes = Array.from({ length: count }, (_, at) => bytes.slice(at * hashLength, (at + 1) * hashLength));
  return { size, hashes };
}

function countBits(size: number): number {
  if (!Number.isSafeInteger(size) || size < 0) throw new RangeError(`${size} is not a tree's size`);
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}
