/** What the page of an experiment computes. */
import { describe, expect, it } from 'vitest';
import { equalSharesP, newcombe, wilson } from '../../apps/dashboard/data/proportions.ts';

const of = (part: number, all: number) => ({ part, all });

describe('intervals of proportions', () => {
  // Newcombe 1998, Statistics in Medicine 17:857–872, table I, method 3
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i is Wilson’s, as published', (part, all, low, high) => {
    const interval = wilson(of(part, all));
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  // Newcombe 1998, Statistics in Medicine 17:873–890, table II, method 10
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
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
    ['4 at 16.266', [1_000 + 90.18, 1_000 - 90.18, 1_000, 1_000], 0.001],
    ['5 at 18.467', [1_000 + 96.09, 1_000 - 96.09, 1_000, 1_000, 1_000], 0.001],
    ['none', [0, 0], 1],
  ])('%s', (_, counts, p) => {
    expect(equalSharesP(counts)).toBeCloseTo(p, 4);
  });
});
