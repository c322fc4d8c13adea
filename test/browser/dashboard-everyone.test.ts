import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { step } from '../support/browser/browser.ts';
import { figure, go, history, managerOf, useDashboard } from '../support/browser/dashboard.ts';
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

describe('the dashboard for everyone', () => {
  /** The pages, each with what is there once it is drawn. Their many states are looked at by the rehearsal. */
  const pages = (): [string, (page: Page) => Promise<void>][] => [
    ['/', (page) => page.locator('.stream-row').first().waitFor()],
    [domainPath, (page) => page.getByRole('region', { name: 'By country', exact: true }).waitFor()],
    [`${domainPath}/log`, (page) => page.getByRole('table').waitFor()],
    [`${domainPath}/settings`, (page) => page.getByRole('button', { name: 'New key' }).waitFor()],
    ['/webhooks/new', (page) => page.getByRole('textbox', { name: 'URL' }).waitFor()],
  ];

  it('contacts nothing but its own origin, breaks no rule of its policy, and axe finds nothing', async () => {
    const { page, messages } = await dashboard.visit();
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await page.goto(`${dashboard.api.baseUrl}/#token=${managerOf(customer).token}`);
    for (const [path, ready] of pages()) {
      await step(path, async () => {
        await go(page, path);
        await ready(page);
        expect(await violations(page)).toEqual([]);
      });
    }
    expect([...origins]).toEqual([dashboard.api.baseUrl]);
    expect(messages).toEqual([]);
  });

  it('everything that the keyboard reaches can be seen to have it', async () => {
    const { page } = await dashboard.open(customer, domainPath);
    await figure(page, 'Decisions').waitFor();
    // from now on the keyboard is what moves the focus, for browsers that show it only then
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    const reached = await page.locator('a[href], button, input, select, summary, [tabindex]').evaluateAll((all) =>
      (all as HTMLElement[]).flatMap((each) => {
        each.focus();
        if (each.tabIndex < 0 || each !== document.activeElement) return [];
        const style = getComputedStyle(each.matches('.chart-reader') ? (each.closest('.chart-plot') ?? each) : each);
        const isSeen = style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
        const name = each.getAttribute('aria-label') ?? each.textContent?.trim() ?? '';
        return isSeen ? name : `${name} without a visible focus`;
      }),
    );
    expect(reached.filter((name) => name.endsWith('visible focus'))).toEqual([]);
    for (const name of ['Sign out', 'Yesterday', 'Show as a table', expect.stringContaining('read one day')])
      expect(reached).toContainEqual(name);
  });
});
