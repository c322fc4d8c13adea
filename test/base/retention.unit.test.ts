import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDays, addMonths, firstDay, monthOf } from '#libs/base/terms/calendar';
import { isPastRetention } from '#libs/base/terms/retention';
import { acceptedPast } from '#libs/base/terms/terms';

const past = (month: string, retention: number, now: string) => isPastRetention(month, retention, Date.parse(now));

describe('a month of records', () => {
  it.each([
    // for ever
    ['2000-01', 0, '2026-11-20T12:00:00.000Z', false],
    // kept: the current month and as many whole months before it
    ['2026-08', 2, '2026-11-20T12:00:00.000Z', true],
    ['2026-09', 2, '2026-11-30T23:59:59.999Z', false],
    ['2026-09', 2, '2026-12-01T00:00:00.000Z', true],
    ['2025-11', 12, '2026-11-20T12:00:00.000Z', false],
    ['2025-10', 12, '2026-11-20T12:00:00.000Z', true],
    // with one month, what records may still arrive for counts as well
    ['2026-01', 1, '2026-03-04T23:59:59.999Z', false],
    ['2026-01', 1, '2026-03-05T00:00:00.000Z', true],
    ['2023-12', 1, '2024-02-29T23:59:59.999Z', true],
    // the current month and those to come
    ['2026-11', 1, '2026-11-20T12:00:00.000Z', false],
    ['2027-01', 1, '2026-11-20T12:00:00.000Z', false],
  ])('%s with %i months of retention at %s: %s', (month, retention, now, expected) => {
    expect(past(month, retention, now)).toBe(expected);
  });

  it('goes only when neither its retention nor the window for late records holds any of it, and then goes', () => {
    const times = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2030-01-01') });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 36 }), fc.integer({ min: 0, max: 48 }), (now, retention, age) => {
        const month = addMonths(monthOf(now), -age);
        const lastMoment = Date.parse(firstDay(addMonths(month, 1))) - 1;
        const gone = isPastRetention(month, retention, now);
        if (gone) {
          expect(age).toBeGreaterThan(retention);
          expect(lastMoment).toBeLessThan(now - acceptedPast);
        } else if (age > retention) {
          // kept only for late records, and a few days at most
          const end = firstDay(addMonths(month, 1));
          expect(addDays(end, 33) >= new Date(now).toISOString().slice(0, 10)).toBe(true);
        }
      }),
    );
  });
});
