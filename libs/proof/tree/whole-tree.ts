/** A small tree made in one go, with the path of every leaf (RFC 6962, sections 2.1 and 2.1.1). */
import { emptyRoot, nodeHash, type Sha256 } from './hash.ts';
import { leftSize } from './proofs.ts';

export interface WholeTree {
  root: Uint8Array;
  /** of each leaf, its sibling first */
  paths: Uint8Array[][];
}

/** One node hash a leaf; it keeps size × log2(size) references. */
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
