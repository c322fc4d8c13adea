/**
 * The rules for the fields of a record or a display. An invalid `decision`, `id` or, in a `custom` record, `preferences`
 * makes the body invalid. The other fields only describe the decision: an invalid value is corrected if its meaning is
 * clear, else left out, so that no decision is lost.
 */
import { z } from 'zod';
import { parseOptions, pointer, toFieldErrors } from '#libs/base/terms/field-errors';
import type { FieldError } from '#libs/base/terms/problem';
import { describeLeftOut, type LeftOut } from './left-out.ts';

interface CheckOptions {
  /** the page's origin, from the request's header */
  origin?: string | undefined;
  /** reports mistakes instead of correcting or leaving out: for testing an integration */
  isStrict?: boolean;
}

type Checked<Body> =
  | { body: Body; leftOut: LeftOut[]; broken?: undefined }
  | { body?: undefined; leftOut?: undefined; broken: FieldError[] };

type Given = Record<string, unknown>;

const notKnown = 'is not a known field';
const notAName = 'is not an allowed name';

const isMap = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value);

const isMapField = (field: string): field is keyof typeof mapLimits => Object.hasOwn(mapLimits, field);

/** Checks a body. A valid one takes the fast path: it is parsed only once. */
export function createCheck<Schema extends z.ZodObject>(schema: Schema) {
  const rules = createRules(schema);
  const { fields } = rules;

  return (given: Given, { origin, isStrict = false }: CheckOptions = {}): Checked<z.infer<Schema>> => {
    const unknown = Object.keys(given).filter((field) => !rules.has(field) && given[field] !== null);
    const body = rules.parse(given);
    if (body && unknown.length === 0) return { body, leftOut: [] };
    if (isStrict) return strictly(given, unknown);
    const ofNoField = unknown.map((field) => describeLeftOut(field, notKnown, given[field]));
    if (body) return { body, leftOut: ofNoField };
    // the categories of a `custom` record are its decision
    const decisiveFields = given.decision === 'custom' ? ['decision', 'id', 'preferences'] : ['decision', 'id'];
    const { kept, leftOut } = dropInvalid(withoutAbsent(given, fields), rules, { decides: decisiveFields, origin });
    const read = rules.parse(kept);
    return read ? { body: read, leftOut: [...leftOut, ...ofNoField] } : { broken: rules.broken(kept) };
  };

  function strictly(given: Given, unknown: string[]): Checked<z.infer<Schema>> {
    const present = withoutAbsent(given, fields);
    const body = rules.parse(present);
    if (body && unknown.length === 0) return { body, leftOut: [] };
    const ofNoField = unknown.map((field) => ({ path: pointer([field]), message: notKnown }));
    return { broken: [...rules.broken(present), ...ofNoField] };
  }
}

/** Derives the rules of a body, and of each field alone, from its schema. */
export function createRules<Schema extends z.ZodObject>(schema: Schema) {
  const whole = z.compile(schema);
  const rules = new Map(
    Object.entries(schema.shape).map(([field, rule]) => [field, z.compile(z.object({ [field]: rule }))]),
  );
  const maps = [...rules.keys()].filter(isMapField);

  return {
    has: (field: string) => rules.has(field),
    fields: [...rules.keys()],
    /** The fast path, without error messages. */
    parse: (given: Given): z.infer<Schema> | undefined => {
      if (maps.some((field) => mapError(field, given[field]))) return undefined;
      return whole.safeParse(given).data;
    },
    /** The errors with messages. */
    broken: (given: Given): FieldError[] => {
      const wrong = maps.flatMap((field) => mapError(field, given[field]) ?? []);
      if (wrong.some(({ isWhole }) => isWhole)) return wrong;
      return [...wrong, ...toFieldErrors(whole.safeParse(given, parseOptions).error?.issues ?? [])];
    },
    /** The message of the first rule that the field's value breaks. */
    firstError: (field: string, value: unknown): string | undefined => {
      const wrong = isMapField(field) ? mapError(field, value) : undefined;
      if (wrong) return wrong.message;
      const read = rules.get(field)?.safeParse({ [field]: value }, parseOptions);
      return toFieldErrors(read?.error?.issues ?? [])[0]?.message;
    },
  };
}

type Rules = ReturnType<typeof createRules>;

/**
 * Runs before the schema: a map with thousands of invalid entries would cost as much as hundreds of records, and zod
 * silently drops a `__proto__` entry.
 */
function mapError(field: keyof typeof mapLimits, map: unknown): (FieldError & { isWhole: boolean }) | undefined {
  if (!isMap(map)) return undefined;
  const limit = mapLimits[field];
  if (Object.keys(map).length > limit) return { path: pointer([field]), message: tooMany(limit), isWhole: true };
  if (!Object.hasOwn(map, '__proto__')) return undefined;
  return { path: pointer([field, '__proto__']), message: notAName, isWhole: false };
}

/** Null means absent, in fields and in maps. PHP writes an empty map as an empty list. */
function withoutAbsent(given: Given, fields: readonly string[]): Given {
  const present: Given = {};
  for (const field of fields) {
    const value = given[field];
    if (value !== null && value !== undefined) present[field] = isMapField(field) ? withoutNulls(value) : value;
  }
  return present;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isMap(value) || !Object.values(value).includes(null)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
}

/**
 * Corrects or removes the invalid values of a body. Only the fields in `decides` can still be invalid afterwards. `origin`:
 * the page's origin, from the request's header.
 */
