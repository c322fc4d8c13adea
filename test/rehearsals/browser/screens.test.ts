import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataRoot } from '../../../scripts/stack/paths.ts';
import { useBrowser } from '../../support/browser/browser.ts';
import {
  type Customer,
  history,
  makeCustomer,
  open,
  type Running,
  storeCounted,
  useService,
} from '../../support/browser/dashboard.ts';

const screenshots = path.join(dataRoot, 'screenshots');
const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

describe('the dashboard looks as it does in .data/screenshots', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let capped: Customer;
  let empty: Customer;
  let without: Customer;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    running = useService();
    customer = await makeCustomer(running.db, {
      domains: ['shop', 'www', 'outlet', 'blog', 'community', 'careers'].map((name) => `${name}.northwind.example`),
      monthlyRecordLimit: 20_000,
      plan: 'Business',
    });
    capped = await makeCustomer(running.db, {
      name: 'Fabrikam',
      domains: ['fabrikam.example'],
      monthlyRecordLimit: 100,
      plan: 'Starter',
    });
    empty = await makeCustomer(running.db, { name: 'Contoso', domains: ['www.contoso.example'], plan: 'Trial' });
    without = await makeCustomer(running.db, {
      name: 'Tailspin',
      domains: ['tailspin.example'],
      consentLog: false,
      plan: 'Basic',
    });
    await Promise.all([
      storeCounted(running, customer, history(customer, 62, 60)),
      storeCounted(running, capped, history(capped, 62, 40)),
    ]);
  }, 120_000);

  const shoot = async (page: Page, name: string) => {
    const image = await page.screenshot({
      path: path.join(screenshots, `dashboard-${name}.png`),
      animations: 'disabled',
    });
    expect(image.length).toBeGreaterThan(10_000);
    // nothing sticks out to the side
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  };

  it.each([
    ['desktop', desktop],
    ['phone', phone],
  ] as const)('%s, light and dark', async (size, viewport) => {
    const look = async (name: string, who: Customer, address: string, ready: (page: Page) => Promise<unknown>) => {
      // a tab in which another organization is signed in would say so
      const { page } = await open(who === customer ? visit.again : visit, running, who, address, { viewport });
      // no control under the pointer
      await page.mouse.move(0, 0);
      await ready(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await shoot(page, `${name}-${size}-${colorScheme}`);
      }
    };
    const [first] = customer.domains;
    const hover = async (page: Page) => {
      await page.getByRole('heading', { name: 'Decisions by day' }).waitFor();
      // on a phone the chart is below the fold
      if (viewport === desktop) await page.locator('.chart-plot').hover();
    };
    await look('home', customer, '/', (page) => page.getByText('Live', { exact: true }).waitFor());
    await look('domain', customer, `/domains/${first?.domainId}`, hover);
    await look('log', customer, `/domains/${first?.domainId}/log`, (page) => page.getByRole('table').waitFor());
    await look('record', customer, `/domains/${first?.domainId}/log`, async (page) => {
      await page
        .getByRole('button', { name: /^Details/ })
        .first()
        .click();
      await page.getByRole('dialog').waitFor();
    });
    await look('capped', capped, `/domains/${capped.domains[0]?.domainId}/log`, (page) =>
      page.getByRole('table').waitFor(),
    );
    await look('without-log', without, `/domains/${without.domains[0]?.domainId}/log`, (page) =>
      page.getByText('Your plan does not include the log').waitFor(),
    );
    await look('empty', empty, '/', (page) => page.getByText('Waiting for the first decision').waitFor());
    await look('sign-in', { ...customer, token: 'not.a.token' }, '/', (page) => page.getByRole('alert').waitFor());
  });
});
