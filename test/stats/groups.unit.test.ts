import { expect, it } from 'vitest';
import type { Facet } from '#libs/stats/facets';
import { groupedFigures } from '#libs/stats/groups';

it('domains all have a group of their own, and of other values the 200 largest', () => {
  const counts = { reject_all: 0, custom: 0, withdraw: 0, choices: 0, optIns: 0, answers: 0, objections: 0 };
  const facetsOf = (dimension: Facet['dimension']): Facet[] =>
    Array.from({ length: 300 }, (_, index) => ({
      ...{ dimension, value: `v-${index}`, isOther: false, period: '', accept_all: 1 + index },
      ...{ ...counts, allowed: 0, denied: 0, displays: 0 },
    }));
  expect(groupedFigures('domain', facetsOf('domain')).groups).toHaveLength(300);
  const { groups } = groupedFigures('variant', facetsOf('variant'));
  expect(groups).toHaveLength(201);
  expect(groups.at(-1)).toMatchObject({ value: null, other: true, total: (100 * 101) / 2 });
});
