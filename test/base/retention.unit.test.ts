import { describe, expect, it } from 'vitest';
import { isPastRetention } from '#libs/base/terms/retention';

const past = (month: string, retention: number, now: string) => isPastRetention(month, retention, Date.parse(now));

describe('a month of records', () => {
  it.each([
    // unlimited
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
});
