/** The hashes of a Merkle tree (RFC 6962, section 2.1). */

/** Handed in: Node's own in the service, one in JavaScript on the page. */
export type Sha256 = (input: Uint8Array) => Uint8Array;

/** Bytes of a SHA-256. */
export const hashLength = 32;

export function leafHash(sha256: Sha256, entry: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + entry.length);
  input.set(entry, 1);
  return sha256(input);
}

export function nodeHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + 2 * hashLength);
  input[0] = 1;
  input.set(left, 1);
  input.set(right, 1 + hashLength);
  return sha256(input);
}

export const emptyRoot = (sha256: Sha256): Uint8Array => sha256(new Uint8Array());
