/** The charts of a domain: whether something changed, and whether that helped; also on paper and with forced colours. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import type { NewRecord } from '#libs/record/contract';
import { step } from '../support/browser/browser.ts';
import { agents, figureCard, managerOf, queryOf, useDashboard } from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';

const today = dayOf(Date.now());
const daysAgo = (days: number) => addDays(today, -days);
const dashboard = useDashboard();
const customer = await dashboard.customer({ domains: ['shop.example', 'new.example', 'quiet.example'] });
const domainId = at(customer.domains, 0).domainId;
const address = `/domains/${domainId}`;
const banner = `/domains/${domainId}/banner`;

/** A day of 20 choices, so many of them opt-ins, and a withdrawal. */
const day = (ago: number, optIns: number, fields: Partial<NewRecord>): NewRecord[] =>
  Array.from({ length: 21 }, (_, index) =>
    recordAt(startOf(daysAgo(ago)) + 43_200_000 + index, {
      domainId,
      decision: index === 20 ? 'withdraw' : index >= optIns ? 'reject_all' : index % 3 === 0 ? 'custom' : 'accept_all',
      preferences: Object.fromEntries(
        ['analytics', 'marketing', 'maps', 'chat', 'video', 'fonts'].map((name, at) => [
          name,
          index < optIns / (at + 1),
        ]),
      ),
      source: index === 20 ? 'preferences' : 'banner',
      country: at(['DE', 'FR', 'GB', 'AT', 'CH', 'IT', 'SE'], index % 7),
      language: at(['de-DE', 'fr-FR', 'en-GB', 'it-IT', 'sv-SE', 'nl-NL'], index % 6),
      variant: at(['wording:long', 'wording:brief'], index % 2),
      userAgent: at(agents, index % 3),
      policyVersion: '2026-09',
      ...fields,
    }),
  );
const records = Array.from({ length: 44 }, (_, index) => 44 - index).flatMap((ago) => {
  const bannerVersion = ago > 16 ? 'plain' : 'short';
  return day(ago, (ago > 16 ? 8 : 13) + (ago % 3), { bannerVersion });
});
// versions that few have
for (const [index, record] of records.slice(-18).entries()) record.bannerVersion = `test-${index % 5}`;
await dashboard.store(records);
await dashboard.grouped(customer, records.length);
await dashboard.db.run(
  (sql) => sql`
    update facets set displays = 2000
    where domain_number = (select number from domains where id = ${domainId})
      and period = ${daysAgo(9)} and (dimension, value) = ('source', 'banner')`,
);
await dashboard.manage(customer, banner, { method: 'PUT', body: JSON.stringify({ texts: { en: { title: 'Hi' } } }) });
await dashboard.manage(customer, `${banner}/publish`, {
  method: 'POST',
  body: JSON.stringify({ note: 'A shorter title' }),
});
await dashboard.db.run(
  (sql) => sql`
    update banner_versions set published_at = ${`${daysAgo(6)}T09:00:00Z`}
    where domain_number = (select number from domains where id = ${domainId})`,
);

