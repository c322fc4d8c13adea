import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDays,
  addMonths,
  countDays,
  cover,
  dayOf,
  daysBetween,
  isDate,
  lastDay,
  monthOf,
  monthOfDay,
  monthsBetween,
  periodsOf,
  startOf,
} from '#libs/base/terms/calendar';

const day = (min: string, max: string) =>
  fc.integer({ min: startOf(min), max: startOf(max) }).map((time) => dayOf(time));
const range = (min: string, max: string) =>
  fc
    .tuple(day(min, max), day(min, max))
    .map(([one, other]): [string, string] => (one < other ? [one, other] : [other, one]));

it('a UTC day begins at midnight and ends a millisecond before the next', () => {
  fc.assert(
    fc.property(day('2000-01-01', '2100-12-31'), (date) => {
      expect(dayOf(startOf(date))).toBe(date);
      expect(dayOf(startOf(date) - 1)).toBe(addDays(date, -1));
      expect(dayOf(startOf(addDays(date, 1)) - 1)).toBe(date);
      expect([monthOf(startOf(date)), monthOfDay(date)]).toEqual([date.slice(0, 7), date.slice(0, 7)]);
    }),
  );
});

describe('the calendar', () => {
  it('knows leap years, and the last day of each month', () => {
    const lengths = monthsBetween('2025-01-01', '2025-12-31').map((month) => Number(lastDay(month).slice(8)));
    expect(lengths).toEqual([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
    const februaries = ['2000-02-29', '2024-02-29', '2025-02-28', '2100-02-28'];
    expect(februaries.map((date) => lastDay(monthOfDay(date)))).toEqual(februaries);
    expect([addDays('2024-02-28', 1), addDays('2100-02-28', 1)]).toEqual(['2024-02-29', '2100-03-01']);
    expect([countDays('2024-01-01', '2024-12-31'), countDays('2100-01-01', '2100-12-31')]).toEqual([366, 365]);
  });

  it('adds months across years', () => {
    const added = [addMonths('2026-12', 1), addMonths('2026-01', -13), addMonths('2026-11', 26)];
    expect(added).toEqual(['2027-01', '2024-12', '2029-01']);
  });

  it('recognizes dates', () => {
    expect(['2026-02-28', '2024-02-29', '2000-02-29'].every(isDate)).toBe(true);
    const days = ['2026-02-29', '2026-02-30', '2100-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-10-00'];
    const forms = ['2026-1-1', '2026-10-10T00:00:00Z', '2026-10-10\n', ' 2026-10-10', '+2026-10-10', ''];
    expect([...days, ...forms].filter(isDate)).toEqual([]);
  });

  it('lists days and months with both ends, across a year and a leap day', () => {
    expect(daysBetween('2023-12-30', '2024-01-02')).toEqual(['2023-12-30', '2023-12-31', '2024-01-01', '2024-01-02']);
    expect(daysBetween('2024-02-28', '2024-03-01')).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
    expect(daysBetween('2024-03-01', '2024-02-29')).toEqual([]);
    expect(monthsBetween('2023-11-30', '2024-02-01')).toEqual(['2023-11', '2023-12', '2024-01', '2024-02']);
    expect(monthsBetween('2024-02-01', '2024-02-29')).toEqual(['2024-02']);
  });
});

describe('cover', () => {
  it.each([
    ['a day', '2024-02-29', '2024-02-29', ['2024-02-29']],
    ['a month', '2024-02-01', '2024-02-29', ['2024-02']],
    ['a month but its last day', '2023-12-01', '2023-12-30', daysBetween('2023-12-01', '2023-12-30')],
    ['a leap February but its last day', '2024-02-01', '2024-02-28', daysBetween('2024-02-01', '2024-02-28')],
    ['two days over a year', '2023-12-31', '2024-01-01', ['2023-12-31', '2024-01-01']],
    ['a year', '2024-01-01', '2024-12-31', monthsBetween('2024-01-01', '2024-12-31')],
    ['a month with edges', '2024-01-31', '2024-03-02', ['2024-01-31', '2024-02', '2024-03-01', '2024-03-02']],
  ])('of %s is the fewest counters', (_, from, to, expected) => {
    expect(periodsOf(cover(from, to))).toEqual(expected);
  });

  it('adds up to the days, in whole months and at most 60 days at the edges', () => {
    const counts = fc.infiniteStream(fc.nat(1_000));
    fc.assert(
      fc.property(range('2023-06-01', '2027-03-01'), counts, ([from, to], stream) => {
        // counts lie also outside the range, so that a counter too many is seen
        const first = monthsBetween(from, from)[0] ?? '';
        const perDay = new Map(
          daysBetween(`${first}-01`, lastDay(monthOfDay(to))).map((date) => [date, stream.next().value ?? 0]),
        );
        const sumOf = (dates: string[]) => dates.reduce((sum, date) => sum + (perDay.get(date) ?? Number.NaN), 0);
        const countOf = (period: string) =>
          period.length === 10 ? sumOf([period]) : sumOf(daysBetween(`${period}-01`, lastDay(period)));
        const periods = periodsOf(cover(from, to));
        expect(periods.reduce((sum, period) => sum + countOf(period), 0)).toBe(sumOf(daysBetween(from, to)));
        const months = periods.filter((period) => period.length === 7);
        expect(new Set(periods).size).toBe(periods.length);
        expect(periods.length - months.length).toBeLessThanOrEqual(60);
        for (const month of months) expect(`${month}-01` >= from && lastDay(month) <= to).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
