/** The made-up year of `npm run demo`: the same at every run, and within the rules of the contract. */
import { isbot } from 'isbot';
import { describe, expect, it } from 'vitest';
import { newRecord, recordBody, recordFields } from '#libs/contract/record';
import { totalOf } from '#libs/contract/terms';
import { timeOf } from '#libs/contract/uuid';
import { groupBy } from '#libs/runtime/group-by';
import { newcombe, type Proportion } from '../../apps/dashboard/data/proportions.ts';
import { displaysOf } from '../../scripts/demo/displays.ts';
import { type Made, type Period, planDays, recordsOf } from '../../scripts/demo/visits.ts';

type Pair = [Proportion, Proportion];

const until = Date.parse('2026-11-20T12:00:00.000Z');
const base: Period = { records: 12_000, months: 12, until };
const make = (change: Partial<Period> = {}): (Made & { host: string })[] => {
  const period = { ...base, ...change };
  return planDays(period).flatMap((day) =>
    recordsOf(day, period).map((record) => ({ ...record, host: day.site.name })),
  );
};
const ids = (records: Made[]) => records.map(({ id }) => id).sort();

describe('the demo data', () => {
  const records = make();

  it('is the same at every run, to the byte', () => {
    expect(make()).toEqual(records);
  });

  it('is about as much as was asked for, each id once', () => {
    expect(records.length).toBeGreaterThan(base.records * 0.93);
    expect(records.length).toBeLessThan(base.records * 1.07);
    expect(new Set(ids(records)).size).toBe(records.length);
  });

  it('asked for more, or later, holds all that it held', () => {
    const more = new Map(make({ records: 15_000 }).map((record) => [record.id, record]));
    expect(more.size).toBeGreaterThan(records.length);
    for (const record of records) expect(more.get(record.id)).toEqual(record);

    const later = { ...base, until: until + 3 * 86_400_000 };
    const days = new Map(planDays(later).map((day) => [`${day.site.name} ${day.date}`, day]));
    const both = planDays(base).filter(({ site, date }) => days.has(`${site.name} ${date}`));
    expect(both.length).toBe(days.size - 3 * 5);
    for (const day of both) {
      expect(days.get(`${day.site.name} ${day.date}`)).toEqual(day);
      const byId = new Map(recordsOf(day, later).map((record) => [record.id, record]));
      for (const record of recordsOf(day, base)) expect(byId.get(record.id)).toEqual(record);
    }
  });

  it('lies in the period, and nothing was received before it was decided or after the end', () => {
    for (const { id, receivedAt } of records) {
      expect(timeOf(id)).toBeGreaterThan(until - 367 * 86_400_000);
      expect(timeOf(id)).toBeLessThanOrEqual(until);
      expect(Date.parse(receivedAt)).toBeGreaterThanOrEqual(timeOf(id));
      expect(Date.parse(receivedAt)).toBeLessThanOrEqual(until);
    }
  });

  it('could each have been sent to the API', () => {
    for (const { host, ...record } of records) {
      expect(newRecord.safeParse({ ...record, domainId: 'dom_x' }).success).toBe(true);
      const body = Object.fromEntries(Object.entries(record).filter(([name]) => recordFields.has(name)));
      expect(recordBody.safeParse(body).error).toBeUndefined();
      if (record.pageUrl) expect(new URL(record.pageUrl).host).toBe(host);
    }
  });

  it('has preferences that fit the decision', () => {
    for (const { decision, preferences = {} } of records) {
      const allowed = Object.values(preferences);
      const kinds = { accept_all: [true], reject_all: [false], withdraw: [false], custom: [false, true] };
      expect([...new Set(allowed)].sort()).toEqual(kinds[decision]);
    }
  });

  it('withdraws only what the same visitor had given on that site before', () => {
    const withdrawals = records.filter(({ decision }) => decision === 'withdraw');
    expect(withdrawals.length).toBeGreaterThan(base.records * 0.01);
    const of = ({ visitorId, host }: (typeof records)[number]) => `${host} ${visitorId}`;
    const bySiteAndVisitor = groupBy(records, of);
    for (const withdrawal of withdrawals) {
      const own = bySiteAndVisitor.get(of(withdrawal)) ?? [];
      const before = own.filter(({ id }) => timeOf(id) < timeOf(withdrawal.id));
      expect(before.map(({ decision }) => decision)).toEqual([expect.stringMatching(/accept_all|custom/)]);
    }
  });

  it('marks as `bot` what the API would mark', () => {
    expect(records.filter(({ bot }) => bot).length).toBeGreaterThan(0);
    for (const { userAgent, bot } of records)
      expect({ userAgent, bot }).toEqual({ userAgent, bot: isbot(userAgent) || undefined });
  });

  it('says of each record that it is made up, and uses nobody’s address or name', () => {
    for (const { metadata, ip, host } of records) {
      expect(metadata).toEqual({ demo: true });
      expect(ip).toMatch(/^(198\.1[89]\.\d+\.0|2001:db8:[0-9a-f]+::)$/);
      expect(host).toMatch(/\.example$/);
    }
  });

  it('has what a dashboard shows: sites of all sizes, busy days, nights, languages, banners, signals', () => {
    const count = (test: (record: (typeof records)[number]) => boolean) => records.filter(test).length;
    const sizes = [...groupBy(records, ({ host }) => host).values()].map((group) => group.length);
    expect(Math.max(...sizes)).toBeGreaterThan(5 * Math.min(...sizes));
    const days = planDays(base).filter(({ site }) => site.name === 'nordlicht.example');
    const visits = days.map((day) => day.visits);
    expect(Math.max(...visits)).toBeGreaterThan(1.4 * Math.min(...visits));
    const hour = ({ id }: Made) => new Date(timeOf(id)).getUTCHours();
    expect(count((record) => hour(record) === 19)).toBeGreaterThan(3 * count((record) => hour(record) === 3));
    expect(new Set(records.map(({ language }) => language)).size).toBeGreaterThan(4);
    expect(count(({ gpc }) => gpc === true)).toBeGreaterThan(base.records * 0.01);
    expect(new Set(records.map(({ source }) => source))).toEqual(new Set(['banner', 'preferences', 'gpc']));
    expect(new Set(records.map(({ country }) => country)).size).toBeGreaterThan(9);
    expect(totalOf({ accept_all: 1, reject_all: 1, custom: 1, withdraw: 1 })).toBe(
      new Set(records.map(({ decision }) => decision)).size,
    );
  });

  it('tells of a better banner since September, and of an experiment that shows something on one of two sites', () => {
    const choices = make({ records: 40_000, months: 3 }).filter(({ source, bot }) => source === 'banner' && !bot);
    const rate = (some: Made[]) => some.filter(({ decision }) => decision !== 'reject_all').length / some.length;
    const versions = [...groupBy(choices, ({ bannerVersion }) => bannerVersion ?? '')].sort();
    expect(versions.map(([version]) => version)).toEqual(['2025-09', '2026-09']);
    const [before = 0, since = 0] = versions.map(([, some]) => rate(some));
    expect(since - before).toBeGreaterThan(0.05);

    const difference = (site: string) => {
      const asked = choices.filter(({ host }) => host === site);
      const [plain = [], short = []] = ['plain', 'short'].map((name) =>
        asked.filter(({ variant }) => variant === `wording-2026-q4:${name}`),
      );
      expect(Math.abs(plain.length / short.length - 1)).toBeLessThan(0.15);
      return newcombe(
        ...([short, plain].map((some) => ({ part: rate(some) * some.length, all: some.length })) as Pair),
      );
    };
    expect(difference('nordlicht.example').low).toBeGreaterThan(0);
    expect(difference('demo.example').low).toBeLessThan(0);
    expect(choices.some(({ host, variant }) => host === 'tagblatt.example' && variant)).toBe(false);
  });

  it('was shown to each who answered and to some who did not: fewer since September, and each variant equally often', () => {
    const year = records.map(({ host, ...record }) => ({ ...record, domainId: host }));
    const displays = displaysOf(year);
    const shown = (of: (each: (typeof displays)[number]) => boolean) =>
      displays.filter(of).reduce((sum, each) => sum + each.displays, 0);
    const answered = (version: string) =>
      year.filter(({ source, bot, bannerVersion }) => source === 'banner' && !bot && bannerVersion === version).length;
    const [before = 0, since = 0] = ['2025-09', '2026-09'].map(
      (version) => answered(version) / shown(({ bannerVersion }) => bannerVersion === version),
    );
    expect(before).toBeGreaterThan(0.5);
    expect(since).toBeGreaterThan(before + 0.05);
    expect(since).toBeLessThan(0.75);
    const [plain = 0, short = 0] = ['plain', 'short'].map((name) =>
      shown(({ variant }) => variant === `wording-2026-q4:${name}`),
    );
    expect(Math.abs(plain / short - 1)).toBeLessThan(0.1);
    expect(displaysOf(year.filter(({ source, bot }) => source !== 'banner' || bot))).toEqual([]);
  });
});
