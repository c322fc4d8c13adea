/** UTC days (`YYYY-MM-DD`) and months (`YYYY-MM`), as strings: they sort as they are and name counters as they are. */

const dayLength = 24 * 60 * 60 * 1000;

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);
export const monthOfDay = (day: string): string => day.slice(0, 7);
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);
export const addDays = (day: string, count: number): string => dayOf(startOf(day) + count * dayLength);

/** `2026-02-30` is well-formed but no date. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = startOf(text);
  return !Number.isNaN(time) && dayOf(time) === text;
}

export function addMonths(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const total = year * 12 + (number - 1) + count;
  return `${String(Math.floor(total / 12)).padStart(4, '0')}-${String((total % 12) + 1).padStart(2, '0')}`;
}

export const firstDay = (month: string): string => `${month}-01`;
export const lastDay = (month: string): string => addDays(firstDay(addMonths(month, 1)), -1);

/** How many days from `from` to `to`, both inclusive. */
export const countDays = (from: string, to: string): number => (startOf(to) - startOf(from)) / dayLength + 1;

export function daysBetween(from: string, to: string): string[] {
  return Array.from({ length: Math.max(0, countDays(from, to)) }, (_, index) => addDays(from, index));
}

export function monthsBetween(from: string, to: string): string[] {
  const months: string[] = [];
  for (let month = monthOfDay(from); month <= monthOfDay(to); month = addMonths(month, 1)) months.push(month);
  return months;
}

/**
 * The fewest counters that add up to `from`…`to` (inclusive): whole months, and days at the edges.
 * Five years are at most 60 months and 60 days.
 */
export function cover(from: string, to: string): string[] {
  return monthsBetween(from, to).flatMap((month) => {
    const begins = firstDay(month) >= from;
    const ends = month < monthOfDay(to) || lastDay(month) <= to;
    if (begins && ends) return [month];
    return daysBetween(begins ? firstDay(month) : from, ends ? lastDay(month) : to);
  });
}
