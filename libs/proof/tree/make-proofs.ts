/**
 * Makes inclusion and consistency proofs (RFC 6962, sections 2.1.1 and 2.1.2) out of tiles: first say which tiles it
 * takes, so that they are read in one go, then make the proof from them.
 */
import { emptyRoot, hashLength, nodeHash, type Sha256 } from './hash.ts';
import { type Tile, tileWidth, widthAt } from './tlog-tiles.ts';

/** The hashes of a tile, one after the other; it may be wider than asked for, as the tree has grown since. */
export type TileBytes = (level: number, index: number) => Uint8Array | undefined;

/** For 0 ≤ index < size. */
export const inclusionTiles = (index: number, size: number): Tile[] => tilesOf(inclusionRanges(index, size), size);
/** For 1 ≤ from ≤ to. */
export const consistencyTiles = (from: number, to: number): Tile[] => tilesOf(consistencyRanges(from, to), to);
export const rootTiles = (size: number): Tile[] => tilesOf(size > 0 ? [{ begin: 0, end: size }] : [], size);

/** The leaf's sibling first. Throws a RangeError where a tile is missing or too short, or the index is not in the tree. */
export const inclusionProof = (sha256: Sha256, index: number, size: number, tiles: TileBytes): Uint8Array[] =>
  inclusionRanges(index, size).map((range) => hashOf(sha256, range, tiles));

export const consistencyProof = (sha256: Sha256, from: number, to: number, tiles: TileBytes): Uint8Array[] =>
  consistencyRanges(from, to).map((range) => hashOf(sha256, range, tiles));

/**
 * The roots of the complete subtrees that a tree of this size consists of, largest first; from the tiles of `rootTiles`.
 */
export const frontierFromTiles = (sha256: Sha256, size: number, tiles: TileBytes): Uint8Array[] =>
  subtreesOf({ begin: 0, end: size }).map((subtree) => subtreeHash(sha256, subtree, tiles));

/** Leaves `begin` to `end` (exclusive), whose tree is part of the whole one. */
interface Range {
  begin: number;
  end: number;
}

function inclusionRanges(index: number, size: number): Range[] {
  if (!isCount(index) || !isCount(size) || index >= size) throw new RangeError(`no leaf ${index} in a tree of ${size}`);
  const ranges: Range[] = [];
  let [begin, end] = [0, size];
  while (end - begin > 1) {
    const middle = begin + leftSize(end - begin);
    if (index < middle) {
      ranges.push({ begin: middle, end });
      end = middle;
    } else {
      ranges.push({ begin, end: middle });
      begin = middle;
    }
  }
  return ranges.reverse();
}

function consistencyRanges(from: number, to: number): Range[] {
  if (!isCount(from) || !isCount(to) || from < 1 || from > to) throw new RangeError(`no proof from ${from} to ${to}`);
  const ranges: Range[] = [];
  let [begin, end] = [0, to];
  while (from !== end) {
    const middle = begin + leftSize(end - begin);
    if (from <= middle) {
      ranges.push({ begin: middle, end });
      end = middle;
    } else {
      ranges.push({ begin, end: middle });
      begin = middle;
    }
  }
  // if the old tree is a complete subtree of the new one, the verifier has its root already
  if (begin > 0) ranges.push({ begin, end });
  return ranges.reverse();
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;

/** The largest power of two below `size`: the leaves of a tree's left half. */
function leftSize(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/** A complete subtree: 2^height leaves, the `index`-th of that height. */
interface Subtree {
  height: number;
  index: number;
}

/** The complete subtrees that a range consists of, largest first. */
function subtreesOf({ begin, end }: Range): Subtree[] {
  const subtrees: Subtree[] = [];
  while (begin < end) {
    let height = 0;
    while (begin + 2 ** (height + 1) <= end) height++;
    subtrees.push({ height, index: begin / 2 ** height });
    begin += 2 ** height;
  }
  return subtrees;
}

/** Which hashes of which tile a complete subtree is made of. */
function hashesOf({ height, index }: Subtree) {
  const level = Math.floor(height / 8);
  const count = 2 ** (height % 8);
  const first = index * count;
  return { level, tile: Math.floor(first / tileWidth), first: first % tileWidth, count };
}

function tilesOf(ranges: Range[], size: number): Tile[] {
  const tiles = new Map<string, Tile>();
  for (const subtree of ranges.flatMap(subtreesOf)) {
    const { level, tile: index } = hashesOf(subtree);
    tiles.set(`${level}/${index}`, { level, index, width: widthAt(level, index, size) });
  }
  return Array.from(tiles.values());
}

const hashOf = (sha256: Sha256, range: Range, tiles: TileBytes): Uint8Array =>
  subtreesOf(range)
    .map((subtree) => subtreeHash(sha256, subtree, tiles))
    .reduceRight((right, left) => nodeHash(sha256, left, right));

function subtreeHash(sha256: Sha256, subtree: Subtree, tiles: TileBytes): Uint8Array {
  const { level, tile, first, count } = hashesOf(subtree);
  const bytes = tiles(level, tile);
  if (!bytes || bytes.length < (first + count) * hashLength) {
    throw new RangeError(`tile ${tile} of level ${level} lacks hashes ${first} to ${first + count - 1}`);
  }
  let hashes: Uint8Array[] = [];
  for (let at = first; at < first + count; at++) hashes.push(bytes.slice(at * hashLength, (at + 1) * hashLength));
  while (hashes.length > 1) hashes = pairwise(sha256, hashes);
  return hashes[0] ?? emptyRoot(sha256);
}

function pairwise(sha256: Sha256, hashes: Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = [];
  for (let at = 0; at + 1 < hashes.length; at += 2) {
    const [left, right] = [hashes[at], hashes[at + 1]];
    if (left && right) above.push(nodeHash(sha256, left, right));
  }
  return above;
}

interface WholeTree {
  root: Uint8Array;
  /** of each leaf, its sibling first */
  paths: Uint8Array[][];
}

/**
 * A small tree made in one go, with the path of every leaf. One node hash a leaf; it keeps size × log2(size) references.
 */
export function wholeTree(sha256: Sha256, leaves: Uint8Array[]): WholeTree {
  const [first] = leaves;
  if (!first) return { root: emptyRoot(sha256), paths: [] };
  if (leaves.length === 1) return { root: first, paths: [[]] };
  const middle = leftSize(leaves.length);
  const left = wholeTree(sha256, leaves.slice(0, middle));
  const right = wholeTree(sha256, leaves.slice(middle));
  for (const path of left.paths) path.push(right.root);
  for (const path of right.paths) path.push(left.root);
  return { root: nodeHash(sha256, left.root, right.root), paths: [...left.paths, ...right.paths] };
}
