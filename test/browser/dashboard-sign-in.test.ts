import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { step } from '../support/browser/browser.ts';
import { type Customer, figure, follow, useDashboard } from '../support/browser/dashboard.ts';
import { tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { eventually } from '../support/wait.ts';

describe('the way into the dashboard', () => {
  const dashboard = useDashboard();
  let customer: Customer;
  let domainPath: string;

  beforeAll(async () => {
    customer = await dashboard.customer();
    const domainId = customer.domains[0]?.domainId ?? '';
    domainPath = `/domains/${domainId}`;
    await dashboard.storeCounted(customer, [recordAt(Date.now() - 1_000, { domainId })]);
  });

  const signedIn = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor();
  const told = (page: Page) => page.getByRole('alert').textContent();
  const seconds = (from: number) => ({ exp: Math.floor(Date.now() / 1000) + from });
  /** Anything of a customer on the page of somebody who is not signed in. */
  const isShut = async (page: Page) => {
    await page.getByRole('heading', { name: 'Sign in to Assent' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain(customer.name);
    expect(await page.locator('.figure-value, .skeleton, header').count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  };

  it('a token in the fragment signs in, and is nowhere but in this session afterwards', async () => {
    const { page, context, messages } = await dashboard.visit();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${dashboard.api.baseUrl}/#token=${customer.token}`);
    await signedIn(page);
    expect(page.url()).toBe(`${dashboard.api.baseUrl}/`);
    expect(asked.filter((address) => address.includes(customer.token))).toEqual([]);
    expect(await page.evaluate(() => [localStorage.length, document.cookie, history.length])).toEqual([0, '', 2]);
    await page.reload();
    await signedIn(page);
    const other = await context.newPage();
    await other.goto(dashboard.api.baseUrl);
    await isShut(other);
    expect(messages.filter((message) => /^(error|warning|uncaught)/.test(message))).toEqual([]);
    await step('signing out forgets it', async () => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect(await told(page)).toContain('signed out');
      await isShut(page);
      await page.reload();
      await isShut(page);
      expect(await page.title()).toBe('Sign in · Assent');
    });
  });

  it('a token that is none leads to a clear line, and one that is pasted to the address that was asked for', async () => {
    const { page } = await dashboard.visit();
    const address = `${dashboard.api.baseUrl}${domainPath}/log?decision=accept_all`;
    await page.goto(address);
    await isShut(page);
    for (const [name, token, words] of [
      ['no token at all', 'hello there', 'does not accept'],
      ['another signature', tokenFor(customer.organizationId, {}, 'x'.repeat(40)), 'does not accept'],
      ['an organization that does not exist', tokenFor('org_nobody'), 'does not accept'],
      ['one that has expired', tokenFor(customer.organizationId, seconds(-60)), 'has expired'],
    ] as const) {
      await step(name, async () => {
        await follow(page, encodeURIComponent(token));
        await page.getByRole('alert').getByText(words).waitFor();
        await isShut(page);
      });
    }
    await page.getByLabel('Access token').fill(` Bearer ${customer.token} `);
    await page.keyboard.press('Enter');
    await page.getByRole('table').waitFor();
    expect(page.url()).toBe(address);
  });

  it('a token that expires leads back, a fresh one to where one was, and one of another organization says whose it is', async () => {
    const claims = { ...seconds(1), sub: 'jörg' };
    const { page } = await dashboard.open({ token: tokenFor(customer.organizationId, claims) }, domainPath);
    await figure(page, 'Decisions').waitFor();
    await page.getByRole('link', { name: /overview of Northwind Outdoor\W+signed in as jörg/ }).waitFor();
    const address = page.url();
    await eventually(() => expect(Date.now()).toBeGreaterThan(claims.exp * 1_000));
    // the service allows clocks to differ by 30 s, which are over now
    const authorization = `Bearer ${tokenFor(customer.organizationId, seconds(-60))}`;
    const expired = (request: Request) => ({ headers: { ...request.headers(), authorization } });
    await page.route('**/v1/**', (route) => route.continue(expired(route.request())));
    await page.getByText('has expired').waitFor();
    await isShut(page);
    await page.unroute('**/v1/**');
    await follow(page, customer.token);
    await figure(page, 'Decisions').waitFor();
    expect(page.url()).toBe(address);
    const other = await dashboard.customer({ name: 'Fabrikam' });
    const line = page.getByText('You are now signed in to');
    // the same one, as some providers name it
    const fresh = tokenFor(customer.organizationId, { ...seconds(600), org: [customer.organizationId] });
    await follow(page, fresh);
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem('assent-token'))).toBe(fresh);
    await figure(page, 'Decisions').waitFor();
    expect(await line.count()).toBe(0);
    await follow(page, other.token);
    await line.getByText('Fabrikam').waitFor();
    await page.getByRole('button', { name: 'OK' }).click();
    await line.waitFor({ state: 'detached' });
    expect(await page.locator('body').textContent()).not.toContain(customer.name);
  });
});
