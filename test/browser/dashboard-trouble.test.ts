import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '#libs/store/sql';
import { waitUntil } from '../../scripts/stack/wait.ts';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  enter,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  storeCounted,
} from '../support/browser/dashboard.ts';
import { tokenFor } from '../support/client.ts';
import { type OwnPostgres, openOwnPostgres } from '../support/outage.ts';
import { type Api, startApi, startWorker } from '../support/service.ts';
import { openRedisServer } from '../support/stores.ts';

describe('the dashboard when something is wrong', () => {
  const visit = useBrowser();
  let postgres: OwnPostgres;
  let running: Running & { api: Api };
  let customer: Customer;

  beforeAll(async () => {
    postgres = await openOwnPostgres();
    const redis = await openRedisServer();
    const db = createDatabase({
      url: postgres.url,
      max: 4,
      statementTimeout: 20_000,
      deadline: 25_000,
      prepare: true,
      name: 'test',
    });
    const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    const [api] = await Promise.all([startApi(env), startWorker(env)]);
    running = { db, env, api };
    customer = await makeCustomer(db);
    await storeCounted(running, customer, history(customer, 10, 30));
    return () => db.close();
  }, 120_000);

  const domainPath = () => `/domains/${customer.domains[0]?.domainId}`;
  /** Every number on the page that could be taken for a figure. */
  const figures = (page: Page) => page.locator('.figure-value, .breakdown td, .chart, .stream-row').count();

  it('slow: the shape of the page, then a line that it takes long, and no figure until there is one', async () => {
    const { page } = await visit.again();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/consent/**', async (route) => {
      await held;
      await route.continue();
    });
    await enter(page, running, customer);
    await page.locator('.skeleton').waitFor();
    await page.getByText('Still loading. The service is slower than usual.').waitFor();
    expect(await figures(page)).toBe(0);
    release();
    await figure(page, 'Decisions').waitFor();
    expect(await page.locator('.skeleton').count()).toBe(0);
  });

  it('offline and back: the figures stay, with their age, and move again by themselves', async () => {
    const { page, context } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    const before = await figure(page, 'Decisions').textContent();
    await context.setOffline(true);
    await page.getByText(/You are offline: figures from \d\d:\d\d:\d\d/).waitFor();
    expect(await figure(page, 'Decisions').textContent()).toBe(before);
    await page
      .getByRole('link', { name: /shop\.northwind\.example/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    expect(await figures(page)).toBe(0);
    await context.setOffline(false);
    await figure(page, 'Decisions').waitFor();
    await page.goBack();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('a service that takes its time is not called live', async () => {
    const { page } = await open(visit.again, running, customer);
    await page.getByText('Live', { exact: true }).waitFor();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/org-stats?*', async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.getByText(/Waiting for the service: figures from/).waitFor();
    release();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('a service that is gone: the figures stay, and go on when it is back', async () => {
    const own = await startApi(running.env);
    const port = new URL(own.baseUrl).port;
    const { page } = await open(visit.again, { ...running, api: own }, customer);
    await figure(page, 'Decisions').waitFor();
    const before = await figure(page, 'Decisions').textContent();
    await own.stop();
    await page.getByText(/No connection to the service: figures from/).waitFor({ timeout: 20_000 });
    expect(await figure(page, 'Decisions').textContent()).toBe(before);
    await page
      .getByRole('link', { name: /shop\.northwind\.example/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await startApi({ ...running.env, PORT: port });
    // nobody has to press it
    await figure(page, 'Decisions').waitFor({ timeout: 20_000 });
  });

  it('without its database: what happened, the request’s id, and a way to try again', async () => {
    const { page, context } = await open(visit.again, running, customer);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await figure(page, 'Decisions').waitFor();
    await postgres.stop();
    try {
      await page.getByText(/No connection to the service: figures from/).waitFor({ timeout: 30_000 });
      await page.goto(`${running.api.baseUrl}${domainPath()}/log`);
      await page.getByRole('heading', { name: 'The service is unavailable' }).waitFor({ timeout: 20_000 });
      const shownId = page.locator('.request-id code');
      // of lines that are alike the log has one a second, so some tries are not in it
      const isLogged = async () => {
        const shown = (await shownId.textContent()) ?? 'none';
        const isThere = () => running.api.lines.some((line) => line.includes(shown));
        if (await waitUntil(isThere, { deadlineMs: 1_500, intervalMs: 50 })) return true;
        await page.getByRole('button', { name: 'Try again' }).click();
        await expect.poll(() => shownId.textContent()).not.toBe(shown);
        return false;
      };
      await expect.poll(isLogged, { timeout: 30_000 }).toBe(true);
      const id = await shownId.textContent();
      expect(id).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      await page.locator('.request-id').getByRole('button', { name: 'Copy' }).click();
      await page.locator('.request-id').getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
      // statistics come from Redis, so they are still there
      await page.getByRole('link', { name: 'Statistics' }).click();
      await figure(page, 'Decisions').waitFor();
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: 20_000 });
    } finally {
      await postgres.start();
    }
    await expect
      .poll(
        async () => {
          const again = page.getByRole('button', { name: 'Try again' });
          if ((await again.count()) > 0) await again.click({ timeout: 1_000 }).catch(() => {});
          return page.getByRole('table').count();
        },
        { timeout: 40_000, interval: 500 },
      )
      .toBe(1);
  });

  it.each([
    [500, 'internal_error', 'The service reported an error'],
    [429, 'rate_limited', 'Too many requests'],
    [418, 'teapot', 'Something went wrong'],
  ])('an answer with %i has words, an id and a retry that works', async (status, code, words) => {
    const { page } = await visit.again();
    await page.route('**/v1/organization', (route) =>
      route.fulfill({
        status,
        contentType: 'application/problem+json',
        body: JSON.stringify({ type: 'urn', title: 'x', status, code, detail: 'secret detail', requestId: 'req-77' }),
      }),
    );
    await enter(page, running, customer, domainPath());
    await page.getByRole('heading', { name: words }).waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('req-77');
    expect(await page.getByRole('alert').textContent()).not.toContain('secret detail');
    expect(await figures(page)).toBe(0);
    await page.unroute('**/v1/organization');
    await page.getByRole('button', { name: 'Try again' }).click();
    await figure(page, 'Decisions').waitFor();
  });

  it('a service that says it is on its way back is asked again, and the id of the first answer stays', async () => {
    const { page } = await visit.again();
    let asked = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/organization', (route) => {
      asked += 1;
      if (asked > 2) return held.then(() => route.continue());
      const body = { type: 'urn', title: 'x', status: 503, code: 'unavailable', requestId: `req-${asked}` };
      return route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(body) });
    });
    await enter(page, running, customer);
    await page.getByText('req-1').waitFor();
    // only after the second answer is it asked a third time
    await expect.poll(() => asked).toBe(3);
    expect(await page.getByText('req-1').count()).toBe(1);
    release();
    await figure(page, 'Decisions').waitFor();
    expect(asked).toBe(3);
  });

  it('a page of somebody between, where the service’s answer should be, is no answer', async () => {
    const { page } = await visit.again();
    await page.route('**/v1/consent/**', (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Log in to the hotel</h1>' }),
    );
    await enter(page, running, customer);
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    expect(await figures(page)).toBe(0);
  });

  it('an answer that the page cannot draw leads to words, never to a blank page', async () => {
    const { page } = await visit.again();
    await page.route('**/v1/organization', (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body: '{}' }),
    );
    await enter(page, running, customer);
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    await page.unroute('**/v1/organization');
    await page.getByRole('button', { name: 'Reload' }).click();
    await figure(page, 'Decisions').waitFor();
  });

  it('older records that cannot be loaded are told, and tried again', async () => {
    const busy = await makeCustomer(running.db);
    await storeCounted(running, busy, history(busy, 5, 60));
    const { page } = await open(visit.again, running, busy);
    await page.route('**/org-stats?*cursor=*', (route) => route.abort());
    await page.locator('.stream-row').first().waitFor();
    await page.locator('.stream-row').last().scrollIntoViewIfNeeded();
    await page.getByText('Older records could not be loaded.').waitFor();
    const before = await page.locator('.stream-row').count();
    await page.unroute('**/org-stats?*cursor=*');
    await page.locator('.stream-more').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('.stream-row').count()).toBeGreaterThan(before);
  });

  it('a token that is refused in the middle leads back, whatever was drawn', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    const broken = tokenFor(customer.organizationId, {}, 'y'.repeat(40));
    await page.route('**/v1/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${broken}` } }),
    );
    await page.getByText('does not accept this access token').waitFor();
    expect(await figures(page)).toBe(0);
  });
});
