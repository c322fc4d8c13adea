import { expect, it } from 'vitest';
import type { z } from 'zod';
import { domainPath } from '#libs/base/terms/parameters';
import { orgStatsQuery, recordsQuery } from '#libs/log/contract';
import { statsQuery } from '#libs/stats/contract';

/** The parameters that are refused; empty where the query is good. */
const refused = (schema: z.ZodType, query: unknown): string[] => {
  const issues = schema.safeParse(query).error?.issues ?? [];
  const paths = issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.join() : issue.path.join('.')));
  return [...new Set(paths)];
};

const from = '2026-10-01';
it.each<[string, unknown, string?]>([
  ['2026-10-01', '2026-10-31'],
  ['2026-10-01', '2026-10-01'],
  ['2026-10-01', '2026-09-30', 'from'],
  ['2026-10-01', '2026-02-30', 'to'],
  ['2026-10-01', '2024-02-29', 'from'],
  ['2026-10-01', '2101-01-01', 'to'],
  ['2026-10-01', '2026-10-1', 'to'],
  ['2026-10-01', '', 'to'],
  ['2026-10-01', undefined, 'to'],
  ['2026-10-01', ['2026-10-31', '2026-11-01'], 'to'],
  ['2000-01-01', '2100-12-31'],
  ['1999-12-31', '2026-01-01', 'from'],
])('statistics from %s to %j: refused is %s', (from, to, expected) => {
  expect(refused(statsQuery, { from, to })).toEqual(expected ? [expected] : []);
});

it('the days of the log may both be left out, and be one-sided; it has a page or a cursor', () => {
  for (const query of [{}, { from }, { to: '2026-10-31' }, { cursor: 'x' }])
    expect(refused(recordsQuery, query)).toEqual([]);
  expect(refused(recordsQuery, { from, to: '2026-09-30' })).toEqual(['from']);
  expect(refused(recordsQuery, { cursor: 'x', page: '1' })).toEqual(['cursor']);
});

// a leap year of days, and months counted by the calendar
it.each([
  ['day', '2024-01-01', '2024-12-31', []],
  ['day', '2024-01-01', '2025-01-01', ['interval']],
  ['month', '2014-01-31', '2023-12-01', []],
  ['month', '2013-12-31', '2023-12-01', ['interval']],
  ['week', '2024-01-01', '2024-01-02', ['interval']],
])('the interval %s from %s to %s: refused is %j', (interval, from, to, expected) => {
  expect(refused(statsQuery, { from, to, interval })).toEqual(expected);
});

it.each<[string, string, unknown[], unknown[], z.ZodType]>([
  [
    'the log',
    'limit',
    ['1', '200'],
    ['0', '201', '-1', '1.0', '1e2', '0x10', ' 5', '', 'abc', ['5', '6']],
    recordsQuery,
  ],
  ['the log', 'page', ['1', '1000000000'], ['1000000001', '0', '99999999999999999999'], recordsQuery],
  ['the log', 'visitorId', ['x'.repeat(128)], ['x'.repeat(129), '', 'a\0b'], recordsQuery],
  ['an organization', 'limit', ['1000'], ['1001'], orgStatsQuery],
  // a typing error never returns more
  ['the log', 'form', [], ['2026-10-01'], recordsQuery],
  ['an organization', 'page', [], ['1'], orgStatsQuery],
  ['a path', 'domainId', ['a', 'A-z_9', 'x'.repeat(64)], ['', 'x'.repeat(65), 'a.b', 'ä', 'a\n', "a'"], domainPath],
])('%s: %s may be %j and not %j', (_, name, good, bad, schema) => {
  for (const value of good) expect(refused(schema, { [name]: value })).toEqual([]);
  for (const value of bad) expect(refused(schema, { [name]: value })).toEqual([name]);
});
