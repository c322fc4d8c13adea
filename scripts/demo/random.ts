/** Randomness that repeats: the same words give the same numbers, on every machine. */
import { createHash } from 'node:crypto';

/** A visit takes some 150 of them. */
const outputLength = 256;

export class Random {
  readonly #bytes: Buffer;
  #taken = 0;

  constructor(...words: (string | number)[]) {
    this.#bytes = createHash('shake256', { outputLength }).update(words.join('\n')).digest();
  }

  bytes(count: number): Buffer {
    this.#taken += count;
    return this.#bytes.subarray(this.#taken - count, this.#taken);
  }

  /** from 0 to less than 1 */
  next(): number {
    return this.bytes(4).readUInt32LE() / 2 ** 32;
  }

  isTrue(probability: number): boolean {
    return this.next() < probability;
  }

  /** one of the keys, as often as its weight says */
  pick(weights: Readonly<Record<string, number>>): string {
    const entries = Object.entries(weights);
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => {
      rest -= weight;
      return rest < 0;
    });
    return found?.[0] ?? '';
  }

  /** a waiting time of this average: mostly shorter, sometimes much longer */
  wait(average: number): number {
    return -Math.log(1 - this.next()) * average;
  }
}
