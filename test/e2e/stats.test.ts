import { beforeAll, describe, expect, it } from 'vitest';
import { daysBetween, monthsBetween } from '#libs/contract/calendar';
import { type Breakdown, decisions, emptyBreakdown, totalOf } from '#libs/contract/terms';
import { connectRedis } from '#libs/runtime/redis';
import { persist } from '#libs/store/records/persist';
import { recordAt } from '../support/records.ts';
import { at, type OwnStack, startStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** One record of each kind in turn; around leap days, month and year ends, and five years apart. */
const times = [
  '2021-11-01T00:00:00.000Z',
  '2022-12-31T23:59:59.999Z',
  '2023-01-01T00:00:00.000Z',
  '2023-02-28T12:00:00.000Z',
  '2023-02-28T23:59:59.999Z',
  '2023-03-01T00:00:00.000Z',
  '2024-02-28T23:59:59.999Z',
  '2024-02-29T00:00:00.000Z',
  '2024-02-29T12:00:00.000Z',
  '2024-02-29T23:59:59.999Z',
  '2024-03-01T00:00:00.000Z',
  '2025-06-15T08:00:00.000Z',
  '2026-10-31T23:59:59.999Z',
  '2026-10-31T23:59:59.999Z',
  '2026-11-01T00:00:00.000Z',
  '2026-11-15T12:00:00.000Z',
];
const decisionOf = (index: number) => at(decisions, index % decisions.length);

/** What the contract says of these records, counted one by one. */
function count(belongs: (day: string) => boolean): Breakdown {
  const counts = emptyBreakdown();
  times.forEach((time, index) => {
    if (belongs(time.slice(0, 10))) counts[decisionOf(index)] += 1;
  });
  return counts;
}
const bucket = (counts: Breakdown) => ({ total: totalOf(counts), ...counts });

const ranges: [string, string, string, number][] = [
  ['1 day', '2024-02-28', '2024-02-28', 1],
  ['a leap day', '2024-02-29', '2024-02-29', 3],
  ['the end of February without one', '2023-02-28', '2023-03-01', 3],
  ['a turn of the year', '2022-12-31', '2023-01-01', 2],
  ['30 days', '2026-10-31', '2026-11-29', 4],
  ['a month', '2024-02-01', '2024-02-29', 4],
  ['days at both edges of whole months', '2023-01-02', '2026-10-30', 9],
  ['5 years', '2021-11-15', '2026-11-15', 15],
  ['a range without records', '2025-07-01', '2025-12-31', 0],
  ['the future', '2099-01-01', '2100-12-31', 0],
  ['all there can be', '2000-01-01', '2100-12-31', 16],
];

describe('statistics of a domain', () => {
  let stack: OwnStack;

  beforeAll(async () => {
    stack = await startStack({ tenant: { domains: 2 }, worker: false });
    const [domainId = '', other = ''] = stack.tenant.domainIds;
    const records = times.map((time, index) => recordAt(time, { domainId, decision: decisionOf(index) }));
    // what is not asked for must not be counted
    await persist(stack.db, [...records, ...times.map((time) => recordAt(time, { domainId: other }))]);
  });

  const stats = (from: string, to: string, interval?: string) =>
    stack.client.stats(stack.domainId, `from=${from}&to=${to}${interval ? `&interval=${interval}` : ''}`);

  const expectCounts = async (source: string) => {
    for (const [, from, to, total] of ranges) {
      const { body, headers } = await stats(from, to);
      const breakdown = count((day) => day >= from && day <= to);
      expect(body).toEqual({ domainId: stack.domainId, from, to, total, breakdown });
      expect(headers.get('x-stats-source')).toBe(source);
    }
  };

  /** The first reading from Postgres also fills Redis. */
  const untilFilled = () =>
    eventually(async () => {
      const { headers } = await stats('2026-01-01', '2026-01-01');
      expect(headers.get('x-stats-source')).toBe('redis');
    });

  it.each(ranges)('over %s, from %s to %s, count %i', async (_, from, to, total) => {
    const { status, body } = await stats(from, to);
    const breakdown = count((day) => day >= from && day <= to);
    expect(status).toBe(200);
    expect(body).toEqual({ domainId: stack.domainId, from, to, total, breakdown });
  });

  it('are the same from Redis, and from Postgres once Redis has lost them', async () => {
    await untilFilled();
    await expectCounts('redis');
    const redis = connectRedis({ url: stack.redis.url, clusterNodes: [] }, 'worker', { warn: () => {} });
    await redis.client.flushall();
    await redis.close();
    const { body, headers } = await stats('2021-11-15', '2026-11-15');
    expect(headers.get('x-stats-source')).toBe('postgres');
    expect(body).toMatchObject({ total: 15, breakdown: count((day) => day >= '2021-11-15') });
    await untilFilled();
    await expectCounts('redis');
  });

  it.each([
    ['a week around a leap day', '2024-02-26', '2024-03-03'],
    ['one day', '2024-02-29', '2024-02-29'],
    ['366 days', '2024-01-01', '2024-12-31'],
  ])('by day over %s have a bucket for every day', async (_, from, to) => {
    const { body } = await stats(from, to, 'day');
    expect(body.series).toEqual(
      daysBetween(from, to).map((date) => ({ date, ...bucket(count((day) => day === date)) })),
    );
    expect(body.total).toBe(body.series?.reduce((sum, { total }) => sum + total, 0));
  });

  it.each([
    ['5 years', '2021-11-15', '2026-11-15', 61],
    ['a part of one month', '2024-02-29', '2024-02-29', 1],
    ['120 months', '2017-02-01', '2027-01-31', 120],
  ])('by month over %s have a bucket for every month, of the days asked for', async (_, from, to, months) => {
    const { body } = await stats(from, to, 'month');
    expect(body.series).toEqual(
      monthsBetween(from, to).map((month) => ({
        month,
        ...bucket(count((day) => day.startsWith(month) && day >= from && day <= to)),
      })),
    );
    expect(body.series).toHaveLength(months);
  });
});
