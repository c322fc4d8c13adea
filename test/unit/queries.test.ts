import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { domainPath, orgStatsQuery, recordsQuery, statsQuery } from '#libs/contract/queries';

/** The parameters that are refused; empty where the query is good. */
const refused = (schema: z.ZodType, query: unknown): string[] => {
  const issues = schema.safeParse(query).error?.issues ?? [];
  const paths = issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.join() : issue.path.join('.')));
  return [...new Set(paths)];
};

describe('the days of a query', () => {
  const from = '2026-10-01';
  it.each([
    ['2026-10-31', []],
    ['2026-10-01', []],
    ['2026-09-30', ['from']],
    ['2026-02-30', ['to']],
    ['2024-02-29', ['from']],
    ['2101-01-01', ['to']],
    ['2026-10-1', ['to']],
    ['', ['to']],
    [undefined, ['to']],
    [['2026-10-31', '2026-11-01'], ['to']],
  ])('from 2026-10-01 may end at %j: refused %j', (to, expected) => {
    expect(refused(statsQuery, { from, to })).toEqual(expected);
  });
  it('lie in the years 2000 to 2100', () => {
    expect(refused(statsQuery, { from: '2000-01-01', to: '2100-12-31' })).toEqual([]);
    expect(refused(statsQuery, { from: '1999-12-31', to: '2026-01-01' })).toEqual(['from']);
  });
  it('may both be left out of the log, and be one-sided', () => {
    for (const query of [{}, { from }, { to: '2026-10-31' }]) expect(refused(recordsQuery, query)).toEqual([]);
    expect(refused(recordsQuery, { from, to: '2026-09-30' })).toEqual(['from']);
  });
});

describe('an interval', () => {
  it('of days spans at most 366, a leap year', () => {
    expect(refused(statsQuery, { from: '2024-01-01', to: '2024-12-31', interval: 'day' })).toEqual([]);
    expect(refused(statsQuery, { from: '2024-01-01', to: '2025-01-01', interval: 'day' })).toEqual(['interval']);
  });
  it('of months spans at most 120, counted by calendar', () => {
    expect(refused(statsQuery, { from: '2014-01-31', to: '2023-12-01', interval: 'month' })).toEqual([]);
    expect(refused(statsQuery, { from: '2013-12-31', to: '2023-12-01', interval: 'month' })).toEqual(['interval']);
  });
  it('is day or month', () => {
    expect(refused(statsQuery, { from: '2024-01-01', to: '2024-01-02', interval: 'week' })).toEqual(['interval']);
  });
});

describe('numbers of a query', () => {
  it.each([
    ['limit', '1', []],
    ['limit', '200', []],
    ['limit', '0', ['limit']],
    ['limit', '201', ['limit']],
    ['limit', '-1', ['limit']],
    ['limit', '1.0', ['limit']],
    ['limit', '1e2', ['limit']],
    ['limit', '0x10', ['limit']],
    ['limit', ' 5', ['limit']],
    ['limit', '', ['limit']],
    ['limit', 'abc', ['limit']],
    ['limit', ['5', '6'], ['limit']],
    ['page', '1', []],
    ['page', '1000000000', []],
    ['page', '1000000001', ['page']],
    ['page', '0', ['page']],
    ['page', '99999999999999999999', ['page']],
  ])('%s=%j is refused: %j', (name, value, expected) => {
    expect(refused(recordsQuery, { [name]: value })).toEqual(expected);
  });
  it('are up to 1000 records for an organization', () => {
    expect(refused(orgStatsQuery, { limit: '1000' })).toEqual([]);
    expect(refused(orgStatsQuery, { limit: '1001' })).toEqual(['limit']);
  });
});

describe('a query', () => {
  it('with an unknown parameter is refused, so that a typing error never widens the answer', () => {
    expect(refused(recordsQuery, { form: '2026-10-01' })).toEqual(['form']);
    expect(refused(statsQuery, { from: '2026-10-01', to: '2026-10-02', Interval: 'day' })).toEqual(['Interval']);
    expect(refused(orgStatsQuery, { page: '1' })).toEqual(['page']);
  });
  it('has a page or a cursor', () => {
    expect(refused(recordsQuery, { cursor: 'x' })).toEqual([]);
    expect(refused(recordsQuery, { cursor: 'x', page: '1' })).toEqual(['cursor']);
  });
  it('asks for a visitor by 1 to 128 characters that can be stored', () => {
    expect(refused(recordsQuery, { visitorId: 'x'.repeat(128) })).toEqual([]);
    expect(refused(recordsQuery, { visitorId: 'x'.repeat(129) })).toEqual(['visitorId']);
    expect(refused(recordsQuery, { visitorId: '' })).toEqual(['visitorId']);
    expect(refused(recordsQuery, { visitorId: 'a\0b' })).toEqual(['visitorId']);
  });
});

describe('the id of a domain', () => {
  it('is 1 to 64 characters of the allowed ones', () => {
    for (const domainId of ['a', 'A-z_9', 'x'.repeat(64)]) expect(refused(domainPath, { domainId })).toEqual([]);
    for (const domainId of ['', 'x'.repeat(65), 'a.b', 'a b', 'ä', 'a\n', "a'"])
      expect(refused(domainPath, { domainId })).toEqual(['domainId']);
  });
});
