/**
 * The rules for the fields of a record, or of a display, as a client sends them. `decision`, `id` and, in a `custom` record,
 * `preferences` decide: where one is broken the body is refused. All others describe: what breaks its rule is mended where
 * its meaning is plain, else left out, so that no decision is lost for it.
 */
import { z } from 'zod';
import { parseOptions, pointer, toFieldErrors } from '#libs/base/terms/field-errors';
import type { FieldError } from '#libs/base/terms/problem';
import { type LeftOut, leaveOut } from './left-out.ts';

interface Manner {
  /** of the page, by the request's header */
  origin?: string | undefined;
  /** nothing is mended or left out: for whoever tests an integration */
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

/** A valid body is parsed once. */
export function createCheck<Schema extends z.ZodObject>(schema: Schema) {
  const rules = createRules(schema);
  const { fields } = rules;

  return (given: Given, { origin, isStrict = false }: Manner = {}): Checked<z.infer<Schema>> => {
    const unknown = Object.keys(given).filter((field) => !rules.has(field) && given[field] !== null);
    const body = rules.parse(given);
    if (body && unknown.length === 0) return { body, leftOut: [] };
    if (isStrict) return strictly(given, unknown);
    const ofNoField = unknown.map((field) => leaveOut(field, notKnown, given[field]));
    if (body) return { body, leftOut: ofNoField };
    // what a `custom` record means is in its categories
    const decides = given.decision === 'custom' ? ['decision', 'id', 'preferences'] : ['decision', 'id'];
    const { kept, leftOut } = keepWhatHolds(withoutAbsent(given, fields), rules, { decides, origin });
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

/** The rules of a body by its schema: of the whole, and of each field alone. */
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

type Rules = ReturnType<typeof createRules>;

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

/** Null is absence, in every field and in maps; an empty list is how PHP writes an empty map. */
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
 * What is kept of a body that breaks its rules; what still breaks one afterwards is what decides. `decides`: the fields that are
 * kept as they are; `origin`: of the page, by the request's header.
 */
export function keepWhatHolds(
  present: Given,
  rules: Pick<Rules, 'whyBroken'>,
  { decides, origin }: { decides: readonly string[]; origin?: string | undefined },
): { kept: Given; leftOut: LeftOut[] } {
  const kept: Given = {};
  const leftOut: LeftOut[] = [];
  for (const [field, sent] of Object.entries(present)) {
    const value = field === 'preferences' ? withWords(sent) : mend(field, sent, origin);
    const why = decides.includes(field) ? undefined : rules.whyBroken(field, value);
    if (why === undefined) kept[field] = value;
    else if (isMapField(field) && isMap(value) && Object.keys(value).length <= mapLimits[field]) {
      const entries = entriesThatHold(field, value, rules);
      leftOut.push(...entries.leftOut);
      const whyNot = rules.whyBroken(field, entries.kept);
      if (whyNot === undefined) kept[field] = entries.kept;
      else leftOut.push(leaveOut(field, whyNot, sent));
    } else leftOut.push(leaveOut(field, why, sent));
  }
  return { kept, leftOut };
}

function entriesThatHold(field: string, map: Given, rules: Pick<Rules, 'whyBroken'>) {
  const kept: [string, unknown][] = [];
  const leftOut: LeftOut[] = [];
  for (const [name, value] of Object.entries(map)) {
    const why = rules.whyBroken(field, Object.fromEntries([[name, value]]));
    if (why === undefined) kept.push([name, value]);
    else leftOut.push(leaveOut(`${field}.${name}`, why, value));
  }
  return { kept: Object.fromEntries(kept), leftOut };
}

/** What a value plainly means that breaks its field's rule. What comes back may still break it. */
type Mend = (value: unknown, origin?: string) => unknown;

const numberAsText: Mend = (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : value);

/** `en_US` and `en_US.UTF-8` as Java, PHP and POSIX write it; of a list, such as a header `Accept-Language`, the first. */
const firstTag: Mend = (value) =>
  typeof value === 'string' ? (/^[^,;.@]*/.exec(value)?.[0] ?? '').trim().replaceAll('_', '-') : value;

/** Of a page that told its path alone: the path on the site that the browser names. `//host` is no path. */
const onSite = (path: string, origin: string | undefined): string =>
  origin !== undefined && origin !== 'null' && /^\/(?!\/)/.test(path) ? origin + path : path;

/** With `%20` for a blank. */
const asBrowsersRead = (address: string): string =>
  /\s/.test(address) && URL.canParse(address) ? new URL(address).href : address;

const mends: Partial<Record<string, Mend>> = {
  visitorId: (value) => (Number.isSafeInteger(value) ? String(value) : value),
  bannerVersion: numberAsText,
  policyVersion: numberAsText,
  variant: numberAsText,
  language: firstTag,
  notice: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
  pageUrl: (value, origin) => (typeof value === 'string' ? asBrowsersRead(onSite(value.trim(), origin)) : value),
};

/** `origin`: of the page, by the request's header. */
const mend = (field: string, value: unknown, origin: string | undefined): unknown =>
  mends[field]?.(value, origin) ?? value;

const words = new Map<unknown, boolean>([
  ...['true', 'granted', 'yes', 1].map((word) => [word, true] as const),
  ...['false', 'denied', 'no', 0].map((word) => [word, false] as const),
]);

/** The booleans of `preferences`, also in Google Consent Mode's words and those of languages without booleans. */
function withWords(preferences: unknown): unknown {
  if (!isMap(preferences)) return preferences;
  return Object.fromEntries(Object.entries(preferences).map(([name, value]) => [name, readWord(value)]));
}

const readWord = (value: unknown): unknown =>
  words.get(typeof value === 'string' ? value.toLowerCase() : value) ?? value;

/** Entries. */
export const mapLimits = { preferences: 64, metadata: 16 };
export const tooMany = (limit: number) => `must have at most ${limit} entries`;
export const atMost = (count: number) => (map: object) => Object.keys(map).length <= count;
const utf8 = new TextEncoder();
/** A UTF-16 unit has at most three bytes, so short ones need no encoding. */
export const withinBytes = (bytes: number) => (map: object) => {
  const json = JSON.stringify(map);
  return json.length * 3 <= bytes || utf8.encode(json).length <= bytes;
};

/** characters of the address of a page, or of a screen of an app, without query and fragment */
const maxPageUrl = 2048;

/** `scheme://` and something behind it that can be stored, such as an app's `capacitor://localhost/x`. */
const addressPattern = /^(?!(?:javascript|data|blob|file|about):)[a-z][a-z0-9+.-]*:\/\/[^\s\\\0\p{Cs}]+$/iu;

/** Query and fragment are not judged. */
export function isPageUrl(text: string): boolean {
  const url = withoutQuery(text);
  return url.length <= maxPageUrl && addressPattern.test(url) && URL.canParse(url);
}

export const whyNoPageUrl = (text: string): string =>
  withoutQuery(text).length > maxPageUrl
    ? `must be at most ${maxPageUrl} characters without query and fragment`
    : 'must be a whole URL of well-formed Unicode, such as https://www.example.com/cups';

function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/** Query, fragment and credentials of an address that `isPageUrl` can identify the visitor, so they are not stored. */
export function storedPageUrl(pageUrl: string): string {
  const kept = withoutQuery(pageUrl);
  if (!kept.includes('@')) return kept;
  const url = new URL(kept);
  url.username = '';
  url.password = '';
  return url.href;
}
