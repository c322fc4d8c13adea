import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hold, step } from '../support/browser/browser.ts';
import { figure, go, history, useDashboard } from '../support/browser/dashboard.ts';
import { openGate } from '../support/gate.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const { env } = useStores();
const postgres = await openGate(env.DATABASE_URL);
const api = await startApi({ ...env, DATABASE_URL: postgres.url });
const service = await openGate(api.baseUrl);
const dashboard = useDashboard({ api: { ...api, baseUrl: new URL(service.url).origin } });

const customer = await dashboard.customer();
const domainPath = `/domains/${at(customer.domains, 0).domainId}`;
await dashboard.storeCounted(customer, history(customer, 4, 60));

describe('the dashboard when something is wrong', () => {
  /** Every number on the page that could be taken for a figure. */
  const figures = (page: Page) => page.locator('.figure-value, .breakdown td, .chart, .stream-row').count();
  const decisions = (page: Page) => figure(page, 'Decisions').textContent();
  const live = (page: Page) => page.getByText('Updates by itself', { exact: true }).waitFor();
  const response = (status: number, code: string, requestId: string) => ({
    status,
    contentType: 'application/problem+json',
    body: JSON.stringify({ type: 'urn', title: 'x', status, code, detail: 'secret detail', requestId }),
  });

  it('slow: the shape of the page, then a line that it takes long, and no figure until there is one', async () => {
    const { page, context } = await dashboard.visit();
    await context.clock.install();
    const release = await hold(page, '**/v1/consent/**');
    await dashboard.enter(page, customer);
    await page.locator('.skeleton').first().waitFor();
    await context.clock.runFor(2_500);
    await page.getByText('Still loading. The service is slower than usual.').waitFor();
    expect(await figures(page)).toBe(0);
    release();
    await figure(page, 'Decisions').waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  });

  it('offline, without the service or its database: the figures stay, with their age, and move again by themselves', async () => {
    const { page, context } = await dashboard.open(customer);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await figure(page, 'Decisions').waitFor();
    const before = await decisions(page);
    await step('offline', async () => {
      await context.setOffline(true);
      await page.getByText(/You are offline: figures from \d\d:\d\d:\d\d/).waitFor();
      expect(await decisions(page)).toBe(before);
      await go(page, domainPath);
      await page.getByRole('heading', { name: 'You are offline' }).waitFor();
      expect(await figures(page)).toBe(0);
      await context.setOffline(false);
      await figure(page, 'Decisions').waitFor();
      await page.goBack();
      await live(page);
    });
    await step('a service that is gone', async () => {
      service.shut();
      await page.getByText(/No connection to the service: figures from/).waitFor();
      expect(await decisions(page)).toBe(before);
      await go(page, domainPath);
      await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      service.open();
      // nobody has to press it
      await figure(page, 'Decisions').waitFor();
    });
    await step('without its database: what happened, the request’s id, and a way to try again', async () => {
      postgres.shut();
      await go(page, `${domainPath}/log`);
      await page.getByRole('heading', { name: 'The service is unavailable' }).waitFor();
      const shown = page.locator('.request-id');
      // of lines that are alike the log has one a second, so some tries are not in it
      const id = await eventually(async () => {
        const found = (await shown.locator('code').textContent()) ?? '';
        if (api.lines.some((line) => line.includes(found))) return found;
        await page.getByRole('button', { name: 'Try again' }).click();
        throw new Error(`${found} is not in the log`);
      });
      expect(id).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      const copy = shown.getByRole('button');
      await copy.click();
      await copy.getByText('Copied').waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await shown.locator('code').textContent());
      // statistics come from Redis, so they are still there
      await page.getByRole('link', { name: 'Statistics' }).click();
      await figure(page, 'Decisions').waitFor();
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      postgres.open();
      // by itself
      await page.getByRole('table').waitFor();
    });
  });

  it('an answer that is an error, or none of the service, has words, an id and a way on, never a blank page', async () => {
    const { page } = await dashboard.regular();
    const errors = [
      [500, 'internal_error', 'The service reported an error'],
      [429, 'rate_limited', 'Too many requests'],
      [418, 'teapot', 'Something went wrong'],
    ] as const;
    let asked = 0;
    await page.route('**/v1/organization', (route) => {
      const [status, code] = errors[asked] ?? [];
      asked += 1;
      return status ? route.fulfill(response(status, code, `req-${status}`)) : route.continue();
    });
    await dashboard.enter(page, customer);
    for (const [status, code, words] of errors) {
      await step(code, async () => {
        await page.getByRole('heading', { name: words }).waitFor();
        expect(await page.getByRole('alert').textContent()).toContain(`req-${status}`);
        expect(await page.getByRole('alert').textContent()).not.toContain('secret detail');
        expect(await figures(page)).toBe(0);
        await page.getByRole('button', { name: 'Try again' }).click();
      });
    }
    await figure(page, 'Decisions').waitFor();
    for (const [name, url, contentType, body] of [
      ['a page of somebody between', '**/v1/consent/**', 'text/html', '<h1>Log in to the hotel</h1>'],
      ['an answer that the page cannot draw', '**/v1/organization', 'application/json', '{}'],
    ] as const) {
      await step(name, async () => {
        await page.unroute('**/v1/organization');
        await page.route(url, (route) => route.fulfill({ status: 200, contentType, body }));
        await page.reload();
        await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
        expect(await figures(page)).toBe(0);
        await page.unroute(url);
        await page.getByRole('button', { name: /^(Reload|Try again)$/ }).click();
        await figure(page, 'Decisions').waitFor();
      });
    }
    await step('older records that cannot be loaded are told, and tried again', async () => {
      const rows = page.locator('.stream-row');
      await page.route('**/org-stats?*cursor=*', (route) => route.abort());
      await page.getByRole('button', { name: 'Older records' }).click();
      await page.getByText('Older records could not be loaded.').waitFor();
      const before = await rows.count();
      await page.unroute('**/org-stats?*cursor=*');
      await page.locator('.older').getByRole('button', { name: 'Try again' }).click();
      await rows.nth(before).waitFor();
    });
  });

  it('a service that says it is on its way back is asked again, and the id of the first answer stays', async () => {
    const { page } = await dashboard.regular();
    let asked = 0;
    const release = await hold(page, '**/v1/organization');
    await page.route('**/v1/organization', (route) => {
      asked += 1;
      return asked > 2 ? route.fallback() : route.fulfill(response(503, 'unavailable', `req-${asked}`));
    });
    await dashboard.enter(page, customer);
    await page.getByText('req-1').waitFor();
    // only after the second answer is it asked a third time
    await expect.poll(() => asked).toBe(3);
    expect(await page.getByText('req-1').count()).toBe(1);
    release();
    await figure(page, 'Decisions').waitFor();
    expect(asked).toBe(3);
  });
});
