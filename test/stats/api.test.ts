import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf, daysBetween, monthsBetween, startOf, timeOf } from '#libs/base/terms/calendar';
import { type Breakdown, decisions, emptyBreakdown, totalOf } from '#libs/base/terms/terms';
import type { OrgStats } from '#libs/log/contract';
import type { NewRecord } from '#libs/record/contract';
import { createAdministration } from '#libs/tenants/administration';
import { request, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at, type Stack, storeRecords, useStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const dayOfRecord = ({ id }: NewRecord) => dayOf(timeOf(id));
/** What the contract says of these records, counted one by one. */
function count(records: NewRecord[], belongs: (day: string) => boolean): Breakdown {
  const counts = emptyBreakdown();
  for (const record of records) if (belongs(dayOfRecord(record))) counts[record.decision] += 1;
  return counts;
}
const bucket = (counts: Breakdown) => ({ total: totalOf(counts), ...counts });

const stack = await useStack({ tenant: { domains: 2 } });
const [domainId = '', other = ''] = stack.tenant.domainIds;
/** One of each kind in turn; around leap days, month and year ends, and five years apart. */
const records = [
  ...['2021-11-01T00:00:00.000Z', '2022-12-31T23:59:59.999Z', '2023-01-01T00:00:00.000Z'],
  ...['2023-02-28T12:00:00.000Z', '2023-02-28T23:59:59.999Z', '2023-03-01T00:00:00.000Z'],
  ...['2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00.000Z', '2024-02-29T12:00:00.000Z'],
  ...['2024-02-29T23:59:59.999Z', '2024-03-01T00:00:00.000Z', '2025-06-15T08:00:00.000Z'],
  ...['2026-10-31T23:59:59.999Z', '2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00.000Z'],
  '2026-11-15T12:00:00.000Z',
].map((time, index) => recordAt(time, { domainId, decision: at(decisions, index % decisions.length) }));
// what is not asked for must not be counted
const others = records.map((record) => recordAt(timeOf(record.id), { domainId: other }));
await storeRecords(stack, [...records, ...others]);

describe('statistics of a domain', () => {
  const stats = (from: string, to: string, interval = '') =>
    stack.client.stats(stack.domainId, `from=${from}&to=${to}${interval && `&interval=${interval}`}`);

  it.each([
    ['a leap day', '2024-02-29', '2024-02-29', 3],
    ['the end of February without one', '2023-02-28', '2023-03-01', 3],
    ['a turn of the year', '2022-12-31', '2023-01-01', 2],
    ['days at both edges of whole months', '2023-01-02', '2026-10-30', 9],
    ['5 years', '2021-11-15', '2026-11-15', 15],
    ['a range without records', '2025-07-01', '2025-12-31', 0],
    ['all there can be', '2000-01-01', '2100-12-31', 16],
  ])('over %s, from %s to %s, count %i, the same from Redis as from Postgres', async (_, from, to, total) => {
    const breakdown = count(records, (day) => day >= from && day <= to);
    const expected = { domainId: stack.domainId, from, to, total, breakdown };
    // the first reading from Postgres also fills Redis
    await eventually(async () => {
      const { body, headers } = await stats(from, to);
      expect([headers.get('x-stats-source'), body]).toMatchObject(['redis', expected]);
    });
  });

  it.each([['366 days', '2024-01-01', '2024-12-31']])(
    'by day over %s have a bucket for every day',
    async (_, from, to) => {
      const { body } = await stats(from, to, 'day');
      const days = daysBetween(from, to);
      expect(body.series).toMatchObject(
        days.map((date) => ({ date, ...bucket(count(records, (day) => day === date)) })),
      );
      expect(body.total).toBe(body.series?.reduce((sum, { total }) => sum + total, 0));
    },
  );

  it.each([
    ['a part of one month', '2024-02-29', '2024-02-29', 1],
    ['120 months', '2017-02-01', '2027-01-31', 120],
  ])('by month over %s have a bucket for every month, of the days asked for', async (_, from, to, months) => {
    const { body } = await stats(from, to, 'month');
    const isIn = (month: string) => (day: string) => day.startsWith(month) && day >= from && day <= to;
    expect(body.series).toMatchObject(
      monthsBetween(from, to).map((month) => ({ month, ...bucket(count(records, isIn(month))) })),
    );
    expect(body.series).toHaveLength(months);
  });
});

describe("an organization's statistics", () => {
  let stack: Stack;
  let records: NewRecord[];
  const today = dayOf(Date.now());
  const daysAgo = (days: number) => addDays(today, -days);

  beforeAll(async () => {
    stack = await useStack({ tenant: { domains: 3 } });
    const first = (days: number) => startOf(daysAgo(days));
    const last = (days: number) => first(days) + 86_399_999;
    // around the edges of today, of 7 days and of 30 days, over three domains and all decisions in turn
    records = [
      ...[first(0), first(0) + 1, last(1), first(3), first(3) + 1, first(3) + 2, last(6), first(6)],
      ...[last(7), first(15), first(29), last(30), first(31)],
    ].map((time, index) =>
      recordAt(time, {
        domainId: at(stack.tenant.domainIds, index % 3),
        decision: at(decisions, index % decisions.length),
        visitorId: `visitor-${index}`,
      }),
    );
    await storeRecords(stack, records);
  });

  it('count 30 days, today included, over all domains, with an entry for each, the same from Redis', async () => {
    const { body } = await stack.client.orgStats();
    const breakdown = count(records, (day) => day >= daysAgo(29));
    const daily = daysBetween(daysAgo(29), today).map((date) => ({
      date,
      ...bucket(count(records, (day) => day === date)),
    }));
    const period = { from: daysAgo(29), to: today };
    expect(body).toMatchObject({ organizationId: stack.tenant.organizationId, period, total: 11, breakdown, daily });
    await eventually(async () => {
      const again = await stack.client.orgStats();
      expect([again.headers.get('x-stats-source'), again.body]).toEqual(['redis', body]);
    });
  });

  it('hold the raw records of the last 7 days, newest first, in full, page by page', async () => {
    const { body } = await stack.client.orgStats();
    expect(body).toMatchObject({ recordsPeriod: { from: daysAgo(6), to: today }, recordsTotal: 8, nextCursor: null });
    const newest = records.filter((record) => dayOfRecord(record) >= daysAgo(6)).map(({ id }) => id);
    expect(body.records.map(({ id }) => id)).toEqual(newest.sort().reverse());
    expect(new Set(body.records.map(({ domainId }) => domainId))).toEqual(new Set(stack.tenant.domainIds));
    expect(body.records[0]).toMatchObject({
      decidedAt: new Date(startOf(today) + 1).toISOString(),
      visitorId: 'visitor-1',
    });
    const { body: first } = await stack.client.orgStats('limit=5');
    const { body: second } = await stack.client.orgStats(`limit=5&cursor=${first.nextCursor}`);
    expect([...first.records, ...second.records].map(({ id }) => id)).toEqual(newest);
    expect(second.nextCursor).toBeNull();
  });

  it('are not read again for a client that has them, until a total or the plan changes', async () => {
    const own = await useStack();
    const ask = (tag = '', limit = 5) =>
      fetch(`${own.api.baseUrl}/v1/consent/org-stats?limit=${limit}`, {
        headers: { authorization: `Bearer ${tokenFor(own.tenant.organizationId)}`, 'if-none-match': tag },
      });
    await storeRecords(own, [recordAt(Date.now(), { domainId: own.domainId })]);
    const tag = await eventually(async () => {
      const found = (await ask()).headers.get('etag');
      if (found === null) throw new Error('no tag');
      return found;
    });
    const again = await ask(tag);
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag]);
    // as a proxy sends it that compresses, or a cache that has two
    for (const known of [`W/${tag}`, `"another", ${tag}`]) expect((await ask(known)).status).toBe(304);
    expect((await ask(tag, 6)).status).toBe(200);
    // of two organizations that have the same, each has its own
    const empty = await Promise.all([makeTenant(own.db), makeTenant(own.db)]);
    const tags = empty.map(async ({ organizationId }) => {
      const headers = { authorization: `Bearer ${tokenFor(organizationId)}` };
      return (await fetch(`${own.api.baseUrl}/v1/consent/org-stats`, { headers })).headers.get('etag');
    });
    expect(new Set(await Promise.all(tags)).size).toBe(2);
    await storeRecords(own, [recordAt(Date.now() - 20 * 86_400_000, { domainId: own.domainId })]);
    const moved = await ask(tag);
    expect([moved.status, await moved.json()]).toMatchObject([200, { total: 2 }]);
    const admin = createAdministration(own.db, 'test');
    const second = moved.headers.get('etag') ?? '';
    await admin.setPlan(`no-log-${own.tenant.organizationId}`, { consentLog: false });
    await admin.setOrganizationPlan(own.tenant.organizationId, `no-log-${own.tenant.organizationId}`);
    await eventually(async () => expect((await ask(second)).status).toBe(200));
  });

  it('have no tag while a replica lacks what was counted, so that what it lacks is read once it is there', async () => {
    const own = await useStack();
    const ask = (headers = {}) =>
      request<OrgStats>(own.api.baseUrl, '/v1/consent/org-stats', {
        headers: { authorization: `Bearer ${tokenFor(own.tenant.organizationId)}`, ...headers },
      });
    await storeRecords(own, [recordAt(Date.now(), { domainId: own.domainId })]);
    await eventually(async () => {
      const { headers } = await ask();
      expect([headers.get('x-stats-source'), headers.get('etag')]).toEqual(['redis', expect.any(String)]);
    });
    await own.sql`delete from counters where organization_id = ${own.tenant.organizationId}`;
    for (const known of [{}, { 'if-none-match': '"another"' }]) {
      const { headers, body } = await ask(known);
      expect([body.total, body.recordsTotal, headers.get('etag')]).toEqual([1, 0, null]);
    }
  });
});
