/**
 * Counts keys in a table of fixed size, by a hash of each: the count is never less than a key's own, and more where others
 * share its place (a count-min sketch of one row; Cormode and Muthukrishnan, 2005). Nobody can choose who shares a place,
 * since each process hashes in a way of its own.
 */
import { randomInt } from 'node:crypto';

export interface Sketch {
  /** Counts one; the count includes it. */
  add(key: string): number;
}

/** `places`: a power of two, each of four bytes. */
export function createSketch(places = 1 << 17): Sketch {
  const counts = new Uint32Array(places);
  const seed = randomInt(2 ** 32);
  return {
    add: (key) => {
      const place = hash(key, seed) & (places - 1);
      const count = (counts[place] ?? 0) + 1;
      counts[place] = count;
      return count;
    },
  };
}

/** 32-bit FNV-1a from a seed, and the end of MurmurHash3, which makes every bit depend on all of the text. */
function hash(text: string, seed: number): number {
  let mixed = seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
