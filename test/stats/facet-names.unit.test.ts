import { expect, it } from 'vitest';
import { nameOf } from '#libs/stats/facets';

it('what is asked is kept by a name that no number of days makes longer', () => {
  const asked = (from: string, isByPeriod = true) => ({
    ...{ organizationId: 'org', domainId: '', dimensions: ['source' as const], isByPeriod },
    spans: [{ from, to: '2026-12-31' }],
  });
  const questions = [asked('2026-01-01'), asked('2026-01-02'), asked('2026-12-31'), asked('2026-12-31', false)];
  const names = [...questions, { ...asked('2026-01-01'), domainId: 'source' }].map(nameOf);
  expect(Math.max(...names.map(({ length }) => length))).toBeLessThan(60);
  expect(new Set(names).size).toBe(5);
});
