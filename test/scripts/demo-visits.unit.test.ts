/** The made-up year of `npm run demo`: the same at every run, and within the rules of the contract. */
import { isbot } from 'isbot';
import { describe, expect, it } from 'vitest';
import { groupBy } from '#libs/base/group-by';
import { timeOf } from '#libs/base/terms/calendar';
import { newRecord, recordBody, recordFields } from '#libs/record/contract';
import { type Made, type Period, planDays, recordsOf } from '../../scripts/demo/visits.ts';

const until = Date.parse('2026-11-20T12:00:00.000Z');
const year: Period = { records: 1_500, months: 12, until };
const make = (period: Period): (Made & { host: string })[] =>
  planDays(period).flatMap((day) => recordsOf(day, period).map((record) => ({ ...record, host: day.site.name })));

describe('the demo data', () => {
  const records = make(year);

  it('is as much as was asked for, each id once, the same at every run, and part of what a longer run makes', () => {
    expect(Math.abs(records.length / year.records - 1)).toBeLessThan(0.1);
    const more = new Map(make({ ...year, records: 2_000 }).map((record) => [record.id, record]));
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    expect(records.map(({ id }) => more.get(id))).toEqual(records);
  });

  it('could have been sent to the API within the period, by nobody who exists', () => {
    for (const { host, ...record } of records) {
      expect(newRecord.safeParse({ ...record, domainId: 'dom_x' }).success).toBe(true);
      const body = Object.fromEntries(Object.entries(record).filter(([name]) => recordFields.has(name)));
      expect(recordBody.safeParse(body).error).toBeUndefined();
      expect(host).toMatch(/\.example$/);
      if (record.pageUrl) expect(new URL(record.pageUrl).host).toBe(host);
      expect(record.metadata).toEqual({ demo: true });
      expect(record.ip).toMatch(/^(198\.1[89]\.\d+\.0|2001:db8:[0-9a-f]+::)$/);
      expect(record.bot).toBe(isbot(record.userAgent) || undefined);
      const times = [until - 367 * 86_400_000, timeOf(record.id), Date.parse(record.receivedAt), until];
      expect(times.toSorted((one, other) => one - other)).toEqual(times);
    }
  });

  it('has preferences that fit the decision, and withdraws only what the visitor had given on that site', () => {
    const kinds = { accept_all: [true], reject_all: [false], withdraw: [false], custom: [false, true] };
    const of = ({ visitorId, host }: (typeof records)[number]) => `${host} ${visitorId}`;
    const bySiteAndVisitor = groupBy(records, of);
    for (const record of records) {
      expect([...new Set(Object.values(record.preferences ?? {}))].sort()).toEqual(kinds[record.decision]);
      if (record.decision !== 'withdraw') continue;
      const before = bySiteAndVisitor.get(of(record))?.filter(({ id }) => timeOf(id) < timeOf(record.id)) ?? [];
      expect(before.map(({ decision }) => decision)).toEqual([expect.stringMatching(/accept_all|custom/)]);
    }
  });
});
