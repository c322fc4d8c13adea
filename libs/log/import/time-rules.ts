/** How a file writes its times. */

export interface TimeRules {
  /** in Luxon's words, such as `dd/MM/yyyy HH:mm`; or `unix` (seconds), `unix-ms`; absent: ISO 8601 */
  format?: string | undefined;
  /** IANA's name; absent: UTC */
  zone?: string | undefined;
}

/** milliseconds of one */
export const counted: ReadonlyMap<string, number> = new Map([
  ['unix', 1_000],
  ['unix-ms', 1],
]);

/** Letters that mean a part of a time. */
const tokens = new Set('yyyy yy M MM MMM MMMM d dd H HH h hh m mm s ss S SSS u a Z ZZ ZZZ z'.split(' '));

/** What stands between quotes means itself. */
export const partsOf = (format: string): string => format.replaceAll(/'[^']*'/g, ' ');

const needed = [
  ['y', 'the year (yyyy)'],
  ['M', 'the month (MM)'],
  ['d', 'the day (dd)'],
] as const;

/** By the first letter of what other programs write. */
const meant: Readonly<Record<string, string>> = { y: 'years are yy or yyyy', d: 'days are d or dd' };

/** What is wrong with it, in words; undefined where it says year, month and day, in letters that are known. */
export function formatProblem(format: string): string | undefined {
  if (counted.has(format)) return undefined;
  const parts = partsOf(format);
  if (parts.includes("'")) return 'a quote is not closed';
  const runs: string[] = parts.match(/([A-Za-z])\1*/g) ?? [];
  const unknown = runs.filter((run) => !tokens.has(run));
  if (unknown.length > 0) return [...new Set(unknown)].map(unknownRun).join(', ');
  const missing = needed.find(([letter]) => !runs.some((run) => run.startsWith(letter)));
  if (missing) return `${missing[1]} is missing`;
  const again = runs.find((run, at) => runs.findIndex((before) => kindOf(before) === kindOf(run)) !== at);
  if (again) return `${again} says again what stands before it: each part of a time stands once`;
  const half = runs.find((run) => run.startsWith('h'));
  return half && !runs.includes('a') ? `${half} needs a for AM or PM; ${half.toUpperCase()} has 24 hours` : undefined;
}

/** Hours have two letters, and so do parts of a second and zones. */
const same: Readonly<Record<string, string>> = { h: 'H', u: 'S', z: 'Z' };
/** Which part of a time: with several of one, there would be more ways to read a text than can be tried. */
const kindOf = (run: string): string => same[run.charAt(0)] ?? run.charAt(0);

const unknownRun = (run: string): string =>
  `${run} is unknown (${meant[run.charAt(0).toLowerCase()] ?? `what means itself stands between quotes: '${run}'`})`;

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
