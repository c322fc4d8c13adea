import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, addMonths, dayOf, firstDay, lastDay, monthOf, startOf } from '#libs/contract/calendar';
import { presets } from '../../apps/dashboard/data/periods.ts';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  storeCounted,
  useService,
} from '../support/browser/dashboard.ts';
import { createClient } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';

const count = (value: number) => new Intl.NumberFormat('en-GB').format(value);
const today = () => dayOf(Date.now());

describe('the page of a domain', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let domainId: string;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, { domains: ['shop.example', 'blog.example'] });
    domainId = at(customer.domains, 0).domainId;
    await storeCounted(running, customer, history(customer, 75, 30));
  }, 120_000);

  const stats = async (query: string) =>
    (await createClient(running.api.baseUrl, customer).stats(domainId, query)).body;
  const page = async (query = '') => {
    const visitor = await open(visit.again, running, customer, `/domains/${domainId}${query}`);
    await figure(visitor.page, 'Decisions').waitFor();
    return visitor.page;
  };
  const query = (given: Page) => Object.fromEntries(new URL(given.url()).searchParams);
  /** Until the page has the figures of these days. */
  const showsDays = async (given: Page, from: string, to: string) => {
    const { total } = await stats(`from=${from}&to=${to}`);
    await expect.poll(() => figure(given, 'Decisions').textContent()).toBe(count(total));
    await given.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    expect(query(given)).toMatchObject({ from, to });
    return total;
  };

  it('begins with 30 days, and its address says so', async () => {
    const shown = await page();
    await showsDays(shown, addDays(today(), -29), today());
    expect(query(shown).interval).toBe('day');
    // to name none is no mistake
    expect(await shown.getByText('The address has no valid').count()).toBe(0);
  });

  it('a stranger finds yesterday’s opt-in rate from the home page', async () => {
    const { page: shown } = await open(visit.again, running, customer);
    await shown.getByRole('navigation', { name: 'Domains' }).getByRole('link', { name: 'shop.example' }).click();
    await shown.getByRole('link', { name: 'Yesterday' }).click();
    const yesterday = addDays(today(), -1);
    await showsDays(shown, yesterday, yesterday);
    const { breakdown } = await stats(`from=${yesterday}&to=${yesterday}`);
    const allowed = breakdown.accept_all + breakdown.custom;
    const rate = (allowed / (allowed + breakdown.reject_all)) * 100;
    expect(await figure(shown, 'Opt-in rate').textContent()).toBe(`${rate.toFixed(1)}%`);
    await shown.getByText('Opt-in rate = (accepted all + chose some) ÷').waitFor();
    // what is over does not move
    await shown.getByText('Complete period').waitFor();
  });

  it.each<[string, () => [string, string]]>([
    ['Today', () => [today(), today()]],
    ['7 days', () => [addDays(today(), -6), today()]],
    ['This month', () => [firstDay(monthOf(Date.now())), today()]],
    ['Last month', () => [firstDay(addMonths(monthOf(Date.now()), -1)), lastDay(addMonths(monthOf(Date.now()), -1))]],
    ['12 months', () => [firstDay(addMonths(monthOf(Date.now()), -11)), today()]],
  ])('%s is one click, and its link shows the same to others', async (name, days) => {
    const shown = await page();
    await shown.getByRole('link', { name, exact: true }).click();
    const [from, to] = days();
    await showsDays(shown, from, to);
    const address = shown.url();
    const label = await shown.locator('.chart figcaption').textContent();
    const somebodyElse = (options?: BrowserContextOptions) => visit.again(options, 'somebody else');
    const { page: other } = await open(somebodyElse, running, customer, address.slice(running.api.baseUrl.length));
    await showsDays(other, from, to);
    expect(other.url()).toBe(address);
    expect(await other.locator('.chart figcaption').textContent()).toBe(label);
    await shown.goBack();
    await showsDays(shown, addDays(today(), -29), today());
  });

  it('on a phone the chosen period is in view', async () => {
    const [, , , , , , year] = presets(Date.now());
    const { page: shown } = await open(
      visit,
      running,
      customer,
      `/domains/${domainId}?from=${year?.period.from}&to=${year?.period.to}`,
      { viewport: { width: 390, height: 844 } },
    );
    const chosen = shown.locator('.period .chips a[aria-current]');
    expect(await chosen.textContent()).toBe('12 months');
    await expect
      .poll(() => chosen.evaluate((chip) => Math.round(chip.getBoundingClientRect().right) <= innerWidth))
      .toBe(true);
    await shown.getByRole('link', { name: 'Today' }).click();
    // on the first of a month this month is chosen too
    const first = chosen.filter({ hasText: 'Today' });
    await first.waitFor();
    await expect.poll(() => first.evaluate((chip) => chip.getBoundingClientRect().left >= 0)).toBe(true);
  });

  it('one day has one bar, with its name below the middle of it', async () => {
    const shown = await page(`?from=${addDays(today(), -1)}&to=${addDays(today(), -1)}`);
    const name = shown.locator('.chart-names span');
    expect(await name.count()).toBe(1);
    const middle = (all: SVGElement | HTMLElement) => {
      const { left, width } = all.getBoundingClientRect();
      return left + width / 2;
    };
    const plot = await shown.locator('.chart-plot svg').evaluate(middle);
    expect(Math.abs((await name.evaluate(middle)) - plot)).toBeLessThan(2);
  });

  it.each([
    ['rises', 0, '+100.0 points'],
    ['falls', 1, '-100.0 points'],
  ])('a rate that %s has one sign', async (_, accepted, words) => {
    const swing = await makeCustomer(running.db);
    const { domainId: id } = at(swing.domains, 0);
    const decide = (back: number, decision: 'accept_all' | 'reject_all') =>
      recordAt(startOf(addDays(today(), -back)) + 1, { domainId: id, decision });
    const [one, other] = accepted ? (['accept_all', 'reject_all'] as const) : (['reject_all', 'accept_all'] as const);
    await storeCounted(running, swing, [decide(3, one), decide(2, other)]);
    const day = addDays(today(), -2);
    const { page: shown } = await open(visit.again, running, swing, `/domains/${id}?from=${day}&to=${day}`);
    const card = shown.locator('section.figure').filter({ has: shown.getByRole('heading', { name: 'Opt-in rate' }) });
    await expect.poll(() => card.locator('.change').textContent()).toBe(words);
  });

  it('any two days can be chosen, in order', async () => {
    const shown = await page();
    const [from, to] = [addDays(today(), -50), addDays(today(), -40)];
    await shown.getByLabel('From').fill(to);
    await shown.getByLabel('to', { exact: true }).fill(from);
    await shown.getByText('From must not be after To.').waitFor();
    expect(await shown.getByRole('button', { name: 'Show', exact: true }).isDisabled()).toBe(true);
    await shown.getByLabel('From').fill(from);
    await shown.getByLabel('to', { exact: true }).fill(to);
    await shown.getByRole('button', { name: 'Show', exact: true }).click();
    await showsDays(shown, from, to);
  });

  it('today, which is not over, is beside yesterday without a percentage', async () => {
    const shown = await page(`?from=${today()}&to=${today()}`);
    const { total } = await stats(`from=${addDays(today(), -1)}&to=${addDays(today(), -1)}`);
    const card = shown.locator('section.figure').filter({ has: shown.getByRole('heading', { name: 'Decisions' }) });
    const note = (await card.locator('.figure-note').textContent()) ?? '';
    expect(note).toContain(`so far; ${count(total)} on `);
    expect(note).not.toContain('%');
    expect(await shown.getByRole('row', { name: /Rejected all/ }).textContent()).toMatch(/–$/);
    expect(await shown.getByRole('navigation', { name: 'Chart by' }).count()).toBe(0);
  });

  it('is compared with the days before, which it names', async () => {
    const [from, to] = [addDays(today(), -20), addDays(today(), -11)];
    const shown = await page(`?from=${from}&to=${to}`);
    const total = await showsDays(shown, from, to);
    const before = await stats(`from=${addDays(from, -10)}&to=${addDays(from, -1)}`);
    const change = new Intl.NumberFormat('en-GB', {
      style: 'percent',
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
      signDisplay: 'exceptZero',
    }).format((total - before.total) / before.total);
    const card = shown.locator('section.figure').filter({ has: shown.getByRole('heading', { name: 'Decisions' }) });
    expect(await card.textContent()).toContain(`${change} against ${count(before.total)} in `);
    const row = shown.getByRole('row', { name: /Rejected all/ });
    expect(await row.textContent()).toContain(count(before.breakdown.reject_all));
  });

  it('the chart is by day or by month', async () => {
    const [from, to] = [addDays(today(), -70), today()];
    const shown = await page(`?from=${from}&to=${to}`);
    await shown.getByRole('link', { name: 'Month', exact: true }).click();
    await shown.getByRole('heading', { name: 'Decisions by month' }).waitFor();
    expect(query(shown)).toEqual({ from, to, interval: 'month' });
    const { series = [] } = await stats(`from=${from}&to=${to}&interval=month`);
    await shown.getByText('Show as a table').click();
    const rows = shown.getByRole('table', { name: /Decisions by month/ }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(series.length);
    expect(await rows.first().textContent()).toContain(count(series.at(-1)?.total ?? -1));
    expect(await shown.getByRole('link', { name: 'Day', exact: true }).getAttribute('href')).toContain('interval=day');
  });

  it('a period too long for days is by months, and one too long for both has its figures', async () => {
    const years = await page(`?from=${addDays(today(), -800)}&to=${today()}&interval=day`);
    await years.getByRole('heading', { name: 'Decisions by month' }).waitFor();
    const ages = await page('?from=2000-01-01&to=2030-12-31');
    await ages.getByText('A chart shows at most 366 days or 120 months.').waitFor();
    const { total } = await stats('from=2000-01-01&to=2030-12-31');
    expect(await figure(ages, 'Decisions').textContent()).toBe(count(total));
  });

  it.each([
    '?from=2026-02-30&to=x',
    '?from=2026-02-02',
    '?from=2026-03-01&to=2026-02-01',
    '?from=1999-01-01&to=1999-01-02',
  ])('an address that names no period (%s) shows the usual one, and says so', async (given) => {
    const shown = await page(given);
    await showsDays(shown, addDays(today(), -29), today());
    await shown.getByText('The address has no valid period, so these are the last 30 days.').waitFor();
    await shown.getByRole('link', { name: 'Yesterday' }).click();
    await shown.getByText('The address has no valid').waitFor({ state: 'detached' });
  });

  it('another organization’s domain is as one that does not exist', async () => {
    const other = await makeCustomer(running.db);
    for (const id of [at(other.domains, 0).domainId, 'dom_nobody']) {
      for (const part of ['', '/log']) {
        const { page: shown } = await open(visit.again, running, customer, `/domains/${id}${part}`);
        await shown.getByRole('heading', { name: 'Domain not found' }).waitFor();
        expect(await shown.locator('.figure-value').count()).toBe(0);
      }
    }
  });

  it('the menu leads to the same days of another domain', async () => {
    const [from, to] = [addDays(today(), -20), addDays(today(), -11)];
    const shown = await page(`?from=${from}&to=${to}`);
    await shown.getByRole('button', { name: /shop\.example/ }).click();
    await shown.getByRole('link', { name: /^blog\.example/ }).click();
    await shown.getByRole('heading', { name: 'blog.example' }).waitFor();
    expect(query(shown)).toMatchObject({ from, to });
  });
});
