import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import type { NewRecord } from '#libs/record/contract';
import { agents, figure, figureCard, follow, go, useDashboard } from '../support/browser/dashboard.ts';
import { tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';

const today = dayOf(Date.now());
const [desk, phone] = agents;

const dashboard = useDashboard();
/** `many` decisions at noon, `part` of them opt-ins. */
const made = (daysAgo: number, many: number, part: number, fields: Partial<NewRecord>): NewRecord[] =>
  Array.from({ length: many }, (_, index) =>
    recordAt(startOf(addDays(today, -daysAgo)) + 43_200_000 + index, {
      domainId,
      decision: index < part ? 'accept_all' : 'reject_all',
      preferences: { analytics: index < part, marketing: index < part / 2 },
      userAgent: index % 3 === 0 ? desk : phone,
      ...fields,
    }),
  );

const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });
const domainId = at(customer.domains, 0).domainId;
const address = `/domains/${domainId}`;
const [before, since] = [{ bannerVersion: '1' }, { bannerVersion: '2', source: 'banner' as const }];
const records = [
  ...made(10, 100, 50, { ...before, country: 'DE', language: 'de-DE' }),
  ...made(9, 50, 10, { ...before, country: 'FR', language: 'fr-FR' }),
  ...made(3, 300, 210, { ...since, country: 'DE', language: 'de-DE', variant: 'wording:short' }),
  ...made(3, 300, 150, { ...since, country: 'FR', language: 'fr-FR', variant: 'wording:plain' }),
  ...made(2, 20, 12, { ...since, country: 'GB', variant: 'colour:blue' }),
  ...made(2, 22, 12, { ...since, variant: 'colour:green' }),
  ...['AT', 'CH', 'IT'].flatMap((country) => made(2, 4, 2, { ...since, country })),
  ...made(2, 3, 3, { ...since, country: 'SE', decision: 'withdraw', source: 'preferences' }),
  ...made(2, 7, 7, { bot: true, userAgent: 'Googlebot/2.1' }),
  ...made(2, 5, 2, { domainId: at(customer.domains, 1).domainId, bannerVersion: '=2+2' }),
];
await dashboard.store(records);
await dashboard.grouped(customer, records.length);
// as if the banners of the last days had been counted when they were shown
await dashboard.db.run(
  (sql) => sql`
    update facets set displays = 1000
    where domain_number = (select number from domains where id = ${domainId})
      and period = ${addDays(today, -3)} and (dimension, value) in (('source', 'banner'), ('bannerVersion', '2'))`,
);

