import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { step } from '../support/browser/browser.ts';
import { go, history, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { at } from '../support/stack.ts';

const dashboard = useDashboard();

const customer = await dashboard.customer();
const domainPath = `/domains/${at(customer.domains, 0).domainId}`;
// of a record of the last minutes the page asks how far it is sealed, and browsers write the 404 to their console
const young = new Date(Date.now() - 600_000).toISOString();
await dashboard.storeCounted(
  customer,
  history(customer, 10, 10).filter(({ receivedAt }) => receivedAt < young),
);

/** The names of all that the keyboard reaches, each of which is seen to have the focus. */
const reached = async (page: Page) => {
  const names = await page.locator('a[href], button, input, select, summary, iframe, [tabindex]').evaluateAll((all) =>
    (all as HTMLInputElement[]).flatMap((each) => {
      each.focus();
      if (each.tabIndex < 0 || each !== document.activeElement) return [];
      const style = getComputedStyle(each.matches('.chart-reader') ? (each.closest('.chart-plot') ?? each) : each);
      const isSeen = style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
      const texts = [each.getAttribute('aria-label'), each.labels?.[0]?.textContent, each.textContent, each.localName];
      const name = texts.find((text) => text?.trim())?.trim();
      return isSeen || each.localName === 'iframe' ? [name] : [`${name} without a visible focus`];
    }),
  );
  expect(names.filter((name) => name?.endsWith('visible focus'))).toEqual([]);
  return names;
};

describe('the dashboard for everyone', () => {
  /** The pages, each with what is there once it is drawn. Their many states are looked at by the rehearsal. */
  const pages = (): [string, (page: Page) => Promise<void>][] => [
    ['/', (page) => page.locator('.stream-row').first().waitFor()],
    [domainPath, (page) => page.getByRole('region', { name: 'By country', exact: true }).waitFor()],
    [`${domainPath}/log`, (page) => page.getByRole('table').waitFor()],
    [`${domainPath}/settings`, (page) => page.getByRole('button', { name: 'New key' }).waitFor()],
    ['/webhooks/new', (page) => page.getByRole('textbox', { name: 'URL' }).waitFor()],
  ];

  it('contacts nothing but its own origin, breaks no rule of its policy, axe finds nothing, and focus is seen', async () => {
    const { page, messages } = await dashboard.visit();
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await page.goto(`${dashboard.api.baseUrl}/#token=${managerOf(customer).token}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // from now on the keyboard is what moves the focus, for browsers that show it only then
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    for (const [path, ready] of pages()) {
      await step(path, async () => {
        await go(page, path);
        await ready(page);
        expect(await violations(page)).toEqual([]);
      });
    }
    expect([...origins]).toEqual([dashboard.api.baseUrl]);
    expect(messages).toEqual([]);
    await step('everything that the keyboard reaches can be seen to have it', async () => {
      await go(page, domainPath);
      await page.getByRole('slider').waitFor();
      const ofStatistics = await reached(page);
      for (const name of ['Sign out', 'Yesterday', 'Show as a table', expect.stringContaining('read one day')])
        expect(ofStatistics).toContainEqual(name);
      await go(page, `${domainPath}/widget`);
      await page.frameLocator('iframe').getByRole('button', { name: 'Accept all' }).waitFor();
      const ofWidget = await reached(page);
      for (const name of ['Title', 'Colours', 'Behaviour', 'Desktop', 'Show again', 'Publish…', 'iframe'])
        expect(ofWidget).toContain(name);
    });
  });
});