describe('the charts of a domain', () => {
  const open = async (path = address) => {
    const { page } = await dashboard.open(managerOf(customer), path);
    await page.locator('.chart-plot, .chart-card .muted').first().waitFor();
    return page;
  };
  const changes = (page: Page) => page.getByRole('table', { name: 'What changed' });

  it('show whether a change helped: its mark, and the rate before and after with its interval', async () => {
    const page = await open();
    await page.getByRole('heading', { name: 'Opt-in rate by day' }).waitFor();
    const rows = changes(page).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.first().textContent()).toContain('1. Banner version short first seen');
    expect(await rows.first().getByRole('cell').allTextContents()).toEqual([
      '45.0%40.9% to 49.2%',
      expect.stringMatching(/^70\.\d%/),
      expect.stringMatching(/^\+2\d\.\d points\+\d/),
    ]);
    expect(await rows.last().textContent()).toContain('2. Version 1 published');
    expect(await rows.last().textContent()).toContain('A shorter title');
    expect(await rows.last().locator('td.muted').count()).toBe(1);
    expect(await page.locator('.chart-mark').allTextContents()).toEqual(['1', '2']);

    await step('for the keyboard and screen readers', async () => {
      const reader = page.getByRole('slider', { name: /^Opt-in rate by day/ });
      await reader.focus();
      for (let index = 0; index < 6; index += 1) await page.keyboard.press('ArrowLeft');
      const spoken =
        /^.*: Opt-in rate 65\.0%, 95% interval .* to .*, Choices 20, Before .*, Changed Version 1 published$/;
      expect(await reader.getAttribute('aria-valuetext')).toMatch(spoken);
      await page.locator('.tip').getByText('Version 1 published').waitFor();
    });
    await step('by week and as counts, which are in the address', async () => {
      await page.getByRole('link', { name: 'Week', exact: true }).click();
      await page.getByRole('heading', { name: 'Opt-in rate by week' }).waitFor();
      await page.getByRole('link', { name: 'Counts', exact: true }).click();
      await page.getByRole('heading', { name: 'Decisions by week' }).waitFor();
      expect(queryOf(page)).toMatchObject({ interval: 'week', chart: 'counts' });
      await page.getByText('Show as a table').click();
      const weeks = page.getByRole('table', { name: /Decisions by week/ }).locator('tbody tr');
      await expect.poll(() => weeks.count()).toBeGreaterThanOrEqual(5);
      // withdrawals are hatched
      expect(await page.locator('.chart-plot path').last().getAttribute('style')).toContain('url("#hatch")');
    });
  });

  it('compare only what can be compared', async () => {
    const page = await open();
    // the 30 days before are not all covered, but have choices enough
    const note = (name: string) => figureCard(page, name).locator('.figure-note').textContent();
    expect(await note('Decisions')).toContain('no full period before');
    await expect.poll(() => note('Opt-in rate')).toMatch(/^\+1\d\.\d points vs. /);
    await page.getByRole('link', { name: '7 days', exact: true }).click();
    await expect.poll(() => note('Decisions')).toMatch(/^−14\.3% .*vs. 147 in /);
    await expect.poll(() => note('Opt-in rate')).toMatch(/\(may be chance\)$/);
  });

  it('while the rates lag behind the counts, they are being updated', async () => {
    const own = { domainId: at(customer.domains, 1).domainId };
    const { page } = await dashboard.open(customer, `/domains/${own.domainId}`);
    await page
      .getByRole('heading', { name: 'Waiting for the first' })
      .waitFor()
      .catch(() => undefined);
    await dashboard.store([recordAt(Date.now() - 1_000, own)]);
    await figureCard(page, 'Opt-in rate').getByText('updating…').waitFor();
    await page.locator('.chart-card').getByText('updating…').waitFor();
    await dashboard.grouped(customer, records.length + 1);
    await figureCard(page, 'Opt-in rate').getByText('of 1 choice').waitFor();
  });

  it('on paper have a title, no menus, and fit on two sheets', async () => {
    const month = `?from=${daysAgo(30)}&to=${daysAgo(1)}`;
    const page = await open(address + month);
    await changes(page).waitFor();
    await page.getByRole('region', { name: 'By country' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText(/^Consent statistics of shop\.example, .* \(UTC\)$/).waitFor();
    for (const gone of ['.top', '.tabs', '.crumbs', '.chips', '.period'])
      expect(await page.locator(gone).first().isVisible()).toBe(false);
    await page.emulateMedia({ media: null });
    const margin = { top: '1cm', right: '1cm', bottom: '1cm', left: '1cm' };
    const path = process.env.SCREENSHOTS && '/tmp/shots-a/report.pdf';
    const pdf = (await page.pdf({ format: 'A4', margin, ...(path && { path }) })).toString('latin1');
    const sheets = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(sheets).toBeGreaterThan(0);
    expect(sheets).toBeLessThanOrEqual(2);
  });

  it('with forced colours mark what is chosen, on every screen', async () => {
    const page = await open();
    await changes(page).waitFor();
    if (process.env.SCREENSHOTS) mkdirSync('.data/screenshots', { recursive: true });
    await look(page, 'charts');
    await page.emulateMedia({ forcedColors: 'active' });
    const of = (selector: string, property: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((link, name) => getComputedStyle(link).getPropertyValue(name), property);
    expect(await of('.tabs a:not([aria-current])', 'border-bottom-width')).toBe('0px');
    expect(await of('.tabs a[aria-current]', 'border-bottom-width')).toBe('2px');
    expect(await of('.chips a[aria-current]', 'background-color')).toBe(
      await page.evaluate(() => {
        document.body.style.backgroundColor = 'Highlight';
        return getComputedStyle(document.body).backgroundColor;
      }),
    );
  });
});
