/**
 * Lists, maps and texts without built-ins. Pages replace these, and libraries add members to all arrays and objects: none
 * of that may decide whether a choice is applied or recorded. A call of a built-in has a fallback for when it throws.
 */
import { orElse } from './attempt.ts';

/** A copy of the object's own members, without a prototype, so that `for … in` finds nothing else. */
export const own = <Value>(object?: { readonly [name: string]: Value } | null): Record<string, Value> => ({
  __proto__: null as never,
  ...object,
});

/** The same with the object's type kept. */
export const bare = <Given extends object>(given: Given): Given => ({ __proto__: null as never, ...given });

/** Like `Array.map`, but leaves out items for which `work` returns undefined. */
export function map<Item, Result>(
  list: ArrayLike<Item>,
  work: (item: Item, index: number) => Result | undefined,
): Result[] {
  const made: Result[] = [];
  for (let index = 0; index < list.length; index += 1) {
    const result = work(list[index] as Item, index);
    if (result !== undefined) made[made.length] = result;
  }
  return made;
}

export const min = (one: number, other: number): number => (one < other ? one : other);

export function concat<Item>(...lists: ArrayLike<Item>[]): Item[] {
  const all: Item[] = [];
  map(lists, (list) => {
    map(list, (item) => {
      all[all.length] = item;
    });
  });
  return all;
}

export const some = <Item>(list: ArrayLike<Item>, test: (item: Item) => unknown): boolean =>
  !!map(list, (item) => !!test(item) || undefined)[0];

export const includes = <Item>(list: ArrayLike<Item>, wanted: Item): boolean => some(list, (item) => item === wanted);

export function join(texts: readonly string[], mark: string): string {
  let all = '';
  map(texts, (text, index) => {
    all += index ? mark + text : text;
  });
  return all;
}

/** The parts of a text between white space and commas. */
export function words(text: string): string[] {
  const found: string[] = [];
  let word = '';
  for (let index = 0; index <= text.length; index += 1) {
    const letter = text[index] ?? ' ';
    if (letter > ' ' && letter !== ',') word += letter;
    else {
      if (word) found[found.length] = word;
      word = '';
    }
  }
  return found;
}

export function slice(text: string, start: number, end = text.length): string {
  let found = '';
  for (let index = start; index < end; index += 1) found += text[index] ?? '';
  return found;
}

export const lowerCase = (text: string): string => orElse(() => text.toLowerCase(), text);

/** Unix milliseconds. */
export const now = (): number => orElse(() => +Date.now(), performance.timeOrigin + performance.now());
