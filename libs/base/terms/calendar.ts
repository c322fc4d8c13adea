/**
 * UTC days (`YYYY-MM-DD`) and months (`YYYY-MM`) as strings, which sort by time; and record ids, UUIDv7 (RFC 9562), whose
 * first 48 bits are the decision's time in milliseconds.
 */

const dayLength = 24 * 60 * 60 * 1000;

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
export const monthOfDay = (day: string): string => day.slice(0, 7);
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);
export const addDays = (day: string, count: number): string => dayOf(startOf(day) + count * dayLength);

/** `2026-02-30` is well-formed but not a date. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const [month, day] = [Number(text.slice(5, 7)), text.slice(8)];
  return month >= 1 && month <= 12 && day >= '01' && text <= lastDay(monthOfDay(text));
}

export function addMonths(month: string, count: number): string {
  const total = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + count;
  return `${String(Math.floor(total / 12)).padStart(4, '0')}-${String((total % 12) + 1).padStart(2, '0')}`;
}

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const firstDay = (month: string): string => `${month}-01`;
export function lastDay(month: string): string {
  const isLeapDay = month.endsWith('-02') && isLeapYear(Number(month.slice(0, 4)));
  return `${month}-${isLeapDay ? 29 : lengths[Number(month.slice(5)) - 1]}`;
}

/** The number of days from `from` to `to`, both inclusive. */
export const countDays = (from: string, to: string): number => (startOf(to) - startOf(from)) / dayLength + 1;

export function daysBetween(from: string, to: string): string[] {
  const first = startOf(from);
  return Array.from({ length: Math.max(0, countDays(from, to)) }, (_, index) => dayOf(first + index * dayLength));
}

export function monthsBetween(from: string, to: string): string[] {
  const months: string[] = [];
  for (let month = monthOfDay(from); month <= monthOfDay(to); month = addMonths(month, 1)) months.push(month);
  return months;
}

export const isMonth = (period: string): boolean => period.length === 7;

/** Consecutive days, or consecutive months; both ends inclusive. */
export interface Span {
  from: string;
  to: string;
}

export const spanOf = (period: string): Span => ({ from: period, to: period });

export const periodsOf = (spans: Span[]): string[] =>
  spans.flatMap(({ from, to }) => (isMonth(from) ? monthsBetween(from, to) : daysBetween(from, to)));

/**
 * The fewest counters that add up to `from`…`to` (inclusive): whole months, and days at the edges.
 * Five years are at most 60 months and 60 days.
 */
export function cover(from: string, to: string): Span[] {
  const [first, last] = [monthOfDay(from), monthOfDay(to)];
  const begins = from === firstDay(first);
  const ends = to === lastDay(last);
  if (first === last) return [begins && ends ? { from: first, to: first } : { from, to }];
  const whole = { from: begins ? first : addMonths(first, 1), to: ends ? last : addMonths(last, -1) };
  return [
    ...(begins ? [] : [{ from, to: lastDay(first) }]),
    ...(whole.from <= whole.to ? [whole] : []),
    ...(ends ? [] : [{ from: firstDay(last), to }]),
  ];
}

export const uuidv7Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** An id with this time (Unix milliseconds). The rest is random, taken from a version 4 UUID, including the variant. */
export const makeIdAt = (time: number): string => `${timePart(time)}-7${crypto.randomUUID().slice(15)}`;

/** The id with this time whose other bits come from `digest` (hex, at least 20 digits): equal input gives an equal id. */
export function idOfDigest(time: number, digest: string): string {
  const variant = ((Number.parseInt(digest[3] ?? '0', 16) & 3) | 8).toString(16);
  return `${timePart(time)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** The lower bound for ranges of ids from that time on. */
export const lowestIdAt = (time: number): string => `${timePart(time)}-0000-0000-000000000000`;

function timePart(time: number): string {
  const digits = Math.max(0, time).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The time of the id in Unix milliseconds. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
