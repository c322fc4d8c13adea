/**
 * Rebuilds a log's tree tile by tile, and compares it with the stored one. If the stored leaves of a tile do not fit the
 * rest but those recomputed from the records do, then the leaves were changed.
 */

import { sha256 } from '#libs/base/sha256';
import { append, emptyFrontier, type Frontier, packFrontier, rootOf } from '../tree/frontier.ts';
import { hashLength, nodeHash } from '../tree/hash.ts';
import { tileWidth } from '../tree/tlog-tiles.ts';

/** The leaves of a tile: stored, and recomputed from its records. */
export interface Leaves {
  stored: Buffer[];
  recomputed: Buffer[];
}

interface TreeOf {
  /** roots of complete tiles by number */
  nodes: Map<number, Buffer>;
  /** roots of higher subtrees by `level/number` */
  upperNodes: Map<string, Buffer>;
  /** the log's packed frontier, hex */
  frontier: string;
  /** sizes whose roots are wanted */
  sizes: number[];
  /** `position`: first entry of the subtree that differs; null for the whole tree */
  differs(position: number | null, what: string): void;
}

/** The leaves that the rest of the tree agrees with. */
type Agreed = 'stored' | 'recomputed' | 'neither';

export interface Tree {
  /** Adds the next tile; null if some of its entries are missing. */
  add(leaves: Leaves | null, nodes: Map<number, Buffer>): Agreed;
  /** The root, after the last tile. Undefined if entries are missing. */
  rootAt(size: number): Buffer | undefined;
  end(): void;
}

export function createTree({ upperNodes, frontier: head, sizes, differs }: Omit<TreeOf, 'nodes'>): Tree {
  /** frontier over the roots of complete tiles; its `size` is their number */
  const tiles = emptyFrontier();
  let tail: Frontier = emptyFrontier();
  let isWhole = true;
  const roots = new Map<number, Buffer>();

  const compareUpper = (above: number, n: number, hash: Uint8Array) => {
    if (!isWhole) return;
    const level = above + 1;
    const width = tileWidth ** level;
    const stored = upperNodes.get(`${level}/${n}`);
    if (!stored) differs(n * width, `the hash of the entries ${n * width} to ${(n + 1) * width - 1} is missing`);
    else if (!stored.equals(hash)) {
      differs(n * width, `the stored hash of the entries ${n * width} to ${(n + 1) * width - 1} is not theirs`);
    }
  };

  const packed = () =>
    Buffer.from(packFrontier({ size: 0, hashes: [...tiles.hashes, ...tail.hashes] })).toString('hex');

  const noteRoots = (leaves: Buffer[]) => {
    const first = tiles.size * tileWidth;
    for (const size of sizes) {
      if (size <= first || size > first + leaves.length) continue;
      const { hashes } = frontierOf(leaves.slice(0, size - first));
      roots.set(size, Buffer.from(rootOf(sha256, { size, hashes: [...tiles.hashes, ...hashes] })));
    }
  };

  const addWhole = ({ stored, recomputed }: Leaves, node: Buffer | undefined): Agreed => {
    const first = tiles.size * tileWidth;
    const last = first + tileWidth - 1;
    const root = rootOf(sha256, frontierOf(stored));
    const agrees = node?.equals(root) === true;
    const isOfRecords = !agrees && node?.equals(rootOf(sha256, frontierOf(recomputed))) === true;
    if (!node) differs(first, `the hash of the entries ${first} to ${last} is missing`);
    else if (!agrees && !isOfRecords)
      differs(first, `the stored hash of the entries ${first} to ${last} is not theirs`);
    noteRoots(isOfRecords ? recomputed : stored);
    append(sha256, tiles, isOfRecords && node ? node : root, compareUpper);
    return agrees ? 'stored' : isOfRecords ? 'recomputed' : 'neither';
  };

  const addTail = ({ stored, recomputed }: Leaves): Agreed => {
    for (const leaves of [stored, recomputed]) {
      tail = frontierOf(leaves);
      if (packed() !== head) continue;
      noteRoots(leaves);
      return leaves === stored ? 'stored' : 'recomputed';
    }
    tail = frontierOf(stored);
    noteRoots(stored);
    return 'neither';
  };

  return {
    add(leaves, nodes) {
      const node = nodes.get(tiles.size);
      if (leaves) return leaves.stored.length === tileWidth ? addWhole(leaves, node) : addTail(leaves);
      // the tree above continues with the stored root of the tile
      isWhole &&= node !== undefined;
      append(sha256, tiles, node ?? Buffer.alloc(hashLength), compareUpper);
      return 'neither';
    },
    rootAt: (size) => (isWhole ? roots.get(size) : undefined),
    end() {
      if (isWhole && packed() !== head) differs(null, "the log's head is not that of its entries");
    },
  };
}

function frontierOf(leaves: Buffer[]): Frontier {
  if (leaves.length === tileWidth) return { size: tileWidth, hashes: [subtreeOf(leaves)] };
  const frontier = emptyFrontier();
  for (const leaf of leaves) append(sha256, frontier, leaf);
  return frontier;
}

function subtreeOf(hashes: Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at + 1 < level.length; at += 2) {
      const [left, right] = [level[at], level[at + 1]];
      if (left && right) above.push(nodeHash(sha256, left, right));
    }
    level = above;
  }
  return level[0] ?? new Uint8Array();
}