export function dropInvalid(
  present: Given,
  rules: Pick<Rules, 'firstError'>,
  { decides, origin }: { decides: readonly string[]; origin?: string | undefined },
): { kept: Given; leftOut: LeftOut[] } {
  const kept: Given = {};
  const leftOut: LeftOut[] = [];
  for (const [field, sent] of Object.entries(present)) {
    const value = field === 'preferences' ? wordsToBooleans(sent) : correct(field, sent, origin);
    const why = decides.includes(field) ? undefined : rules.firstError(field, value);
    if (why === undefined) kept[field] = value;
    else if (isMapField(field) && isMap(value) && Object.keys(value).length <= mapLimits[field]) {
      const entries = dropInvalidEntries(field, value, rules);
      leftOut.push(...entries.leftOut);
      const whyNot = rules.firstError(field, entries.kept);
      if (whyNot === undefined) kept[field] = entries.kept;
      else leftOut.push(describeLeftOut(field, whyNot, sent));
    } else leftOut.push(describeLeftOut(field, why, sent));
  }
  return { kept, leftOut };
}

function dropInvalidEntries(field: string, map: Given, rules: Pick<Rules, 'firstError'>) {
  const kept: [string, unknown][] = [];
  const leftOut: LeftOut[] = [];
  for (const [name, value] of Object.entries(map)) {
    const why = rules.firstError(field, Object.fromEntries([[name, value]]));
    if (why === undefined) kept.push([name, value]);
    else leftOut.push(describeLeftOut(`${field}.${name}`, why, value));
  }
  return { kept: Object.fromEntries(kept), leftOut };
}

/** Corrects a value whose meaning is clear, and returns any other unchanged. The result may still be invalid. */
type Correction = (value: unknown, origin?: string) => unknown;

const numberAsText: Correction = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : value;

/** Accepts `en_US` and `en_US.UTF-8` from Java, PHP and POSIX; takes the first tag of a list such as `Accept-Language`. */
const firstTag: Correction = (value) =>
  typeof value === 'string' ? (/^[^,;.@]*/.exec(value)?.[0] ?? '').trim().replaceAll('_', '-') : value;

/** Completes a bare path with the page's origin. `//host` is not a path. */
const onSite = (path: string, origin: string | undefined): string =>
  origin !== undefined && origin !== 'null' && /^\/(?!\/)/.test(path) ? origin + path : path;

/** Encodes spaces like a browser. */
const asBrowsersRead = (address: string): string =>
  /\s/.test(address) && URL.canParse(address) ? new URL(address).href : address;

const corrections: Partial<Record<string, Correction>> = {
  visitorId: (value) => (Number.isSafeInteger(value) ? String(value) : value),
  bannerVersion: numberAsText,
  policyVersion: numberAsText,
  variant: numberAsText,
  language: firstTag,
  notice: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  pageUrl: (value, origin) => (typeof value === 'string' ? asBrowsersRead(onSite(value.trim(), origin)) : value),
};

const correct = (field: string, value: unknown, origin: string | undefined): unknown =>
  corrections[field]?.(value, origin) ?? value;

const words = new Map<unknown, boolean>([
  ...['true', 'granted', 'yes', 1].map((word) => [word, true] as const),
  ...['false', 'denied', 'no', 0].map((word) => [word, false] as const),
]);

/** Accepts booleans of `preferences` as words, such as Google Consent Mode's, and as numbers. */
function wordsToBooleans(preferences: unknown): unknown {
  if (!isMap(preferences)) return preferences;
  return Object.fromEntries(Object.entries(preferences).map(([name, value]) => [name, readWord(value)]));
}

const readWord = (value: unknown): unknown =>
  words.get(typeof value === 'string' ? value.toLowerCase() : value) ?? value;

/** Maximum number of entries in each map. */
export const mapLimits = { preferences: 64, metadata: 16 };
export const tooMany = (limit: number) => `must have at most ${limit} entries`;
export const atMost = (count: number) => (map: object) => Object.keys(map).length <= count;
const utf8 = new TextEncoder();
/** A UTF-16 unit takes at most three bytes, so short maps need no encoding. */
export const withinBytes = (bytes: number) => (map: object) => {
  const json = JSON.stringify(map);
  return json.length * 3 <= bytes || utf8.encode(json).length <= bytes;
};

/** maximum length of an address, not counting query and fragment */
const maxPageUrl = 2048;

/**
 * `scheme://` followed by anything without white space, backslash, NUL or lone surrogates, such as an app's
 * `capacitor://localhost/x`.
 */
const addressPattern = /^(?!(?:javascript|data|blob|file|about):)[a-z][a-z0-9+.-]*:\/\/[^\s\\\0\p{Cs}]+$/iu;

/** Ignores query and fragment. */
export function isPageUrl(text: string): boolean {
  const url = withoutQuery(text);
  return url.length <= maxPageUrl && addressPattern.test(url) && URL.canParse(url);
}

export const whyNotPageUrl = (text: string): string =>
  withoutQuery(text).length > maxPageUrl
    ? `must be at most ${maxPageUrl} characters without query and fragment`
    : 'must be a whole URL of well-formed Unicode, such as https://www.example.com/cups';

function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/** Removes query, fragment and credentials, which can identify the visitor. The address must satisfy `isPageUrl`. */
export function storedPageUrl(pageUrl: string): string {
  const kept = withoutQuery(pageUrl);
  if (!kept.includes('@')) return kept;
  const url = new URL(kept);
  url.username = '';
  url.password = '';
  return url.href;
}
