/** What the categories are made of, on a page of the site's own, such as its policy. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hold } from '../support/browser/browser.ts';
import { look, violations } from '../support/browser/look.ts';
import { config } from '../support/browser/site.ts';
import { treeOf } from '../support/browser/tree.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

describe('a cookie table', () => {
  const widget = useWidget(useStack);

  const markup = '<img src=x onerror="document.title=1">';
  const counter = {
    name: `Counter ${markup}`,
    provider: 'Counter Ltd',
    country: 'IE',
    purpose: 'Counts visits.',
    policyUrl: 'https://counter.example/privacy',
    cookies: [{ name: '_ga*', domain: 'example.com', duration: '2 years' }, { name: '_gid' }],
  };
  const bad = { name: 'Bad link', policyUrl: 'javascript:document.title=2' };
  const settings = {
    categories: [
      { id: 'necessary', label: 'Needed', services: [{ name: 'Basket', cookies: [{ name: 'basket' }] }] },
      { id: 'analytics', services: [counter, bad] },
      'marketing',
    ],
  };
  const place = '<div data-assent-services></div>';
  const style = `<meta name="viewport" content="width=device-width"><style>
    @media (width < 40em) { [data-assent-services] :is(table, tbody, tr, th, td, caption) { display: block } }
    [data-assent-services] { overflow-wrap: anywhere } td { color: rgb(1, 2, 3) }</style>`;
  const add = (path: string, body: string) => widget.add(path, style + config(settings) + widget.tag(), body);
  const rows = (page: Page, which = 0) => page.getByRole('table').nth(which).getByRole('row').allInnerTexts();

  it('has a caption, headers and a row for each cookie, as text alone, in the page’s own styles, and is read well', async () => {
    const { page } = await widget.visit();
    const session = await page.context().newCDPSession(page);
    await page.goto(add('/policy', `<h1>Cookies</h1>${place}`));
    await page.getByRole('cell', { name: '_gid' }).waitFor();
    await page.getByRole('button', { name: 'Reject all' }).click();
    expect(await page.getByRole('table').count()).toBe(2);
    expect(await rows(page, 1)).toEqual([
      'Services\tProvider\tPurpose\tCookies\tStorage period',
      `Counter ${markup} Privacy policy\tCounter Ltd (Ireland)\tCounts visits.\t_ga* example.com\t2 years`,
      '_gid\t',
      'Bad link\t\t\t\t',
    ]);
    await page.getByText('Marketing', { exact: true }).waitFor();
    expect(await page.locator(`main :is(img, [href^=javascript])`).count()).toBe(0);
    expect(
      await page
        .getByRole('cell')
        .first()
        .evaluate((cell) => getComputedStyle(cell).color),
    ).toBe('rgb(1, 2, 3)');
    expect(await page.getByRole('rowheader', { name: 'Basket' }).count()).toBe(1);
    expect((await treeOf(session)).join('\n')).toContain(`
    table "Needed Needed for this site to work."
      strong
        StaticText "Needed"
      StaticText "Needed for this site to work."
      rowgroup
        row
          columnheader "Services"
          columnheader "Provider"
          columnheader "Purpose"
          columnheader "Cookies"
          columnheader "Storage period"
      row
        rowheader "Basket"
        cell
        cell
        cell "basket"
        cell
`);
    expect(await violations(page)).toEqual([]);
    await look(page, 'cookie-table');
  });

  it('follows the language, and comes into what is added later, or emptied', async () => {
    const { page } = await widget.visit.again();
    await page.goto(add('/later', '<h1>Cookies</h1>'));
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.locator('dialog:modal').waitFor();
    await page.evaluate((html) => document.querySelector('main')?.insertAdjacentHTML('beforeend', html), place);
    await page.locator('main table').first().waitFor();
    await page.evaluate(() => window.assent?.setLanguage('de'));
    await page.locator('main').getByText('Notwendig').first().waitFor({ state: 'detached' });
    await page.locator('main').getByText('Speicherdauer').first().waitFor();
    // the site's own label stays, and nothing is left of the first language
    const text = await page.locator('main').innerText();
    expect(text).toContain('Needed');
    expect(text).not.toMatch(/Storage period|Provider/);
    expect(await page.locator('main table').first().getAttribute('lang')).toBe('de');
    await page.locator('[data-assent-services]').evaluate((each) => each.replaceChildren());
    await page.locator('main table').first().waitFor();
    await page.evaluate(() => window.assent?.setLanguage('ar'));
    await page.locator('main table[dir=rtl]').first().waitFor();
  });

  it('comes with the second file, however late, and stays empty without the widget', async () => {
    const { page } = await widget.visit.again();
    const file = /\/assent-preferences-[0-9a-f]{16}\.js$/;
    const release = await hold(page, file);
    const asked = page.waitForRequest(file);
    await page.goto(add('/policy', place), { waitUntil: 'domcontentloaded' });
    await asked;
    await page.getByRole('dialog').waitFor();
    expect(await page.locator('[data-assent-services] > *').count()).toBe(0);
    release();
    await page.locator('main table').first().waitFor();
    await page.route('**/widget.js', (route) => route.abort());
    await page.reload();
    expect(await page.locator('[data-assent-services]').innerHTML()).toBe('');
  });
});
