import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { totalOf } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import type { CategoryGroup, DomainStats, OrganizationStats, StatsGroup } from '#libs/stats/contract';
import { createAdministration } from '#libs/tenants/administration';
import { createCli } from '../support/cli.ts';
import { request, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { closeOpenEpoch, deriveFacets } from '../support/sealing.ts';
import { at, storeRecords, useStack, withOwnDomain } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const today = dayOf(Date.now());
const yesterday = addDays(today, -1);
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';

const stack = await useStack({ tenant: { domains: 2 } });
const cli = createCli(stack.env);
const [domainId = '', other = ''] = stack.tenant.domainIds;
const made = (fields: Partial<NewRecord>, day = today) =>
  recordAt(`${day}T00:00:01.000Z`, { domainId, country: 'DE', ...fields });
await storeRecords(stack, [
  made({ preferences: { analytics: true, marketing: true }, userAgent: iphone }),
  made({ decision: 'custom', preferences: { necessary: true, analytics: false }, bannerVersion: '2' }),
  made({ decision: 'custom', preferences: { analytics: true, marketing: false }, source: 'preferences' }, yesterday),
  made({ decision: 'reject_all', source: 'gpc', country: 'FR' }),
  made({ decision: 'withdraw', source: 'preferences' }),
  made({ source: 'api' }),
  made({ source: 'import', importedAt: new Date().toISOString(), country: undefined }),
  made({ bot: true }),
  recordAt(`${today}T00:00:01.000Z`, { domainId: other, country: 'DE', decision: 'reject_all' }),
]);
const firstAt = Date.now();
await closeOpenEpoch(stack.db);

describe('statistics by what decisions have in common', () => {
  const ask = (path: string, headers: Record<string, string> = {}) =>
    request<DomainStats>(stack.api.baseUrl, path, {
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}`, ...headers },
    });
  const ofDomain = (by: string, from = yesterday) =>
    `/v1/consent/${stack.domainId}/stats?from=${from}&to=${today}&by=${by}`;
  /** Complete with what was stored before. */
  const askLater = (path: string, since: number) =>
    eventually(async () => {
      await deriveFacets(stack.db);
      const response = await ask(path);
      expect(Date.parse(response.body.through ?? '')).toBeGreaterThan(since);
      return response;
    });

  it('counts all, keeps crawlers apart, and takes rates of choices alone', async () => {
    const { body } = await askLater(ofDomain('country'), firstAt);
    expect(body).toMatchObject({ total: 8, bots: 1, optInRate: 2 / 4 });
    expect(body.breakdown).toEqual({ accept_all: 4, reject_all: 1, custom: 2, withdraw: 1 });
    const none = { accept_all: 0, reject_all: 0, custom: 0, withdraw: 0 };
    const group = (value: string | null, breakdown: object, choices: number, optInRate: number | null) => {
      const counts = { ...none, ...breakdown };
      return { value, total: totalOf(counts), breakdown: counts, choices, optInRate };
    };
    expect(body.groups).toEqual([
      group('DE', { accept_all: 2, custom: 2, withdraw: 1 }, 3, 2 / 3),
      group(null, { accept_all: 1 }, 0, null),
      group('FR', { reject_all: 1 }, 1, 0),
    ]);
  });

  it("crawlers' records do not count towards the monthly limit", async () => {
    await askLater(ofDomain('country'), firstAt);
    const used = yesterday.slice(0, 7) === today.slice(0, 7) ? 8 : 7;
    const { plan } = await eventually(async () => {
      const { body } = await stack.client.organization();
      expect(body.usage).toMatchObject({ used, bots: 1 });
      return body;
    });
    const admin = createAdministration(stack.db, 'test');
    for (const [limit, capped] of [
      [used, true],
      [used + 1, false],
    ] as const) {
      await admin.setPlan(plan.name, { monthlyRecordLimit: limit });
      await eventually(async () =>
        expect((await stack.client.records(stack.domainId)).body).toMatchObject({
          capped,
          ...(capped && { cap: { used } }),
        }),
      );
    }
  });

  it('groups by device, browser, source, banner version and category', async () => {
    const groups = async (by: string) => (await askLater(ofDomain(by), firstAt)).body.groups as StatsGroup[];
    const sizes = async (by: string) =>
      Object.fromEntries((await groups(by)).map(({ value, total }) => [value, total]));
    expect(await sizes('device')).toEqual({ null: 6, mobile: 1 });
    expect(await sizes('browser')).toEqual({ null: 6, Safari: 1 });
    expect(await sizes('source')).toEqual({ banner: 2, preferences: 2, gpc: 1, api: 1, import: 1 });
    expect(await sizes('bannerVersion')).toEqual({ null: 6, 2: 1 });
    const { body } = await askLater(ofDomain('category'), firstAt);
    // where there are no displays, there are no figures of them
    expect(body).not.toHaveProperty('displays');
    expect(body).not.toHaveProperty('noChoiceRate');
    expect(body.groups as CategoryGroup[]).toEqual([
      { value: 'analytics', allowed: 2, denied: 1 },
      { value: 'marketing', allowed: 1, denied: 1 },
      { value: 'necessary', allowed: 1, denied: 0 },
    ]);
  });

  it('keeps to the days that are asked for, and adds the domains of an organization up', async () => {
    const { body: ofToday } = await askLater(ofDomain('country', today), firstAt);
    expect(at(ofToday.groups as StatsGroup[], 0)).toMatchObject({ value: 'DE', total: 4 });
    const path = `/v1/organization/stats?from=${yesterday}&to=${today}&by=country`;
    const { body } = await askLater(path, firstAt);
    expect(body).toMatchObject({ organizationId: stack.tenant.organizationId, total: 9, bots: 1 });
    expect(at(body.groups as StatsGroup[], 0)).toMatchObject({ value: 'DE', total: 6, optInRate: 2 / 4 });
    // the rate is the same with any other parameters, and there is one for each day and month
    expect(body).toMatchObject({ choices: 5, optInRate: 2 / 5 });
    const { body: plain } = await ask(path.replace('&by=country', ''));
    expect(plain).toMatchObject({ choices: 5, optInRate: 2 / 5 });
    const { body: byDay } = await ask(path.replace('&by=country', '&interval=day'));
    expect(byDay).toMatchObject({
      choices: 5,
      optInRate: 2 / 5,
      series: [
        { date: yesterday, total: 1, choices: 1, optInRate: 1 },
        { date: today, total: 8, choices: 4, optInRate: 1 / 4 },
      ],
    });
    const { body: byMonth } = await ask(path.replace('&by=country', '&interval=month'));
    const series = byMonth.series ?? [];
    expect(series.reduce((all, { choices = 0 }) => all + choices, 0)).toBe(5);
    expect(series.at(-1)?.optInRate).toBe(yesterday.slice(0, 7) === today.slice(0, 7) ? 2 / 5 : 1 / 4);
  });

  it('has a group for each domain of an organization, with its last decision, also for one without any', async () => {
    const { organizationId, domainIds } = await makeTenant(stack.db, { domains: 3 });
    const [busy = '', silent = '', archived = ''] = domainIds;
    await storeRecords(stack, [
      ...[0, 1, 2].map((second) => recordAt(`${today}T00:00:0${second}.000Z`, { domainId: busy })),
      recordAt(`${today}T00:00:03.000Z`, { domainId: busy, decision: 'reject_all' }),
      recordAt(`${addDays(today, -9)}T10:00:00.000Z`, { domainId: silent }),
    ]);
    await createAdministration(stack.db, 'test').archiveDomain(organizationId, archived);
    const since = Date.now();
    await closeOpenEpoch(stack.db);
    const range = [yesterday, today];
    const { body } = await eventually(async () => {
      await deriveFacets(stack.db);
      const path = `/v1/organization/stats?from=${range[0]}&to=${range[1]}&by=domain`;
      const headers = { authorization: `Bearer ${tokenFor(organizationId)}` };
      const response = await request<OrganizationStats>(stack.api.baseUrl, path, { headers });
      expect(Date.parse(response.body.through ?? '')).toBeGreaterThan(since);
      return response;
    });
    const groups = (body.groups as StatsGroup[]).map((each) => [
      ...[each.value, each.total, each.optInRate, each.lastDecisionAt],
    ]);
    expect(body).toMatchObject({ total: 4, bots: 0, choices: 4, optInRate: 3 / 4 });
    expect(groups[0]).toEqual([busy, 4, 3 / 4, `${today}T00:00:03.000Z`]);
    expect(groups.slice(1).toSorted()).toEqual(
      [
        [silent, 0, null, `${addDays(today, -9)}T10:00:00.000Z`],
        [archived, 0, null, null],
      ].toSorted(),
    );
    const days = ['--from', yesterday, '--to', today, '--by', 'domain'];
    expect(await cli.json('stats', '--org', organizationId, ...days)).toMatchObject({ groups: body.groups });
    expect(await cli.error('stats', '--domain', busy, ...days)).toBe('--by domain needs --org');
    expect((await ask(ofDomain('domain'))).status).toBe(400);
  });

  it('the command line has the same figures', async () => {
    const { body } = await ask(ofDomain('country'));
    const range = ['--from', yesterday, '--to', today];
    const { domainId: _, through: __, ...figures } = body;
    expect(await cli.json('stats', '--domain', domainId, ...range)).toMatchObject({ domainId, ...figures });
    const { code, stdout } = await cli.run('stats', '--org', stack.tenant.organizationId, ...range);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^value +total +accept_all .*\nDE +6 .* 4 +0\.5000$/m),
    });
    expect(await cli.run('stats', '--domain', domainId, '--from', today, '--to', yesterday)).toMatchObject({
      code: 1,
      stderr: '--from must not be after --to\n',
    });
    const long = ['--from', '2025-01-01', '--to', '2026-09-30'];
    expect(await cli.error('stats', '--domain', domainId, ...long)).toBe(
      '--from and --to may cover at most 366 days: choose a shorter range',
    );
  });

  it('responds with 304 as long as nothing changes, and advances without traffic', async () => {
    const { body, headers } = await askLater(ofDomain('language'), firstAt);
    // another file's epoch may be closed in between
    await eventually(async () => {
      const { headers: latest } = await ask(ofDomain('language'));
      const again = await ask(ofDomain('language'), { 'if-none-match': `"x", W/${latest.get('etag')}` });
      expect([again.status, again.body, again.headers.get('x-stats-source')]).toEqual([304, '', 'redis']);
    });
    const since = Date.now();
    await closeOpenEpoch(stack.db);
    const later = await askLater(ofDomain('language'), since);
    expect(later.body.groups).toEqual(body.groups);
    expect(later.headers.get('etag')).not.toBe(headers.get('etag'));
  });

  it('has the number of decisions that the rates do not include yet, and the first day of a version', async () => {
    const own = await withOwnDomain(stack);
    const of = (bannerVersion: string, day: string, fields: Partial<NewRecord> = {}) =>
      made({ domainId: own.domainId, bannerVersion, policyVersion: '2026', ...fields }, day);
    const crawlers = [of('2', today, { bot: true })];
    await storeRecords(stack, [of('1', yesterday), of('1', today), of('2', today), ...crawlers]);
    const path = `/v1/consent/${own.domainId}/stats?from=${today}&to=${today}`;
    await eventually(async () => expect((await ask(path)).body).toMatchObject({ total: 3, choices: 0, pending: 3 }));
    expect((await ask(`${path}&interval=day`)).body).toMatchObject({ choices: 0, pending: 3 });
    const since = Date.now();
    await closeOpenEpoch(stack.db);
    const firstDays = async (by: string, from: string) => {
      const { groups } = (await askLater(`${path.replace(today, from)}&by=${by}`, since)).body;
      return (groups as StatsGroup[]).map((each) => [each.value, each.firstDay]);
    };
    for (const [from, ofFirst] of [
      [yesterday, yesterday],
      [addDays(today, -300), yesterday],
      [today, undefined],
    ] as const) {
      expect((await firstDays('bannerVersion', from)).sort()).toEqual([
        ['1', ofFirst],
        ['2', today],
      ]);
      expect(await firstDays('policyVersion', from)).toEqual([['2026', ofFirst]]);
    }
    expect(await firstDays('country', yesterday)).toEqual([['DE', undefined]]);
    const { body } = await ask(path);
    expect(body).toMatchObject({ total: 3, choices: 2 });
    expect(body).not.toHaveProperty('pending');
    // versions of several domains are not the same
    expect((await ask(`/v1/organization/stats?from=${today}&to=${today}&by=bannerVersion`)).body).not.toMatchObject({
      groups: expect.arrayContaining([expect.objectContaining({ firstDay: expect.anything() })]),
    });
  });

  it('leaves who was not asked out of choices and rates, and counts who objected; the rest has no region', async () => {
    const own = await withOwnDomain(stack);
    const of = (fields: Partial<NewRecord>) =>
      recordAt(`${today}T00:00:01.000Z`, { domainId: own.domainId, preferences: { analytics: true }, ...fields });
    const inCalifornia = { region: 'US-CA', model: 'opt_out' } as const;
    await storeRecords(stack, [
      of({ model: 'opt_in' }),
      of({ decision: 'reject_all', preferences: { analytics: false } }),
      of(inCalifornia),
      of({ ...inCalifornia, decision: 'reject_all', source: 'gpc' }),
      of({ ...inCalifornia, decision: 'custom', preferences: { analytics: false } }),
      of({ ...inCalifornia, decision: 'withdraw', bot: true }),
      of({ decision: 'withdraw', model: 'none', region: 'US-TX' }),
    ]);
    const since = Date.now();
    await closeOpenEpoch(stack.db);
    const path = (by: string) => `/v1/consent/${own.domainId}/stats?from=${today}&to=${today}&by=${by}`;
    const figures = { choices: 2, optInRate: 1 / 2, objections: 3 };
    const { body: byRegion } = await askLater(path('region'), since);
    expect(byRegion).toMatchObject({ total: 7, bots: 1, ...figures });
    const short = ({ groups = [] }: DomainStats) =>
      (groups as StatsGroup[]).map(({ value, total, choices, optInRate, objections }) => [
        ...[value, total, choices, optInRate, objections],
      ]);
    expect(short(byRegion)).toEqual([
      ['US-CA', 3, 0, null, 2],
      [null, 2, 2, 1 / 2, undefined],
      ['US-TX', 1, 0, null, 1],
    ]);
    expect(short((await ask(path('model'))).body)).toEqual([
      ['opt_out', 3, 0, null, 2],
      [null, 1, 1, 0, undefined],
      ['none', 1, 0, null, 1],
      ['opt_in', 1, 1, 1, undefined],
    ]);
    // what those who were asked allow
    expect((await ask(path('category'))).body.groups).toEqual([{ value: 'analytics', allowed: 1, denied: 1 }]);
    const { body: byDay } = await ask(path('x').replace('by=x', 'interval=day'));
    expect(byDay).toMatchObject({ ...figures, series: [{ date: today, total: 7, ...figures }] });
  });
});
