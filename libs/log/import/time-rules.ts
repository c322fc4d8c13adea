/** The format of a file's times. */

export interface TimeRules {
  /** in Luxon's letters, such as `dd/MM/yyyy HH:mm`; or `unix` (seconds), `unix-ms`; absent: ISO 8601 */
  format?: string | undefined;
  /** IANA's name; absent: UTC */
  zone?: string | undefined;
}

/** milliseconds of a unit */
export const unixUnits: ReadonlyMap<string, number> = new Map([
  ['unix', 1_000],
  ['unix-ms', 1],
]);

/** Luxon's tokens for parts of a time. */
const tokens = new Set('yyyy yy M MM MMM MMMM d dd H HH h hh m mm s ss S SSS u a Z ZZ ZZZ z'.split(' '));

/** The format without its quoted literals. */
export const partsOf = (format: string): string => format.replaceAll(/'[^']*'/g, ' ');

const needed = [
  ['y', 'the year (yyyy)'],
  ['M', 'the month (MM)'],
  ['d', 'the day (dd)'],
] as const;

/** Advice on format letters of other programs, by the first letter in lower case. */
const advice: Readonly<Record<string, string>> = { y: 'years are yy or yyyy', d: 'days are d or dd' };

/** What is wrong with it; undefined for a format with year, month and day, in known letters. */
export function formatProblem(format: string): string | undefined {
  if (unixUnits.has(format)) return undefined;
  const parts = partsOf(format);
  if (parts.includes("'")) return 'a quote is not closed';
  const runs: string[] = parts.match(/([A-Za-z])\1*/g) ?? [];
  const unknown = runs.filter((run) => !tokens.has(run));
  if (unknown.length > 0) return [...new Set(unknown)].map(unknownRun).join(', ');
  const missing = needed.find(([letter]) => !runs.some((run) => run.startsWith(letter)));
  if (missing) return `${missing[1]} is missing`;
  const again = runs.find((run, at) => runs.findIndex((before) => kindOf(before) === kindOf(run)) !== at);
  if (again) return `${again} repeats an earlier part: each part may occur only once`;
  const half = runs.find((run) => run.startsWith('h'));
  return half && !runs.includes('a') ? `${half} needs a for AM or PM; ${half.toUpperCase()} has 24 hours` : undefined;
}

/** Hours, parts of a second and zones have two letters each. */
const sameKind: Readonly<Record<string, string>> = { h: 'H', u: 'S', z: 'Z' };
/** Which part of a time. Each may occur once: with repetitions there would be too many ways to read a text. */
const kindOf = (run: string): string => sameKind[run.charAt(0)] ?? run.charAt(0);

const unknownRun = (run: string): string =>
  `${run} is unknown (${advice[run.charAt(0).toLowerCase()] ?? `put literal text in quotes: '${run}'`})`;

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
