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

/** Whether it says year, month and day, in letters that are known. */
export function isTimeFormat(format: string): boolean {
  if (counted.has(format)) return true;
  const runs: string[] = partsOf(format).match(/([A-Za-z'])\1*/g) ?? [];
  const isHalved = runs.some((run) => run.startsWith('h')) && !runs.includes('a');
  const hasAll = ['y', 'M', 'd'].every((letter) => runs.some((run) => run.startsWith(letter)));
  return hasAll && !isHalved && runs.every((run) => tokens.has(run));
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}
