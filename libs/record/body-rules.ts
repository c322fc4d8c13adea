/** The rules of a body by its schema: of the whole, and of each field alone. */
import { z } from 'zod';
import { parseOptions, pointer, toFieldErrors } from '#libs/base/terms/field-errors';
import type { FieldError } from '#libs/base/terms/problem';
import { mapLimits, tooMany } from './contract.ts';

export type Given = Record<string, unknown>;

const notAName = 'is not an allowed name';

export const isMap = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isMapField = (field: string): field is keyof typeof mapLimits => Object.hasOwn(mapLimits, field);

export function createRules<Schema extends z.ZodObject>(schema: Schema) {
  const whole = z.compile(schema);
  const rules = new Map(
    Object.entries(schema.shape).map(([field, rule]) => [field, z.compile(z.object({ [field]: rule }))]),
  );
  const maps = [...rules.keys()].filter(isMapField);

  return {
    has: (field: string) => rules.has(field),
    fields: [...rules.keys()],
    /** The quick way: without the words for what is wrong. */
    parse: (given: Given): z.infer<Schema> | undefined => {
      if (maps.some((field) => whyWrongMap(field, given[field]))) return undefined;
      return whole.safeParse(given).data;
    },
    /** What is wrong with it, in words. */
    broken: (given: Given): FieldError[] => {
      const wrong = maps.flatMap((field) => whyWrongMap(field, given[field]) ?? []);
      if (wrong.some(({ isWhole }) => isWhole)) return wrong;
      return [...wrong, ...toFieldErrors(whole.safeParse(given, parseOptions).error?.issues ?? [])];
    },
    /** The first rule that a value of this field breaks. */
    whyBroken: (field: string, value: unknown): string | undefined => {
      const wrong = isMapField(field) ? whyWrongMap(field, value) : undefined;
      if (wrong) return wrong.message;
      const read = rules.get(field)?.safeParse({ [field]: value }, parseOptions);
      return toFieldErrors(read?.error?.issues ?? [])[0]?.message;
    },
  };
}

export type Rules = ReturnType<typeof createRules>;

/**
 * Before the schema: thousands of entries, each with an error, would cost the time of hundreds of records, and zod drops a
 * `__proto__` entry of a map silently.
 */
function whyWrongMap(field: keyof typeof mapLimits, map: unknown): (FieldError & { isWhole: boolean }) | undefined {
  if (!isMap(map)) return undefined;
  const limit = mapLimits[field];
  if (Object.keys(map).length > limit) return { path: pointer([field]), message: tooMany(limit), isWhole: true };
  if (!Object.hasOwn(map, '__proto__')) return undefined;
  return { path: pointer([field, '__proto__']), message: notAName, isWhole: false };
}