describe('statistics by country, banner version and so on', () => {
  const days = `from=${addDays(today, -6)}&to=${today}`;
  const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const cells = (page: Page | Locator, name: string) =>
    page.getByRole('row', { name }).getByRole('cell').allTextContents();
  /** Cards in rows that end before the others do. */
  const inShortRows = (page: Page) =>
    page.locator('.figures-row > *, .cards-grid > *').evaluateAll((cards) => {
      const boxes = cards.map((each) => each.getBoundingClientRect());
      const end = Math.max(...boxes.map(({ right }) => right)) - 1;
      return boxes.filter(({ top }) => !boxes.some((box) => box.top === top && box.right > end)).length;
    });
  const firstColumn = (page: Page) => page.getByRole('rowheader').allTextContents();

  it('are cards on the page of a domain, and pages of their own', async () => {
    const { page } = await dashboard.open(customer, `${address}?${days}`);
    await card(page, 'By country').waitFor();
    expect(await cells(card(page, 'By country'), 'Germany')).toEqual(['300', '70.0%']);
    const countries = ['Germany', 'France', 'Unknown country', 'United Kingdom', 'Austria'];
    expect(await card(page, 'By country').getByRole('rowheader').allTextContents()).toEqual(countries);
    await card(page, 'By country').getByText('and 3 more').waitFor();
    await card(page, 'By device').getByRole('rowheader', { name: 'Mobile' }).waitFor();
    await card(page, 'By language').getByRole('rowheader', { name: 'German (Germany)' }).waitFor();
    await card(page, 'By banner version').getByRole('rowheader', { name: '2' }).waitFor();
    await card(page, 'By category').getByRole('rowheader', { name: 'analytics' }).waitFor();
    const complete =
      /^Complete until (.*, )?\d\d:\d\d UTC\. Without crawlers, which sent 7 decisions\. Opt-in rates are of each group’s own choices\.$/;
    await page.getByText(complete).waitFor();
    await figure(page, 'Opt-in rate').getByText('59.6%', { exact: true }).waitFor();
    const funnel = card(page, 'From banner to opt-in');
    expect(await funnel.getByRole('listitem').allTextContents()).toEqual([
      'Shown1,000how often a banner was shown',
      'Answered65465.4% of those shown; 34.6% without a choice',
      'Opted in39059.6% of the 654 choices in the banner',
    ]);
    const byVersion = funnel.getByRole('link', { name: 'By version' });
    expect(await byVersion.getAttribute('href')).toBe(`${address}/by/bannerVersion?${days}`);
    await card(page, 'Experiments').getByText('“short” is better than “plain” by').waitFor();

    // beside the days before, sorted by each column and exported as they are shown
    await card(page, 'By country').getByRole('link', { name: 'Open by country' }).click();
    await page.getByRole('table', { name: 'Decisions by country' }).waitFor();
    const germany = ['300', '45.7%', '210', '0', '90', '0', '70.0%', '50.0%', '+20.0 points'];
    expect(await cells(page, 'Germany')).toEqual(germany);
    expect(await cells(page, 'Sweden')).toEqual(['3', '0.5%', '0', '0', '0', '3', 'no choices yet', 'none', '–']);
    await page.getByRole('button', { name: 'Rejected all' }).click();
    expect((await firstColumn(page)).slice(0, 2)).toEqual(['France', 'Germany']);
    await page.getByRole('button', { name: 'Change' }).click();
    expect((await firstColumn(page)).slice(0, 2)).toEqual(['France', 'Germany']);
    await page.getByRole('button', { name: 'Country' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('th[aria-sort="ascending"]', { hasText: 'Country' }).waitFor();
    expect((await firstColumn(page))[0]).toBe('Austria');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${domainId}-country-${addDays(today, -6)}-${today}.csv`);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    expect(lines.slice(0, 3)).toEqual([
      'country,code,decisions,accept_all,custom,reject_all,withdraw,choices,optInRate,optInRateBefore',
      'Austria,AT,4,2,0,2,0,4,0.5,',
      'France,FR,300,150,0,150,0,300,0.5,0.2',
    ]);
    expect(lines).toContain('Sweden,SE,3,0,0,0,3,0,,');
    expect(lines).toContain('Unknown country,,22,12,0,10,0,22,0.5454545454545454,');

    // on a phone a group opens to the rest
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Country↑', 'Decisions↕', 'Opt-in rate↕']);
    await page.getByText('Germany').click();
    await page.getByText('+20.0 points').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('link', { name: 'Banner version' }).click();
    await page.getByRole('table', { name: 'Decisions by banner version' }).waitFor();
    expect((await cells(page, '2')).slice(-2)).toEqual(['1,000', '34.6%']);
    await page.getByRole('link', { name: 'Category' }).click();
    await page.getByRole('table', { name: 'Decisions by category' }).waitFor();
    expect((await cells(page, 'marketing')).slice(0, 2)).toEqual(['657', '30.0%']);

    // what may be concluded, with the intervals
    await go(page, `${address}/experiments?${days}`);
    await page.getByText('“short” is better than “plain” by 12.2 to 27.5 points.').waitFor();
    expect(await cells(page, 'short')).toEqual(['300', '210', '70.0%64.6% to 74.9%', '', '+20.0 points+12.2 to +27.5']);
    await page.getByRole('link', { name: 'colour' }).click();
    await page.getByText('Too early to tell: each variant needs at least 100 choices.').waitFor();

    await go(page, `${address}?${days}`);
    await card(page, 'By country').waitFor();
    // with experiments and displays, without one of them, with neither
    for (const cards of [7, 6, 5]) {
      for (const width of [390, 768, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        expect({ cards, width, short: await inShortRows(page) }).toEqual({ cards, width, short: 0 });
      }
      await page.locator('.cards-grid').evaluate((grid) => grid.firstElementChild?.remove());
    }
  });

  it('say what is missing: no figures, no experiment, too long a period, no such domain, a failure, no scope', async () => {
    const empty = `from=${addDays(today, -40)}&to=${addDays(today, -35)}`;
    const { page } = await dashboard.open(customer, `${address}/by/country?${empty}`);
    await page.getByText('No decisions in these days.').waitFor();
    await go(page, `${address}/experiments?${empty}`);
    await page.getByRole('heading', { name: 'No experiments in these days' }).waitFor();
    for (const path of [`${address}/by/country`, `${address}/experiments`, address]) {
      await go(page, `${path}?from=2020-01-01&to=${today}`);
      await page.getByText('at most 366 days: choose a shorter period').waitFor();
    }
    for (const path of ['by/country', 'experiments']) {
      await go(page, `/domains/dom_nobody/${path}`);
      await page.getByRole('heading', { name: 'Domain not found' }).waitFor();
      await page.goBack();
    }
    await page.route('**/stats?*by=*', (route) => route.fulfill({ status: 503, json: { code: 'unavailable' } }));
    await go(page, `${address}?${days}`);
    await page.getByRole('heading', { name: 'The service is unavailable' }).waitFor();
    // the other figures stay
    await page.getByRole('heading', { name: 'Breakdown' }).waitFor();
    await page.unroute('**/stats?*by=*');
    await card(page, 'By country').waitFor();
    const manager = { token: tokenFor(customer.organizationId, { scope: 'manage' }) };
    await follow(page, manager.token);
    await go(page, `${address}/by/device`);
    await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
  });

  it('give each domain of the overview its opt-in rate, of choices alone: to choose some and allow nothing is none', async () => {
    const { page } = await dashboard.open(customer);
    const list = page.getByRole('navigation', { name: 'Domains' });
    await list.getByRole('cell', { name: '40.0%' }).waitFor();
    await list.getByRole('cell', { name: '56.0%' }).waitFor();
    for (const names of [
      ['shop.example', 'blog.example'],
      ['blog.example', 'shop.example'],
    ]) {
      await list.getByRole('button', { name: 'Opt-in' }).click();
      expect(await list.getByRole('rowheader').allTextContents()).toEqual(names);
    }
    const other = await dashboard.customer();
    const own = { domainId: at(other.domains, 0).domainId };
    const off = { ...own, decision: 'custom', preferences: { necessary: true, analytics: false } } as const;
    const made = [
      ...Array.from({ length: 4 }, () => off),
      { ...own, decision: 'reject_all' } as const,
      { ...own, bot: true },
      { ...own, source: 'import', importedAt: new Date().toISOString() } as const,
    ];
    await dashboard.storeCounted(
      other,
      made.map((fields) => recordAt(Date.now(), fields)),
    );
    await dashboard.grouped(other, made.length);
    await follow(page, other.token);
    for (const path of ['/', `/domains/${own.domainId}?from=${today}&to=${dayOf(Date.now())}`]) {
      await go(page, path);
      await figureCard(page, 'Opt-in rate').getByText('of 5 choices').waitFor();
      await figure(page, 'Opt-in rate').getByText('0.0%', { exact: true }).waitFor();
      await page.getByRole('slider').focus();
      await expect.poll(() => page.getByRole('slider').getAttribute('aria-valuetext')).toContain('Opt-in rate 0.0%');
    }
  });

  it('say where visitors objected, and under which model, of a domain whose records have one', async () => {
    const other = await dashboard.customer();
    const own = { domainId: at(other.domains, 0).domainId };
    const inCalifornia = { ...own, region: 'US-CA', model: 'opt_out' } as const;
    const stored = [
      own,
      { ...own, region: 'GB-ENG', model: 'opt_in' } as const,
      { ...inCalifornia, decision: 'reject_all', source: 'gpc' } as const,
      { ...inCalifornia, decision: 'withdraw' } as const,
      { ...inCalifornia },
    ];
    await dashboard.storeCounted(
      other,
      stored.map((fields) => recordAt(Date.now(), fields)),
    );
    await dashboard.grouped(other, stored.length);
    const { page } = await dashboard.open(other, `/domains/${own.domainId}/by/region`);
    await page.getByRole('table', { name: 'Decisions by region' }).waitFor();
    const short = ['United States, CA', 'United Kingdom, ENG', 'No region'];
    expect((await firstColumn(page)).sort()).toEqual(short.toSorted());
    const decisions = ['3', '60.0%', '1', '0', '1', '1'];
    expect((await cells(page, 'United States')).slice(0, 8)).toEqual([...decisions, '2', 'not asked']);
    await page.getByRole('link', { name: 'Model' }).click();
    await page.getByRole('table', { name: 'Decisions by model' }).waitFor();
    expect((await cells(page, 'May object')).slice(0, 8)).toEqual([...decisions, '2', 'not asked']);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    const lines = readFileSync(await (await downloading).path(), 'utf8').split('\r\n');
    expect([at(lines, 0).split(',').at(-1), lines.find((line) => line.startsWith('May object'))]).toEqual([
      'objections',
      expect.stringMatching(/^May object,opt_out,3,1,0,1,1,0,,.*2$/),
    ]);
    // of a domain whose records have none it is not offered
    await follow(page, customer.token);
    await go(page, `${address}/by/region?${days}`);
    await page.getByRole('rowheader', { name: 'No region' }).waitFor();
    await page.getByRole('link', { name: 'Variant' }).waitFor();
    expect(await page.getByRole('link', { name: 'Model' }).count()).toBe(0);
  });
});
