/** Randomness that repeats: the same words give the same numbers, on every machine. */
import { createHash } from 'node:crypto';

/** sfc32 of PractRand, seeded with a hash of the words. A class, since one is made for every visit. */
export class Random {
  readonly #state: Uint32Array;

  constructor(...words: (string | number)[]) {
    const hash = createHash('sha256').update(words.join('\n')).digest();
    this.#state = Uint32Array.of(hash.readUInt32LE(0), hash.readUInt32LE(4), hash.readUInt32LE(8), 1);
  }

  /** a whole number below 2^32 */
  #word(): number {
    const [a = 0, b = 0, c = 0, count = 0] = this.#state;
    const result = (a + b + count) >>> 0;
    this.#state.set([b ^ (b >>> 9), c + (c << 3), ((c << 21) | (c >>> 11)) + result, count + 1]);
    return result;
  }

  /** from 0 to less than 1 */
  next(): number {
    return this.#word() / 2 ** 32;
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  /** one of the keys, as often as its weight says */
  pick<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key {
    const entries = Object.entries<number | undefined>(weights) as [Key, number][];
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    throw new Error('nothing to pick from');
  }

  /** a waiting time of this average: mostly shorter, sometimes much longer */
  wait(average: number): number {
    return -Math.log(1 - this.next()) * average;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#word() >>> 24);
  }
}
