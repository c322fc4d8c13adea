/** What the charts of a domain compute. */
import { describe, expect, it } from 'vitest';
import { version as exampleVersion } from '#libs/banner/examples';
import { addDays } from '#libs/base/terms/calendar';
import { emptyBreakdown } from '#libs/base/terms/terms';
import type { DomainStats, StatsGroup } from '#libs/stats/contract';
import { domainStats } from '#libs/stats/examples';
import { shareTicks } from '../../apps/dashboard/charts/scale.ts';
import { differenceOf } from '../../apps/dashboard/data/proportions.ts';
import { bucketsOf, ratesBefore } from '../../apps/dashboard/domain/chart/buckets.ts';
import { changesIn, compare } from '../../apps/dashboard/domain/chart/changes.ts';

/** From Thursday on, `optIns` of 10 choices a day. */
const days = (from: string, optIns: number[]): DomainStats => ({
  ...domainStats,
  from,
  to: addDays(from, optIns.length - 1),
  series: optIns.map((each, index) => ({
    date: addDays(from, index),
    ...{ ...emptyBreakdown(), total: 12, accept_all: each, reject_all: 10 - each, withdraw: 2 },
    ...{ choices: 10, optInRate: each / 10 },
  })),
});

describe('the buckets of a chart', () => {
  const stats = days('2026-10-29', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]);

  it('are weeks from Monday on, with only their days of the period, and months', () => {
    const weeks = bucketsOf(stats, 'week');
    expect(weeks.map(({ from, to, total, choices }) => [from, to, total, choices])).toEqual([
      ['2026-10-29', '2026-11-01', 48, 40],
      ['2026-11-02', '2026-11-08', 84, 70],
    ]);
    expect(weeks.map(({ optInRate }) => optInRate)).toEqual([0.25, 45 / 70]);
    const months = bucketsOf(stats, 'month').map(({ from, to, accept_all }) => [from, to, accept_all]);
    expect(months).toEqual([
      ['2026-10-29', '2026-10-31', 6],
      ['2026-11-01', '2026-11-08', 49],
    ]);
    expect(bucketsOf(stats, 'day')).toHaveLength(11);
  });

  it('have no rate where a day has none at hand, and lie over as many days of the period before', () => {
    const [first, ...rest] = stats.series ?? [];
    const partly = { ...stats, series: [{ ...first, optInRate: undefined }, ...rest] } as DomainStats;
    expect(bucketsOf(partly, 'week').map(({ optInRate }) => optInRate === undefined)).toEqual([true, false]);
    const before = days('2026-10-20', [2, 2, 2, 2, 5, 5, 5]);
    expect(ratesBefore(bucketsOf(stats, 'week'), before)).toEqual([
      { part: 8, all: 40 },
      { part: 15, all: 30 },
    ]);
    expect(ratesBefore(bucketsOf(stats, 'day'), before).at(-1)).toBeNull();
  });
});

it.each([
  [
    [0.612, 0.648],
    [0.61, 0.62, 0.63, 0.64, 0.65],
  ],
  [
    [0, 1],
    [0, 0.2, 0.4, 0.6, 0.8, 1],
  ],
  [[], [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [[0.5], [0.5, 0.51]],
])('the lines of a rate’s chart are round and around %j', (shares, lines) => {
  expect(shareTicks(shares).map((line) => Math.round(line * 100) / 100)).toEqual(lines);
});

it('a change of rates needs 30 choices on both sides, and is clear only if its interval leaves 0 out', () => {
  expect(differenceOf({ part: 9, all: 17 }, { part: 700, all: 1000 })).toBeNull();
  expect(differenceOf({ part: 700, all: 1000 }, { part: 9, all: 29 })).toBeNull();
  expect(differenceOf({ part: 16, all: 30 }, { part: 700, all: 1000 })?.isClear).toBe(false);
  expect(differenceOf({ part: 700, all: 1000 }, { part: 600, all: 1000 })?.isClear).toBe(true);
  expect(differenceOf({ part: 600, all: 1000 }, { part: 700, all: 1000 })?.isClear).toBe(true);
});

describe('changes', () => {
  const group = (value: string, firstDay: string, choices = 100): StatsGroup => ({
    ...{ value, firstDay, choices, total: choices, optInRate: 0.5, breakdown: emptyBreakdown() },
  });
  const by = (...groups: StatsGroup[]): DomainStats => ({ ...domainStats, groups });

  it('are publications and versions that are seen first, one a day, and none that few visitors have', () => {
    const published = { ...exampleVersion, version: 3, publishedAt: '2026-11-10T09:00:00Z', note: 'Shorter' };
    const banners = by(group('3', '2026-11-11'), group('old', '2026-11-05'), group('made-up', '2026-11-06', 29));
    expect(changesIn([published], [banners, by(group('2026-11', '2026-11-10'))])).toEqual([
      { day: '2026-11-05', names: ['Banner version old first seen'], notes: [] },
      { day: '2026-11-10', names: ['Version 3 published', 'Policy version 2026-11 first seen'], notes: ['Shorter'] },
    ]);
  });

  it('compare the days up to the next change, without its own, and at most four weeks', () => {
    const change = (day: string) => ({ day, names: ['x'], notes: [] });
    const { series = [] } = days('2026-10-01', [...Array(40).fill(2), ...Array(10).fill(8)]);
    const compared = compare([change('2026-11-09'), change('2026-11-15')], series);
    expect(compared.map(({ before, after, difference }) => [before, after, difference?.isClear])).toEqual([
      [{ part: 56, all: 280 }, { part: 40, all: 50 }, true],
      [{ part: 40, all: 50 }, { part: 32, all: 40 }, false],
    ]);
  });
});
