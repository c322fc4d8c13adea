/** From the dashboard to a check of the site, and back to what it found. */
import { describe, expect, it } from 'vitest';
import type { CheckTicket, ListedCheck } from '#libs/banner/contract';
import { checkBody } from '#libs/banner/examples';
import { click } from '../support/browser/browser.ts';
import { type Customer, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { html, startSite, tag } from '../support/browser/site.ts';
import { request } from '../support/client.ts';
import { at } from '../support/stack.ts';

const dashboard = useDashboard();
const site = await startSite();

const hosts = [
  { host: 'connect.facebook.net', requests: 12 },
  { host: 'js.stripe.com', requests: 3 },
  { host: 'own.<b>example</b>', requests: 1 },
];
const step = { ...at(checkBody.steps, 0), hosts, moreHosts: 7 };
const cookies = [{ name: 'sid', category: null }];

async function store(customer: Customer): Promise<ListedCheck> {
  const { domainId } = at(customer.domains, 0);
  const { ticket } = await dashboard.manage<CheckTicket>(customer, `/domains/${domainId}/check-ticket`, {
    method: 'POST',
  });
  const stored = await request<ListedCheck>(dashboard.api.baseUrl, `/v1/consent/${domainId}/checks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...checkBody, ticket, steps: [{ ...step, cookies }] }),
  });
  expect(stored.status).toBe(201);
  return stored.body;
}

describe('site checks in the dashboard', () => {
  it('begin with a link for a private window, which leads to the check on the site', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId, apiKey } = at(customer.domains, 0);
    site.add('/shop', html(tag({ api: dashboard.api, domainId, apiKey } as Parameters<typeof tag>[0])));
    const { page } = await dashboard.visit();
    await dashboard.enter(page, managerOf(customer, { scope: 'publish' }), `/domains/${domainId}/widget`);
    const address = page.getByRole('textbox', { name: 'Address of the site' });
    expect(await address.inputValue()).toBe('https://shop.example/');
    for (const other of ['javascript:alert(1)', 'shop', 'https://*.shop.example']) {
      await address.fill(other);
      await page.getByText('Not the address of a website.').waitFor();
    }
    // without a scheme, http is meant on this machine
    await address.fill(`${site.origin.replace('http://', '')}/shop?a=1#b`);
    await click(page, 'Check my site');
    await page.getByText(`The link opens ${site.origin}/shop?a=1.`).waitFor();
    await page.getByRole('button', { name: 'Copy link for a private window' }).waitFor();
    const open = page.getByRole('link', { name: 'Open in a new tab of this browser' });
    const link = (await open.getAttribute('href')) ?? '';
    expect(link.split('#assent-check=')[0]).toBe(`${site.origin}/shop?a=1`);
    expect(await violations(page)).toEqual([]);
    const [tab] = await Promise.all([page.context().waitForEvent('page'), open.click()]);
    await tab.getByRole('heading', { name: 'Check my site' }).waitFor();
    expect(await violations(tab)).toEqual([]);
    await tab.close();
    // the page hears of the result
    const { checkId } = await store(customer);
    const found = page.getByRole('link', { name: 'See what it found' });
    expect(await found.getAttribute('href')).toBe(`/domains/${domainId}/checks?check=${checkId}`);
    await page.getByRole('link', { name: /^Checked .*: 1 fault$/ }).waitFor();
    await click(page, 'Check my site');
    await click(page, 'Make a new link');
    expect(await found.count()).toBe(0);
  });

  it('are not offered for an address whose origin may not record', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const path = `/domains/${domainId}`;
    await dashboard.manage(customer, path, {
      method: 'PATCH',
      body: JSON.stringify({ origins: ['https://www.shop.example'] }),
    });
    const { page } = await dashboard.visit();
    await dashboard.enter(page, managerOf(customer), `${path}/widget`);
    await click(page, 'Check my site');
    await page.getByText('The tag cannot work on https://shop.example').waitFor();
    await page.getByRole('textbox', { name: 'Address of the site' }).fill('www.shop.example');
    await click(page, 'Check my site');
    await page.getByText('The link opens https://www.shop.example/.').waitFor();
  });

  it('show what was found, by step and by host, and put it into the draft with one press', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const manager = managerOf(customer);
    const { page } = await dashboard.visit();
    await dashboard.enter(page, manager, `/domains/${domainId}/checks`);
    await page.getByRole('heading', { name: 'The site has not been checked yet' }).waitFor();

    await store(customer);
    await page.goto(`${dashboard.api.baseUrl}/domains/${domainId}/widget`);
    await page.getByRole('link', { name: /^Checked .*: 1 fault$/ }).click();
    await page.getByRole('heading', { name: '1 fault' }).waitFor();
    const faults = page.getByRole('list', { name: 'Faults' });
    await faults
      .getByText('The site contacted connect.facebook.net (Facebook), which is known for social media')
      .waitFor();
    await page.getByRole('row', { name: 'js.stripe.com Stripe utility 3' }).waitFor();
    // names are text
    await page.getByRole('row', { name: 'own.<b>example</b> unknown' }).waitFor();
    await page.getByText('And 7 more hosts').waitFor();
    expect(await violations(page)).toEqual([]);
    await click(page, 'Add what was found to the draft');
    await page.getByText('Added 3 services and cookies').waitFor();
    const draft = await dashboard.manage<object>(customer, `/domains/${domainId}/banner`);
    expect(draft).toEqual({
      categories: [
        { id: 'necessary', services: [{ name: 'Stripe' }] },
        { id: 'analytics' },
        {
          id: 'marketing',
          services: [{ name: 'Facebook' }, { name: 'Cookies that the site check found', cookies: [{ name: 'sid' }] }],
        },
      ],
    });
    await page.getByRole('link', { name: 'draft of the banner' }).click();
    await page.getByRole('heading', { name: 'Check my site' }).waitFor();
  });
});
