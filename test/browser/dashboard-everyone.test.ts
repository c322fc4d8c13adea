import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { at } from '../e2e/stack.ts';
import { useBrowser } from './browser.ts';
import {
  type Customer,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  startService,
  store,
  storeCounted,
} from './dashboard.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
/** Milliseconds from a key or a click to the next picture. */
const noticed = 100;

describe('the dashboard for everyone', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let capped: Customer;
  let without: Customer;
  let empty: Customer;

  beforeAll(async () => {
    running = await startService();
    customer = await makeCustomer(running.db, {
      domains: ['shop.example', ...Array.from({ length: 199 }, (_, index) => `site-${index}.example`)],
    });
    capped = await makeCustomer(running.db, { monthlyRecordLimit: 5 });
    without = await makeCustomer(running.db, { consentLog: false });
    empty = await makeCustomer(running.db);
    await storeCounted(running, customer, history(customer, 60, 100));
    await store(running.db, history(capped, 40, 4));
  }, 120_000);

  const domainPath = (who: Customer) => `/domains/${at(who.domains, 0).domainId}`;
  // by way of the debugger: the policy lets no script in
  const violations = async (page: Page) => {
    await page.evaluate(axe);
    const results = await page.evaluate(() => (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
    return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
  };

  describe.each([
    ['light', { width: 1440, height: 900 }],
    ['dark', { width: 1440, height: 900 }],
    ['light', { width: 390, height: 844 }],
  ] as const)('in %s, %o, axe finds nothing', (colorScheme, viewport) => {
    const look = async (who: Pick<Customer, 'token'>, path: string) =>
      (await open(visit, running, who, path, { colorScheme, viewport, reducedMotion: 'reduce' })).page;

    it('on the home page, with its table, its menu and a day being read', async () => {
      const page = await look(customer, '/');
      await page.locator('.stream-row').first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByText('Show as a table').click();
      await page.getByRole('slider').focus();
      await page.locator('.tip').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Domains' }).click();
      await page.getByRole('searchbox').waitFor();
      expect(await violations(page)).toEqual([]);
    });

    it('on the pages of a domain', async () => {
      const page = await look(customer, domainPath(customer));
      await figure(page, 'Decisions').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('table').waitFor();
      expect(await violations(page)).toEqual([]);
      await page
        .getByRole('button', { name: /Details/ })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      expect(await violations(page)).toEqual([]);
    });

    it('where a plan rules, where nothing is yet, where something is wrong, and at the door', async () => {
      const states: [Pick<Customer, 'token'>, string, string][] = [
        [capped, `${domainPath(capped)}/log`, '.rule'],
        [without, `${domainPath(without)}/log`, '.rule'],
        [empty, '/', '.first-steps'],
        [empty, `${domainPath(empty)}/log`, '.nothing'],
        [customer, '/domains/dom_nobody', '.trouble'],
        [{ token: 'none' }, '/', '.sign-in .notice'],
      ];
      for (const [who, path, ready] of states) {
        const page = await look(who, path);
        await page.locator(ready).waitFor();
        expect([path, await violations(page)]).toEqual([path, []]);
        await page.close();
      }
    });

    it('while it loads', async () => {
      const { page } = await visit({ colorScheme, viewport });
      await page.route('**/v1/consent/**', () => {});
      await page.goto(`${running.api.baseUrl}/#token=${customer.token}`);
      await page.locator('.slow-note').waitFor();
      expect(await violations(page)).toEqual([]);
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
    for (const name of ['To the content', 'Sign out', 'Yesterday', 'Show as a table']) expect(reached).toContain(name);
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

  it(`answers every click and key within ${noticed} ms, with 200 domains`, async () => {
    const tour = async () => {
      const { page, context } = await open(visit, running, customer);
      await page.evaluate(() => {
        const seen: [string, number][] = [];
        Object.assign(window, { seen });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as PerformanceEventTiming[]) {
            const place = entry.target instanceof Element ? entry.target.className : 'gone';
            seen.push([`${entry.name} ${place}`, entry.duration]);
          }
        }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
      });
      await page.locator('.stream-row').first().waitFor();
      await page.getByRole('slider').focus();
      for (let index = 0; index < 5; index += 1) await page.keyboard.press('ArrowLeft');
      await page.getByText('Show as a table').click();
      await page.getByRole('button', { name: 'Domains' }).click();
      // as fast as people type
      await page.keyboard.type('shop', { delay: 80 });
      await page.getByText('1 domains').waitFor({ state: 'attached' });
      await page.keyboard.press('Enter');
      await figure(page, 'Decisions').waitFor();
      for (const name of ['12 months', 'Last month', '30 days']) {
        await page.getByRole('link', { name }).click();
        await page.locator('.chips a[aria-current]', { hasText: name }).waitFor();
      }
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('table').waitFor();
      await page.getByRole('combobox', { name: 'Rows' }).selectOption('200');
      await page.getByText(/^1 to 200 of/).waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText(/^201 to/).waitFor();
      await page
        .getByRole('button', { name: /Details/ })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      const seen = await page.evaluate(() => (window as unknown as { seen: [string, number][] }).seen);
      await context.close();
      return seen.sort((one, other) => other[1] - one[1])[0] ?? ['none', 0];
    };
    // a machine that does much else has its moments: one of five tours has to be without
    const slowest: (string | number)[][] = [];
    for (let turn = 0; turn < 5 && !slowest.some(([, duration]) => Number(duration) <= noticed); turn += 1) {
      slowest.push(await tour());
    }
    console.log('slowest interaction of each tour:', JSON.stringify(slowest));
    expect(Math.min(...slowest.map(([, duration]) => Number(duration)))).toBeLessThanOrEqual(noticed);
  });
});
