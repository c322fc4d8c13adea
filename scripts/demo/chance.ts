/** Chance that is the same at every run: it follows from words. */
import { createHash } from 'node:crypto';

type Words = (string | number)[];

/** The same words give the same bytes, on every machine. */
export const bytesOf = (...words: Words): Buffer => createHash('sha512').update(words.join('\n')).digest();

/** Gives numbers from 0 to less than 1, up to 16 of them. */
export const randomOf = (...words: Words): (() => number) => numbersIn(bytesOf(...words));

export function numbersIn(bytes: Buffer, at = 0): () => number {
  let next = at;
  return () => {
    next += 4;
    return bytes.readUInt32LE(next - 4) / 2 ** 32;
  };
}
