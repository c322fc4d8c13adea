import { beforeAll, describe, expect, it } from 'vitest';
import { useBrowser, type Visitor } from '../support/browser/browser.ts';
import {
  type Customer,
  enter,
  figure,
  makeCustomer,
  open,
  type Running,
  storeCounted,
  useService,
} from '../support/browser/dashboard.ts';
import { tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';

describe('the way into the dashboard', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db);
    const domainId = customer.domains[0]?.domainId ?? '';
    await storeCounted(running, customer, [recordAt(Date.now() - 1_000, { domainId })]);
  });

  const signedIn = ({ page }: Visitor) => page.getByRole('heading', { name: 'Overview' }).waitFor();
  const told = ({ page }: Visitor) => page.getByRole('alert').textContent();
  const seconds = (from: number) => ({ exp: Math.floor(Date.now() / 1000) + from });
  /** Anything of a customer on the page of somebody who is not signed in. */
  const isShut = async ({ page }: Visitor) => {
    await page.getByRole('heading', { name: 'Sign in to Assent' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain(customer.name);
    expect(await page.locator('.figure-value, .skeleton, header').count()).toBe(0);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  };

  it('a token in the fragment signs in, and is nowhere but in this session afterwards', async () => {
    const visitor = await visit();
    const { page, context, messages } = visitor;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${running.api.baseUrl}/#token=${customer.token}`);
    await signedIn(visitor);
    expect(page.url()).toBe(`${running.api.baseUrl}/`);
    expect(asked.filter((address) => address.includes(customer.token))).toEqual([]);
    expect(await page.evaluate(() => [localStorage.length, document.cookie, history.length])).toEqual([0, '', 2]);
    await page.reload();
    await signedIn(visitor);
    const other = await context.newPage();
    await other.goto(running.api.baseUrl);
    await other.getByRole('heading', { name: 'Sign in to Assent' }).waitFor();
    expect(messages.filter((message) => /^(error|warning|uncaught)/.test(message))).toEqual([]);
  });

  it('a token that is pasted signs in to the address that was asked for', async () => {
    const visitor = await visit();
    const { page } = visitor;
    const address = `${running.api.baseUrl}/domains/${customer.domains[0]?.domainId}/log?decision=accept_all`;
    await page.goto(address);
    await isShut(visitor);
    await page.getByLabel('Access token').fill(` Bearer ${customer.token} `);
    await page.keyboard.press('Enter');
    await page.getByRole('table').waitFor();
    expect(page.url()).toBe(address);
  });

  it.each([
    ['no token at all', () => 'hello there', 'does not accept'],
    ['one with another signature', () => tokenFor(customer.organizationId, {}, 'x'.repeat(40)), 'does not accept'],
    ['one of an organization that does not exist', () => tokenFor('org_nobody'), 'does not accept'],
    ['one that has expired', () => tokenFor(customer.organizationId, seconds(-60)), 'has expired'],
  ])('%s leads to a clear line, and nothing is drawn', async (_, token, words) => {
    const visitor = await visit();
    await visitor.page.goto(`${running.api.baseUrl}/#token=${encodeURIComponent(token())}`);
    expect(await told(visitor)).toContain(words);
    await isShut(visitor);
    await visitor.page.getByLabel('Access token').fill(customer.token);
    await visitor.page.getByRole('button', { name: 'Sign in' }).click();
    await signedIn(visitor);
  });

  it('a token that expires while the page is open leads back, and a fresh one to where one was', async () => {
    const visitor = await visit();
    const { page } = visitor;
    // the service allows clocks to differ by 30 s
    const token = tokenFor(customer.organizationId, seconds(-15));
    await enter(page, running, { token }, `/domains/${customer.domains[0]?.domainId}`);
    await figure(page, 'Decisions').waitFor();
    const address = page.url();
    await page.getByText('has expired').waitFor({ timeout: 45_000 });
    await isShut(visitor);
    await page.evaluate((fresh) => {
      location.hash = `token=${fresh}`;
    }, customer.token);
    await figure(page, 'Decisions').waitFor();
    expect(page.url()).toBe(address);
  });

  it('a link of another organization says whose figures it shows, a fresh one of the same says nothing', async () => {
    const other = await makeCustomer(running.db, { name: 'Fabrikam' });
    const visitor = await open(visit, running, customer);
    const { page } = visitor;
    await signedIn(visitor);
    const line = page.getByText('The link signed you in to');
    const take = (token: string) =>
      page.evaluate((given) => {
        location.hash = `token=${given}`;
      }, token);
    const fresh = tokenFor(customer.organizationId, seconds(600));
    await take(fresh);
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem('assent-token'))).toBe(fresh);
    await figure(page, 'Decisions').waitFor();
    expect(await line.count()).toBe(0);
    await take(other.token);
    await line.getByText('Fabrikam').waitFor();
    await page.getByRole('button', { name: 'OK' }).click();
    await line.waitFor({ state: 'detached' });
    expect(await page.locator('body').textContent()).not.toContain(customer.name);
  });

  it('signing out forgets the token', async () => {
    const visitor = await open(visit, running, customer);
    await signedIn(visitor);
    await visitor.page.getByRole('button', { name: 'Sign out' }).click();
    expect(await told(visitor)).toContain('signed out');
    await isShut(visitor);
    await visitor.page.reload();
    await isShut(visitor);
    expect(await visitor.page.title()).toBe('Sign in · Assent');
  });
});
