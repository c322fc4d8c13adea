import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  enter,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  store,
  storeCounted,
  useService,
} from '../support/browser/dashboard.ts';
import { violations as run } from '../support/browser/look.ts';
import { tokenFor } from '../support/client.ts';
import { at } from '../support/stack.ts';

const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };
const ofColours: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
const looks = [
  ['light, desk', 'light', desk, {}],
  ['dark, desk', 'dark', desk, ofColours],
  ['light, phone', 'light', phone, {}],
] as const;

describe('the dashboard for everyone', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let capped: Customer;
  let without: Customer;
  let empty: Customer;
  let officer: Pick<Customer, 'token'>;
  let manager: Pick<Customer, 'token'>;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, {
      domains: ['shop.example', ...Array.from({ length: 39 }, (_, index) => `site-${index}.example`)],
    });
    officer = { token: tokenFor(customer.organizationId, { scope: 'read privacy' }) };
    manager = { token: tokenFor(customer.organizationId, { scope: 'read manage' }) };
    capped = await makeCustomer(running.db, { monthlyRecordLimit: 5 });
    without = await makeCustomer(running.db, { consentLog: false });
    empty = await makeCustomer(running.db);
    // of a record of the last minutes the page asks how far it is sealed, and browsers write the 404 to their console
    const young = new Date(Date.now() - 600_000).toISOString();
    await storeCounted(
      running,
      customer,
      history(customer, 60, 20).filter(({ receivedAt }) => receivedAt < young),
    );
    await store(running.db, history(capped, 40, 4));
  }, 120_000);

  const domainPath = (who: Customer) => `/domains/${at(who.domains, 0).domainId}`;
  /** What axe finds in each scheme and size. Where only colours are others, only what looks at colours looks again. */
  const violations = async (page: Page) => {
    const found: Record<string, unknown> = {};
    for (const [name, colorScheme, viewport, options] of looks) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      const all = await run(page, options);
      if (all.length > 0) found[name] = all;
    }
    return found;
  };

  describe('in both schemes, on a desk and on a phone, axe finds nothing', () => {
    const look = async (who: Pick<Customer, 'token'>, path: string) =>
      (await open(visit.again, running, who, path)).page;

    it('on the home page, with its table, its menu and a day being read', async () => {
      const page = await look(customer, '/');
      await page.locator('.stream-row').first().waitFor();
      await page.getByText('Show as a table').click();
      await page.getByRole('slider').focus();
      await page.locator('.tip').waitFor();
      expect(await violations(page)).toEqual({});
      await page.getByRole('button', { name: 'Domains' }).click();
      await page.getByRole('searchbox').waitFor();
      expect(await violations(page)).toEqual({});
    });

    it('on the pages of a domain', async () => {
      const page = await look(customer, domainPath(customer));
      await figure(page, 'Decisions').waitFor();
      expect(await violations(page)).toEqual({});
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('table').waitFor();
      expect(await violations(page)).toEqual({});
      await page
        .getByRole('button', { name: /Details/ })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(page)).toEqual({});
    });

    it('on a visitor’s page, and in the dialog that erases', async () => {
      const page = await look(officer, `${domainPath(customer)}/log`);
      await page.locator('.log-text a').first().click();
      await page.locator('.timeline').waitFor();
      expect(await violations(page)).toEqual({});
      await page.getByRole('button', { name: 'Erase…' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(page)).toEqual({});
    });

    it('on the export of the log, while it runs, once it is saved, and where it fails', async () => {
      const page = await look(customer, `${domainPath(customer)}/log`);
      const section = page.getByRole('region', { name: 'Export' });
      await section.getByRole('button', { name: 'CSV', exact: true }).click();
      await section.getByText(/^Saved as/).waitFor();
      expect(await violations(page)).toEqual({});
      await page.route('**/export?**', () => {});
      await section.getByRole('button', { name: 'NDJSON' }).click();
      await section.getByText('Exporting…').waitFor();
      expect(await violations(page)).toEqual({});
      await section.getByRole('button', { name: 'Cancel' }).click();
      await page.unroute('**/export?**');
      await page.route('**/export?**', (route) => route.abort());
      await section.getByRole('button', { name: 'CSV', exact: true }).click();
      await section.getByText(/^The export failed/).waitFor();
      expect(await violations(page)).toEqual({});
    });

    it.each<[string, () => Pick<Customer, 'token'>, () => string, string]>([
      ['a limit is reached', () => capped, () => `${domainPath(capped)}/log`, '.plan-notice'],
      ['a plan has no log', () => without, () => `${domainPath(without)}/log`, '.plan-notice'],
      ['nothing is yet', () => empty, () => '/', '.message'],
      ['the log is empty', () => empty, () => `${domainPath(empty)}/log`, '.nothing'],
      ['a visitor is to be named', () => officer, () => `${domainPath(customer)}/visitor`, '.find-visitor'],
      ['a token may not read visitors', () => customer, () => `${domainPath(customer)}/visitor`, '.plan-notice'],
      ['a token may not manage webhooks', () => customer, () => '/webhooks', '.plan-notice'],
      [
        'there are no webhooks',
        () => ({ token: tokenFor(empty.organizationId, { scope: 'manage' }) }),
        () => '/webhooks',
        '.message',
      ],
      ['there is no such webhook', () => manager, () => '/webhooks/wh_nobody', '.message'],
      ['there is no such domain', () => customer, () => '/domains/dom_nobody', '.message'],
      ['one is not signed in', () => ({ token: 'none' }), () => '/', '.sign-in .notice'],
    ])('where %s', async (_, who, path, ready) => {
      const page = await look(who(), path());
      await page.locator(ready).waitFor();
      expect(await violations(page)).toEqual({});
    });

    it('while it loads', async () => {
      const { page } = await visit.again();
      await page.route('**/v1/consent/**', () => {});
      await enter(page, running, customer);
      await page.locator('.slow-note').waitFor();
      expect(await violations(page)).toEqual({});
    });
  });

  it('everything that the keyboard reaches can be seen to have it', async () => {
    const { page } = await open(visit, running, customer, domainPath(customer));
    await figure(page, 'Decisions').waitFor();
    const reached: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      await page.keyboard.press('Tab');
      const { name, isSeen, isEnd } = await page.evaluate(() => {
        const active = document.activeElement;
        const shown = active?.matches('.chart-reader') ? active.closest('.chart-plot') : active;
        const style = shown && getComputedStyle(shown);
        return {
          // past the last one the browser itself has the keyboard
          isEnd: active === document.body,
          name: active?.getAttribute('aria-label') ?? active?.textContent?.trim() ?? '',
          isSeen: style?.outlineStyle !== 'none' && Number.parseFloat(style?.outlineWidth ?? '0') >= 1,
        };
      });
      if (isEnd) break;
      reached.push(isSeen ? name : `${name} without a visible focus`);
    }
    expect(reached.filter((name) => name.endsWith('visible focus'))).toEqual([]);
    for (const name of ['Skip to content', 'Sign out', 'Yesterday', 'Show as a table']) expect(reached).toContain(name);
    expect(reached.some((name) => name.includes('read one day'))).toBe(true);
  });

  it('contacts nothing but its own origin, and breaks no rule of its policy', async () => {
    const { page, messages } = await visit();
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    await page.goto(`${running.api.baseUrl}/#token=${customer.token}`);
    await page.locator('.stream-row').first().waitFor();
    await page.getByRole('slider').focus();
    await page.goto(`${running.api.baseUrl}${domainPath(customer)}/log`);
    await page.getByRole('table').waitFor();
    expect([...origins]).toEqual([running.api.baseUrl]);
    expect(messages).toEqual([]);
  });
});
