import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, addMonths, dayOf, firstDay, lastDay, monthOf } from '#libs/base/terms/calendar';
import { crumb, step } from '../support/browser/browser.ts';
import {
  count,
  figure,
  figureCard,
  go,
  history,
  oneDecimal,
  queryOf,
  useDashboard,
} from '../support/browser/dashboard.ts';
import { at } from '../support/stack.ts';

const today = () => dayOf(Date.now());
const daysAgo = (days: number) => addDays(today(), -days);
const lastThirty = () => [daysAgo(29), today()] as const;

const dashboard = useDashboard();

const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });
const domainId = at(customer.domains, 0).domainId;
const address = `/domains/${domainId}`;
const records = history(customer, 62, 16);
await dashboard.storeCounted(customer, records);
await dashboard.grouped(customer, records.length);

describe('the page of a domain', () => {
  const stats = async (query: string) => (await dashboard.client(customer).stats(domainId, query)).body;
  const domain = async (query = '') => {
    const { page } = await dashboard.open(customer, address + query);
    await figure(page, 'Decisions').waitFor();
    return page;
  };
  /** Until the page has the figures of these days. */
  const showsDays = async (page: Page, from: string, to: string) => {
    const { total } = await stats(`from=${from}&to=${to}`);
    await figure(page, 'Decisions').getByText(count(total), { exact: true }).waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    expect(queryOf(page)).toMatchObject({ from, to });
    return total;
  };

  it('begins with 30 days, and any others are chosen by a click, by typing them or by an address', async () => {
    const page = await domain();
    await showsDays(page, ...lastThirty());
    expect(queryOf(page).interval).toBe('day');
    const told = page.getByText('The address has no valid period, so these are the last 30 days.');
    // to name none is no mistake
    expect(await told.count()).toBe(0);
    await step('a ready-made period, whose address shows the same again', async () => {
      await page.getByRole('link', { name: 'Last month', exact: true }).click();
      const month = addMonths(monthOf(Date.now()), -1);
      await showsDays(page, firstDay(month), lastDay(month));
      const [address, label] = [page.url(), page.locator('.chart figcaption')];
      const text = await label.textContent();
      await page.reload();
      await showsDays(page, firstDay(month), lastDay(month));
      expect([page.url(), await label.textContent()]).toEqual([address, text]);
      await page.goBack();
      await showsDays(page, ...lastThirty());
    });
    await step('two days, in order', async () => {
      const [from, to] = [daysAgo(50), daysAgo(40)];
      await page.getByLabel('From').fill(to);
      await page.getByLabel('to', { exact: true }).fill(from);
      await page.getByText('From must not be after To.').waitFor();
      const show = page.getByRole('button', { name: 'Show', exact: true });
      expect(await show.isDisabled()).toBe(true);
      await page.getByLabel('From').fill(from);
      await page.getByLabel('to', { exact: true }).fill(to);
      await show.click();
      await showsDays(page, from, to);
    });
    await step('an address that names no period shows the usual one, and says so', async () => {
      await go(page, `${address}?from=2026-03-01&to=2026-02-01`);
      await told.waitFor();
      await showsDays(page, ...lastThirty());
      await page.getByRole('link', { name: 'Yesterday' }).click();
      await told.waitFor({ state: 'detached' });
    });
    await step('on a phone the chosen period is in view', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      for (const name of ['12 months', 'Today']) {
        await page.getByRole('link', { name, exact: true }).click();
        // on the first of a month this month is chosen too
        const chosen = page.locator('.period .chips a[aria-current]', { hasText: name });
        const edges = () =>
          chosen.evaluate((chip) => {
            const { left, right } = chip.getBoundingClientRect();
            return left >= 0 && Math.round(right) <= innerWidth;
          });
        await expect.poll(edges).toBe(true);
      }
    });
  });

  it('today, which is not over, is beside yesterday without a percentage, other days are compared with those before', async () => {
    const page = await domain(`?from=${today()}&to=${today()}`);
    const { total: yesterday } = await stats(`from=${daysAgo(1)}&to=${daysAgo(1)}`);
    const note = (await figureCard(page, 'Decisions').locator('.figure-note').textContent()) ?? '';
    expect(note).toContain(`vs. ${count(yesterday)} in the previous day`);
    expect(note).not.toContain('%');
    expect(await page.getByRole('row', { name: /Rejected all/ }).textContent()).toMatch(/–$/);
    expect(await page.getByRole('navigation', { name: 'Chart by' }).count()).toBe(0);
    const middle = (all: SVGElement | HTMLElement) => {
      const { left, width } = all.getBoundingClientRect();
      return left + width / 2;
    };
    const [plot, name] = [page.locator('.chart-plot svg'), page.locator('.chart-names span')];
    // its name is below its one bar
    expect(Math.abs((await name.evaluate(middle)) - (await plot.evaluate(middle)))).toBeLessThan(2);

    const [from, to] = [daysAgo(20), daysAgo(11)];
    await go(page, `${address}?from=${from}&to=${to}`);
    const total = await showsDays(page, from, to);
    const before = await stats(`from=${addDays(from, -10)}&to=${addDays(from, -1)}`);
    const percent = new Intl.NumberFormat('en-GB', { style: 'percent', signDisplay: 'exceptZero', ...oneDecimal });
    const change = percent.format((total - before.total) / before.total).replace('-', '−');
    expect(await figureCard(page, 'Decisions').textContent()).toContain(
      `${change} vs. ${count(before.total)} in the previous 10 days`,
    );
    const row = page.getByRole('row', { name: /Rejected all/ });
    expect(await row.textContent()).toContain(count(before.breakdown.reject_all));
    await page.getByRole('button', { name: /shop\.example/ }).click();
    await page.getByRole('link', { name: /^blog\.example/ }).click();
    await crumb(page, 'blog.example').waitFor();
    expect(queryOf(page)).toMatchObject({ from, to });
  });

  it('the chart is by day or by month, and a period too long for both has its figures', async () => {
    const [from, to] = [daysAgo(70), today()];
    const page = await domain(`?from=${from}&to=${to}&chart=counts`);
    await page.getByRole('link', { name: 'Month', exact: true }).click();
    await page.getByRole('heading', { name: 'Decisions by month' }).waitFor();
    expect(queryOf(page)).toEqual({ from, to, interval: 'month', chart: 'counts' });
    const { series = [] } = await stats(`from=${from}&to=${to}&interval=month`);
    await page.getByText('Show as a table').click();
    const rows = page.getByRole('table', { name: /Decisions by month/ }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(series.length);
    expect(await rows.first().textContent()).toContain(count(series.at(-1)?.total ?? -1));
    expect(await page.getByRole('link', { name: 'Day', exact: true }).getAttribute('href')).toContain('interval=day');
    const long = ['2000-01-01', daysAgo(-365)] as const;
    await go(page, `${address}?from=${long[0]}&to=${long[1]}`);
    await page.getByText('A chart shows at most 366 days or 120 months.').waitFor();
    await showsDays(page, ...long);
    await step('another organization’s domain is as one that does not exist', async () => {
      const other = await dashboard.customer();
      for (const path of [`/domains/${at(other.domains, 0).domainId}`, '/domains/dom_nobody/log']) {
        await go(page, path);
        await page.getByRole('heading', { name: 'Domain not found' }).waitFor();
        expect(await page.locator('.figure-value').count()).toBe(0);
        await page.goBack();
        await figure(page, 'Decisions').waitFor();
      }
    });
  });
});
