/** Reads JSON from outside, field by field. Throws a ProofError that names the field that is wrong. */
import { ProofError } from './proof-error.ts';

export type Fields = Record<string, unknown>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `what` begins a sentence: “The entry”. */
export function parseObject(text: string, what: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProofError(`${what} is not JSON.`);
  }
  if (!isObject(value)) throw new ProofError(`${what} is not a JSON object.`);
  return value;
}

/** An own field: nothing comes from a prototype. null counts as absent. */
export const fieldOf = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;

export function objectIn(fields: Fields, name: string): Fields {
  const value = fieldOf(fields, name);
  if (!isObject(value)) throw new ProofError(`\`${name}\` is missing, or no object.`);
  return value;
}

export function textIn(fields: Fields, name: string): string {
  const value = maybeText(fields, name);
  if (value === undefined) throw new ProofError(`\`${name}\` is missing.`);
  return value;
}

export function maybeText(fields: Fields, name: string): string | undefined {
  const value = fieldOf(fields, name);
  if (value !== undefined && typeof value !== 'string') throw new ProofError(`\`${name}\` is no text.`);
  return value;
}

export function countIn(fields: Fields, name: string): number {
  const value = fieldOf(fields, name);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ProofError(`\`${name}\` is missing, or no whole number.`);
  }
  return value;
}

export function maybeFlag(fields: Fields, name: string): boolean | undefined {
  const value = fieldOf(fields, name);
  if (value !== undefined && typeof value !== 'boolean') throw new ProofError(`\`${name}\` is neither true nor false.`);
  return value;
}

export function textsIn(fields: Fields, name: string): string[] {
  const value = fieldOf(fields, name);
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) {
    throw new ProofError(`\`${name}\` is missing, or no list of texts.`);
  }
  return value;
}

export function maybeMap<T>(fields: Fields, name: string, isValue: (value: unknown) => value is T) {
  const value = fieldOf(fields, name);
  if (value === undefined) return undefined;
  const map: Record<string, T> = Object.create(null);
  if (!isObject(value)) throw new ProofError(`\`${name}\` is no object.`);
  for (const [key, each] of Object.entries(value)) {
    if (!isValue(each))
      throw new ProofError(`\`${name}\` holds something other than it should at ${JSON.stringify(key)}.`);
    map[key] = each;
  }
  return map;
}
