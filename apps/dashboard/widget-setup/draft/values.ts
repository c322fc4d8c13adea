/** Values of settings that come from anywhere. */

/** Undefined: not taken. `refuse` names a part that is left out. */
export type Reader<Value> = (value: unknown, refuse: (part: string) => void) => Value | undefined;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Characters. */
const longest = 2_000;
const longestShort = 500;

/** Without halves of characters and NUL, which no page keeps. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= longest ? value.replace(/[\p{Surrogate}\0]/gu, '') : undefined;

export const short = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= longestShort ? text(value) : undefined;

export const oneOf =
  <Value extends string>(...taken: Value[]): Reader<Value> =>
  (value) =>
    taken.find((each) => each === value);

export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most
      ? number
      : undefined;
  };

/** Names that would reach an object's prototype, or that no attribute and no text could have. */
const isName = (name: string): boolean => /^(?!(__proto__|constructor|prototype)$)[\w.:-]{1,80}$/.test(name);

/** What `read` takes of an object's values; undefined where it is no object. */
export function entriesOf<Value>(
  value: unknown,
  refuse: (part: string) => void,
  read: (value: unknown, name: string) => Value | undefined,
): Record<string, Value> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const taken = isName(name) ? read(each, name) : undefined;
      if (taken === undefined) refuse(name.slice(0, 80));
      return taken === undefined || taken === '' ? [] : [[name, taken] as const];
    }),
  );
}
