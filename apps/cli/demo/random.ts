/** Randomness that repeats: the same words give the same numbers, on every machine and in every order. */
import { createHash } from 'node:crypto';

export interface Random {
  /** from 0 to less than 1 */
  next(): number;
  isTrue(probability: number): boolean;
  /** one of the names, as often as its weight says */
  pick<Name extends string>(weights: Readonly<Partial<Record<Name, number>>>): Name;
  one<Any>(list: readonly [Any, ...Any[]]): Any;
  /** a waiting time of this average, mostly shorter and sometimes much longer */
  wait(average: number): number;
  bytes(count: number): Uint8Array;
}

/** sfc32 of PractRand, begun with a hash of the words. */
export function randomOf(...words: (string | number)[]): Random {
  const hash = createHash('sha256').update(words.join('\n')).digest();
  let a = hash.readUInt32LE(0);
  let b = hash.readUInt32LE(4);
  let c = hash.readUInt32LE(8);
  let count = 1;

  const word = (): number => {
    const result = (a + b + count) >>> 0;
    count = (count + 1) >>> 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + result) >>> 0;
    return result;
  };
  for (let round = 0; round < 12; round += 1) word();

  const next = () => word() / 2 ** 32;
  return {
    next,
    isTrue: (probability) => next() < probability,
    pick: <Name extends string>(weights: Readonly<Partial<Record<Name, number>>>) => {
      const entries = Object.entries<number | undefined>(weights) as [Name, number][];
      let rest = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => {
        rest -= weight;
        return rest < 0;
      });
      const last = found ?? entries.at(-1);
      if (!last) throw new Error('nothing to pick from');
      return last[0];
    },
    one: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    wait: (average) => -Math.log(1 - next()) * average,
    bytes: (size) => Uint8Array.from({ length: size }, () => word() & 255),
  };
}
