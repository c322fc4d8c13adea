import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concat } from '#libs/proof/tree/bytes';
import { append, emptyFrontier, packFrontier, rootOf, unpackFrontier } from '#libs/proof/tree/frontier';
import { leafHash } from '#libs/proof/tree/hash';
import {
  consistencyProof,
  consistencyTiles,
  inclusionProof,
  inclusionTiles,
  rootTiles,
  type TileBytes,
  wholeTree,
} from '#libs/proof/tree/make-proofs';
import type { Tile } from '#libs/proof/tree/tlog-tiles';
import { inclusionRoot, verifyConsistency, verifyInclusion } from '#libs/proof/tree/verify-proofs';
import { sha256 } from '../support/log-vector.ts';
import { rootFromTiles } from '../support/proof-checks.ts';
import { slowConsistency, slowInclusion, slowLevel, slowRoot } from '../support/slow-tree.ts';

const leavesOf = (size: number) =>
  Array.from({ length: size }, (_, index) => leafHash(sha256, Buffer.from(`entry ${index}`)));

/** Cut once for the largest tree here; a smaller one's tiles are these, narrower. */
const all = leavesOf(66_000);
const levels = [all, slowLevel(all, 1), slowLevel(all, 2)];
const upTo = (size: number) => all.slice(0, size);

/** Gives what was listed and nothing else, each tile no wider than said. */
function only(tiles: Tile[]): TileBytes {
  const bytes = new Map(
    tiles.map(({ level, index, width }) => {
      const hashes = levels[level]?.slice(index * 256, index * 256 + width) ?? [];
      expect(hashes).toHaveLength(width);
      return [`${level}/${index}`, concat(...hashes)];
    }),
  );
  return (level, index) => bytes.get(`${level}/${index}`);
}

const grow = (leaves: Uint8Array[], from = emptyFrontier()) => {
  for (const leaf of leaves) append(sha256, from, leaf);
  return from;
};

const edges = [0, 1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513];
const small = fc.oneof(fc.constantFrom(...edges), fc.nat(700));
const pair = fc
  .tuple(small, small)
  .map(([one, other]): [number, number] => (one <= other ? [one, other] : [other, one]));

const checkInclusion = (index: number, size: number) => {
  const leaves = upTo(size);
  const proof = inclusionProof(sha256, index, size, only(inclusionTiles(index, size)));
  expect(proof).toEqual(slowInclusion(index, leaves));
  const claim = { leaf: all[index] ?? new Uint8Array(), index, size, proof, root: slowRoot(leaves) };
  expect(verifyInclusion(sha256, claim)).toBe(true);
  return claim;
};

const checkConsistency = (from: number, to: number) => {
  const proof = consistencyProof(sha256, from, to, only(consistencyTiles(from, to)));
  expect(proof).toEqual(slowConsistency(from, upTo(to)));
  const claim = { from, to, fromRoot: slowRoot(upTo(from)), toRoot: slowRoot(upTo(to)), proof };
  expect(verifyConsistency(sha256, claim)).toBe(true);
  return claim;
};

/** Every way to have one byte of one hash wrong, one hash too few, one too many. */
function* spoiled(proof: Uint8Array[]) {
  for (const [at, hash] of proof.entries()) {
    yield proof.with(
      at,
      hash.map((byte, index) => (index === at % 32 ? byte ^ 1 : byte)),
    );
    yield proof.toSpliced(at, 1);
    yield proof.with(at, hash.slice(1));
    yield proof.toSpliced(at, 0, hash);
  }
  yield [...proof, new Uint8Array(32)];
  yield [new Uint8Array(32), ...proof];
}

describe('a tree that is appended to', () => {
  it('has the root of RFC 6962 at every size', () => {
    const frontier = emptyFrontier();
    for (const [size, leaf] of upTo(520).entries()) {
      expect(rootOf(sha256, frontier)).toEqual(slowRoot(upTo(size)));
      append(sha256, frontier, leaf);
    }
  });

  it('is the same when it was packed and unpacked in between', () => {
    fc.assert(
      fc.property(pair, ([half, size]) => {
        const before = grow(upTo(half));
        const after = grow(all.slice(half, size), unpackFrontier(half, packFrontier(before)));
        expect(after).toEqual(grow(upTo(size)));
      }),
      { numRuns: 15 },
    );
  });

  it('is not unpacked from bytes of another size', () => {
    expect(() => unpackFrontier(3, new Uint8Array(32))).toThrow(RangeError);
    expect(() => unpackFrontier(3, new Uint8Array(96))).toThrow(RangeError);
    for (const size of [-1, 0.5, 2 ** 53, Number.NaN]) {
      expect(() => unpackFrontier(size, new Uint8Array())).toThrow(RangeError);
    }
  });

  it('tells each subtree of 256 and 65,536 leaves once, in order, and what was told makes the tiles', () => {
    const told: [number, number, Uint8Array][] = [];
    const frontier = emptyFrontier();
    for (const leaf of upTo(65_537)) append(sha256, frontier, leaf, (...subtree) => told.push(subtree));
    expect(told.filter(([level]) => level === 1)).toEqual(levels[1]?.slice(0, 256).map((hash, at) => [1, at, hash]));
    expect(told.filter(([level]) => level > 1)).toEqual([[2, 0, slowRoot(upTo(65_536))]]);
    expect(told.at(-1)?.[0]).toBe(2);
  });

  it('grows beyond 2^32 and up to 2^53', () => {
    // below 2^k all subtrees are complete: as many hashes as bits, and one more leaf folds them all into one
    for (const [height, levelsTold] of [
      [33, [1, 2, 3, 4]],
      [48, [1, 2, 3, 4, 5, 6]],
      [52, [1, 2, 3, 4, 5, 6]],
    ] as const) {
      const hashes = upTo(height);
      const frontier = unpackFrontier(2 ** height - 1, concat(...hashes));
      const told: [number, number][] = [];
      append(sha256, frontier, all[99] ?? new Uint8Array(), (level, index) => told.push([level, index]));
      expect(frontier.size).toBe(2 ** height);
      expect(frontier.hashes).toHaveLength(1);
      expect(told).toEqual(levelsTold.map((level) => [level, 2 ** (height - 8 * level) - 1]));
    }
  });
});

