/** What the page of an experiment computes. */
import { describe, expect, it } from 'vitest';
import type { DomainStats } from '#libs/stats/contract';
import { equalSharesP } from '../../apps/dashboard/data/equal-shares.ts';
import {
  conclusionOf,
  type Experiment,
  experimentsOf,
  measure,
  unevenness,
} from '../../apps/dashboard/data/experiment-figures.ts';
import { newcombe, wilson } from '../../apps/dashboard/data/proportions.ts';

const of = (part: number, all: number) => ({ part, all });

describe('intervals of proportions', () => {
  // Newcombe 1998, Statistics in Medicine 17:857–872, table I, method 3
  it.each([
    [81, 263, 0.2553, 0.3662],
    [0, 20, 0, 0.1611],
  ])('%i of %i is Wilson’s, as published', (part, all, low, high) => {
    const interval = wilson(of(part, all));
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  // Newcombe 1998, Statistics in Medicine 17:873–890, table II, method 10
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
  ])('%i of %i less %i of %i is Newcombe’s, as published', (part, all, otherPart, otherAll, low, high) => {
    const interval = newcombe(of(part, all), of(otherPart, otherAll));
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });
});

describe('the test for equal shares', () => {
  // critical values of the chi-square distribution: the statistic of each set of counts, and its p
  it.each([
    ['2 equal', [50, 50], 1],
    ['2 at 3.841', [1_000 + 43.823, 1_000 - 43.823], 0.05],
    ['2 at 10.828', [1_000 + 73.58, 1_000 - 73.58], 0.001],
    ['3 at 13.816', [1_000 + 83.11, 1_000 - 83.11, 1_000], 0.001],
    ['7 at 22.458', [1_000 + 105.97, 1_000 - 105.97, 1_000, 1_000, 1_000, 1_000, 1_000], 0.001],
    ['none', [0, 0], 1],
  ])('%s', (_, counts, p) => {
    expect(equalSharesP(counts)).toBeCloseTo(p, 4);
  });
});

const experiment = (...variants: [string, number, number, number?][]): Experiment => ({
  name: 'wording',
  variants: variants.map(([name, part, all, displays]) => ({ name, part, all, displays })),
});

describe('what may be concluded', () => {
  it.each<[string, Experiment, string[]]>([
    ['one variant', experiment(['a', 5, 10]), ['There is only one variant, so there is nothing to compare.']],
    [
      'few choices',
      experiment(['a', 50, 100], ['b', 90, 99]),
      ['Too early to tell: each variant needs at least 100 choices.'],
    ],
    ['better', experiment(['a', 48, 100], ['b', 560, 700]), ['“b” is better than “a” by 21.8 to 41.9 points.']],
    ['worse', experiment(['a', 560, 700], ['b', 48, 100]), ['“b” is worse than “a” by 21.8 to 41.9 points.']],
    [
      'undecided, each against the first',
      experiment(['a', 100, 200], ['b', 105, 200], ['c', 160, 200]),
      [
        'Too early to tell: “b” may be up to 7.2 points worse than “a”, or up to 12.2 points better.',
        '“c” is better than “a” by 20.8 to 38.5 points.',
      ],
    ],
  ])('%s', (_, given, sentences) => {
    expect(conclusionOf(given)).toEqual(sentences);
  });

  it('a variant without choices has no rate', () => {
    expect(measure(experiment(['a', 0, 0], ['b', 1, 2]))).toMatchObject([
      { rate: null, interval: null, difference: null },
      { rate: 0.5, difference: null },
    ]);
  });

  it('a warning where shares are far from equal: of displays where all have them, otherwise of choices', () => {
    expect(unevenness(experiment(['a', 0, 1_000], ['b', 0, 1_040]))).toBeNull();
    expect(unevenness(experiment(['a', 0, 1_000], ['b', 0, 1_300]))).toContain('numbers of choices');
    expect(unevenness(experiment(['a', 0, 1_000, 5_000], ['b', 0, 1_300, 5_010]))).toBeNull();
    expect(unevenness(experiment(['a', 0, 500, 5_000], ['b', 0, 500, 5_900]))).toContain('numbers of displays');
    expect(unevenness(experiment(['a', 0, 1_000]))).toBeNull();
  });
});

describe('experiments', () => {
  it('are what variants have before the first colon or slash; `control`, else the first by name, is compared with', () => {
    const breakdown = { accept_all: 0, reject_all: 0, custom: 0, withdraw: 0 };
    const values = ['text:short', 'text:plain', null, 'size/b/c', 'size/control', 'size/a', 'old', ':x', 'end:'];
    const groups = values.map((value) => ({ value, total: 4, breakdown, choices: 4, optInRate: 0.75 }));
    const found = experimentsOf({ groups } as DomainStats);
    expect(found.map(({ name, variants }) => [name, ...variants.map((variant) => variant.name)])).toEqual([
      ['text', 'plain', 'short'],
      ['size', 'control', 'a', 'b/c'],
      ['', 'end:', 'old', 'x'],
    ]);
    expect(found[0]?.variants[0]).toMatchObject({ part: 3, all: 4 });
  });
});
