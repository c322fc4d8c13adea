/** What the dashboard makes of groups. */
import { describe, expect, it } from 'vitest';
import { dimensions } from '#libs/base/terms/terms';
import type { CategoryGroup, DomainStats, StatsGroup } from '#libs/stats/contract';
import { dimensionNames } from '../../apps/dashboard/data/dimension-names.ts';
import { valueName } from '../../apps/dashboard/data/dimensions.ts';
import { changeOf, funnelOf, rowsOf } from '../../apps/dashboard/data/group-rows.ts';
import { sorted } from '../../apps/dashboard/data/sorted.ts';
import { toCsv } from '../../apps/dashboard/groups/group-csv.ts';

const breakdown = { accept_all: 0, reject_all: 0, custom: 0, withdraw: 0 };
const stats = (groups: StatsGroup[] | CategoryGroup[], fields: Partial<DomainStats> = {}): DomainStats => ({
  domainId: 'dom_1',
  from: '2026-11-01',
  to: '2026-11-02',
  total: 0,
  breakdown,
  groups,
  ...fields,
});
const group = (value: string | null, choices: number, optInRate: number | null, more: Partial<StatsGroup> = {}) => ({
  value,
  total: choices,
  breakdown,
  choices,
  optInRate,
  ...more,
});

describe('values are named', () => {
  it.each([
    ['country', 'DE', 'Germany'],
    ['country', 'T1', 'T1'],
    ['language', 'fr-CA', 'Canadian French'],
    ['language', 'x', 'x'],
    ['device', 'tv', 'TV'],
    ['source', 'gpc', 'Global Privacy Control'],
    ['bannerVersion', '2\u202e', '2\\u{202e}'],
    ['country', null, 'Unknown country'],
    ['variant', null, 'No variant'],
  ] as const)('%s %s', (dimension, value, name) => {
    expect(valueName(dimension, { value })).toBe(name);
  });

  it('all others together are no value, and every dimension has a name', () => {
    expect(valueName('country', { value: null, other: true })).toBe('All others');
    expect(Object.keys(dimensionNames).sort()).toEqual([...dimensions].sort());
  });
});

describe('rows', () => {
  it('have what they were before, by value', () => {
    const now = stats([group('DE', 500, 0.5), group(null, 40, 0.25), group('FR', 0, null), group('GB', 2, 1)]);
    const others = { value: null, other: true as const };
    const before = stats([
      group('FR', 9, 0.3),
      group('DE', 500, 0.4),
      group(null, 29, 1),
      { ...group(null, 8, 1), ...others },
    ]);
    const rows = rowsOf('country', now, before);
    expect(rows.map((row) => [row.name, row.rate, row.before?.rate])).toEqual([
      ['Germany', 0.5, 0.4],
      ['Unknown country', 0.25, 1],
      ['France', null, 0.3],
      ['United Kingdom', 1, undefined],
    ]);
    // too few of those without a country
    expect(rows.map((row) => changeOf(row)?.points ?? null)).toEqual([expect.closeTo(0.1), null, null, null]);
  });

  it('all others are not compared: they are not the same values', () => {
    const others = { ...group(null, 3, 0.5), other: true as const };
    expect(rowsOf('country', stats([others]), stats([others]))[0]?.before).toBeUndefined();
  });

  it('of a category have the share that allowed it', () => {
    const [row] = rowsOf('category', stats([{ value: 'marketing', allowed: 3, denied: 9 }]));
    expect(row).toMatchObject({ name: 'Marketing', count: 12, rate: 0.25 });
  });

  it('are sorted with nothing at the end, in both directions', () => {
    const rates = [0.2, null, 0.7];
    expect(sorted(rates, (each) => each, false)).toEqual([0.2, 0.7, null]);
    expect(sorted(rates, (each) => each, true)).toEqual([0.7, 0.2, null]);
    expect(sorted(['b', 'a'], (each) => each, false)).toEqual(['a', 'b']);
  });
});

describe('the way from banner to opt-in', () => {
  it('is of choices in the banner, where displays were counted', () => {
    const groups = [group('preferences', 50, 1), group('banner', 30, 0.4)];
    expect(funnelOf(stats(groups))).toBeUndefined();
    expect(funnelOf(stats(groups, { displays: 100 }))).toEqual({ displays: 100, answers: 30, optIns: 12 });
    expect(funnelOf(stats([], { displays: 7 }))).toEqual({ displays: 7, answers: 0, optIns: 0 });
  });
});

describe('CSV', () => {
  it('runs nothing in a spreadsheet, and quotes what needs it', () => {
    expect(
      toCsv([
        ['=1+1', '-2', '+3', '@a', "'b", '＝1', '\n=1'],
        ['a,b', 'say "x"', -2.5, null, 'plain'],
      ]),
    ).toBe('\'=1+1,\'-2,\'+3,\'@a,\'\'b,\'＝1,"\'\n\'=1"\r\n"a,b","say ""x""",-2.5,,plain\r\n');
  });
});