describe('proofs from tiles', () => {
  it('of inclusion are those of RFC 6962, and a spoiled one is refused', () => {
    const place = small.filter((size) => size > 0).chain((size) => fc.tuple(fc.nat(size - 1), fc.constant(size)));
    fc.assert(
      fc.property(place, ([index, size]) => {
        const claim = checkInclusion(index, size);
        for (const proof of spoiled(claim.proof)) expect(verifyInclusion(sha256, { ...claim, proof })).toBe(false);
        for (const other of [index - 1, index + 1, 2 ** 53, -1, 0.5, Number.NaN]) {
          expect(verifyInclusion(sha256, { ...claim, index: other })).toBe(false);
        }
        expect(verifyInclusion(sha256, { ...claim, leaf: sha256(claim.leaf) })).toBe(false);
        expect(verifyInclusion(sha256, { ...claim, root: sha256(claim.root) })).toBe(false);
        expect(verifyInclusion(sha256, { ...claim, size: 0 })).toBe(false);
        // nor is there a root that a proof of another length could lead to
        expect(inclusionRoot(sha256, claim)).toEqual(claim.root);
        expect(inclusionRoot(sha256, { ...claim, proof: [...claim.proof, claim.root] })).toBeUndefined();
        expect(inclusionRoot(sha256, { ...claim, proof: claim.proof.slice(1) })).toEqual(
          claim.proof.length === 0 ? claim.root : undefined,
        );
      }),
      { numRuns: 25 },
    );
  });

  it('of consistency are those of RFC 6962, and a spoiled one is refused', () => {
    fc.assert(
      fc.property(
        pair.filter(([from]) => from > 0),
        ([from, to]) => {
          const claim = checkConsistency(from, to);
          for (const proof of spoiled(claim.proof)) expect(verifyConsistency(sha256, { ...claim, proof })).toBe(false);
          expect(verifyConsistency(sha256, { ...claim, fromRoot: sha256(claim.fromRoot) })).toBe(false);
          expect(verifyConsistency(sha256, { ...claim, toRoot: sha256(claim.toRoot) })).toBe(false);
          if (from < to) expect(verifyConsistency(sha256, { ...claim, from: to, to: from })).toBe(false);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('hold across the tiles of levels 1 and 2', () => {
    checkInclusion(65_279, 65_537);
    checkConsistency(65_535, 65_537);
  });

  it('say that every tree begins with the empty one, by an empty proof only', () => {
    const claim = { from: 0, to: 3, fromRoot: slowRoot([]), toRoot: slowRoot(upTo(3)), proof: [] };
    expect(verifyConsistency(sha256, claim)).toBe(true);
    expect(verifyConsistency(sha256, { ...claim, proof: [slowRoot([])] })).toBe(false);
    expect(verifyConsistency(sha256, { ...claim, fromRoot: claim.toRoot })).toBe(false);
  });

  it('are not made of what the tree does not have', () => {
    const none: TileBytes = () => undefined;
    expect(() => inclusionTiles(3, 3)).toThrow(RangeError);
    expect(() => inclusionTiles(-1, 3)).toThrow(RangeError);
    expect(() => consistencyTiles(0, 3)).toThrow(RangeError);
    expect(() => consistencyTiles(4, 3)).toThrow(RangeError);
    expect(() => inclusionProof(sha256, 1, 3, none)).toThrow('tile 0 of level 0 lacks hashes 0 to 0');
    expect(() => inclusionProof(sha256, 1, 300, () => new Uint8Array(31))).toThrow(RangeError);
  });

  it('take few tiles, of the width that they have at that size', () => {
    expect(inclusionTiles(0, 65_537 + 300)).toEqual([
      { level: 0, index: 0, width: 256 },
      { level: 1, index: 0, width: 256 },
      { level: 1, index: 1, width: 1 },
      { level: 0, index: 257, width: 45 },
    ]);
    const huge = inclusionTiles(2 ** 52 + 12_345, 2 ** 53 - 1);
    expect(huge.length).toBeLessThanOrEqual(14);
    for (const { level, index, width } of huge) {
      expect(width).toBe(Math.min(256, Math.floor((2 ** 53 - 1) / 256 ** level) - index * 256));
    }
  });
});

it('the root from tiles is the root of RFC 6962', () => {
  for (const size of [...edges, 65_537])
    expect(rootFromTiles(sha256, size, only(rootTiles(size)))).toEqual(slowRoot(upTo(size)));
});

it('a tree made in one go has the root and the paths of RFC 6962', () => {
  for (const size of [0, 1, 2, 3, 4, 5, 7, 8, 9, 64, 65, 100]) {
    const leaves = upTo(size);
    const paths = leaves.map((_, index) => slowInclusion(index, leaves));
    expect(wholeTree(sha256, leaves)).toEqual({ root: slowRoot(leaves), paths });
  }
});
