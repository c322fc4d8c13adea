/** The fields of a record as a client sends them: checked one by one, and as they are stored. */
import { parseOptions, toFieldErrors } from '#libs/base/terms/field-errors';
import type { FieldError } from '#libs/base/terms/problem';
import { compiledRecordBody, mapLimits, type RecordBody, tooMany } from './contract.ts';

type Checked = { body: RecordBody; broken?: undefined } | { body?: undefined; broken: FieldError[] };

export function checkRecord(given: Record<string, unknown>): Checked {
  const crowded = [...crowdedMap(given, 'preferences'), ...crowdedMap(given, 'metadata')];
  if (crowded.length > 0) return { broken: crowded };
  const result = compiledRecordBody.safeParse(given, parseOptions);
  const unseen = prototypeNames(given);
  if (result.success && unseen.length === 0) return { body: result.data };
  return { broken: [...unseen, ...toFieldErrors(result.error?.issues ?? [])] };
}

/** Checked first: thousands of entries, each with an error, would cost the time of hundreds of records. */
function crowdedMap(given: Record<string, unknown>, field: keyof typeof mapLimits): FieldError[] {
  const limit = mapLimits[field];
  const map = given[field];
  if (!isObject(map) || Object.keys(map).length <= limit) return [];
  return [{ path: `/${field}`, message: tooMany(limit) }];
}

/** zod drops a `__proto__` entry of a map silently, so it is looked for here. */
function prototypeNames({ preferences, metadata }: Record<string, unknown>): FieldError[] {
  const found: FieldError[] = [];
  if (namesPrototype(preferences)) found.push({ path: '/preferences/__proto__', message: 'is not an allowed name' });
  if (namesPrototype(metadata)) found.push({ path: '/metadata/__proto__', message: 'is not an allowed name' });
  return found;
}

const namesPrototype = (map: unknown): boolean => isObject(map) && Object.hasOwn(map, '__proto__');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Query, fragment and credentials of a page's address can identify the visitor, so they are not stored. */
export function withoutQuery(pageUrl: string): string {
  const end = pageUrl.search(/[?#]/);
  const kept = end === -1 ? pageUrl : pageUrl.slice(0, end);
  if (!kept.includes('@')) return kept;
  const { origin, pathname } = new URL(kept);
  return origin + pathname;
}

export const countryIn = (header: string): string | undefined =>
  /^[A-Za-z]{2}$/.test(header) ? header.toUpperCase() : undefined;
