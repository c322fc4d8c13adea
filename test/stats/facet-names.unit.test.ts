import { expect, it } from 'vitest';
import { daysBetween } from '#libs/base/terms/calendar';
import { nameOf } from '#libs/stats/facets';

it('what is asked is kept by a name that no number of days makes longer', () => {
  const asked = (from: string, isByPeriod = true) => ({
    ...{ organizationId: 'org', domainId: '', dimensions: ['source' as const], isByPeriod },
    periods: daysBetween(from, '2026-12-31'),
  });
  const names = [asked('2026-01-01'), asked('2026-01-02'), asked('2026-12-31'), asked('2026-12-31', false)].map(nameOf);
  expect(new Set(names.map(({ length }) => length))).toEqual(new Set([44]));
  expect(new Set(names).size).toBe(4);
});
