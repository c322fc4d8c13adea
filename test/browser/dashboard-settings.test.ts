import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ActsPage, DomainsPage, KeysPage, MadeKey, ManagedDomain } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/responses';
import { click, useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  enter,
  makeCustomer,
  open,
  type Running,
  store,
  useService,
} from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the settings in the dashboard', () => {
  const visit = useBrowser();
  let running: Running;

  beforeAll(() => {
    running = useService();
  });

  const managerOf = ({ organizationId }: Pick<Customer, 'organizationId'>, sub = 'mara@northwind.example') => ({
    token: tokenFor(organizationId, { scope: 'read manage', sub }),
  });
  const ask = async <Body>(customer: Customer, target: string, init: RequestInit = {}): Promise<Body> => {
    const response = await fetch(`${running.api.baseUrl}/v1/organization${target}`, {
      ...init,
      headers: {
        authorization: `Bearer ${managerOf(customer, 'noor@northwind.example').token}`,
        'content-type': 'application/json',
      },
    });
    return (await response.json()) as Body;
  };
  const patch = (customer: Customer, domainId: string, change: object) =>
    ask<ManagedDomain>(customer, `/domains/${domainId}`, { method: 'PATCH', body: JSON.stringify(change) });
  const shown = (customer: Customer, domainId: string) => ask<ManagedDomain>(customer, `/domains/${domainId}`);
  const makeKey = (customer: Customer, domainId: string) =>
    ask<MadeKey>(customer, `/domains/${domainId}/keys`, { method: 'POST' });
  const revoke = (customer: Customer, domainId: string, prefix: string) =>
    ask(customer, `/domains/${domainId}/keys/${prefix}`, { method: 'DELETE' });
  const record = (domainId: string, apiKey: string, origin?: string) =>
    createClient(running.api.baseUrl, { organizationId: '' }).record(
      domainId,
      apiKey,
      { decision: 'accept_all', visitorId: 'v-1' },
      origin === undefined ? {} : { origin },
    );
  /** Processes write it once a minute; test/integration/key-use.test.ts holds that they do. */
  const use = (apiKey: string) =>
    running.db.run((sql) => sql`update api_keys set last_used_at = now() where prefix = ${apiKey.slice(0, 11)}`);
  const hasFocus = (element: Locator) =>
    eventually(async () => expect(await element.evaluate((each) => each === document.activeElement)).toBe(true));
  const settingsOf = (domainId: string) => `/domains/${domainId}/settings`;
  const origin = (page: Page, number: number) => page.getByRole('textbox', { name: `Address ${number}` });
  const activeKeys = (page: Page) => page.getByRole('list', { name: 'Active keys' }).getByRole('listitem');

  it('makes a domain and a key that records, and revokes the key', async () => {
    const customer = await makeCustomer(running.db, { domains: [] });
    const { page, context, messages } = await open(visit, running, managerOf(customer));
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('heading', { name: 'Add the first domain' }).waitFor();
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    await page.getByRole('link', { name: 'New domain' }).click();

    await page.getByRole('textbox', { name: 'Name' }).fill('shop.example');
    await origin(page, 1).fill('https://shop.example');
    await click(page, 'Create domain');
    await page.waitForURL(/\/domains\/dom_\w+\/settings$/);
    const domainId = new URL(page.url()).pathname.split('/')[2] ?? '';
    await page.getByText('No key yet: without one nothing is recorded.').waitFor();
    expect(await shown(customer, domainId)).toMatchObject({ name: 'shop.example', origins: ['https://shop.example'] });
    // the menu has it without a reload
    await page.locator('.menu-button').click();
    await page
      .getByRole('search')
      .getByRole('link', { name: /shop\.example/ })
      .waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Set up the banner' }).waitFor();
    await click(page, 'New key');
    const card = page.getByRole('region', { name: /Copy the key now/ });
    await hasFocus(card.getByRole('heading'));
    expect(await page.getByRole('link', { name: 'Set up the banner' }).count()).toBe(1);
    await card.getByRole('button', { name: 'Copy Key' }).click();
    const apiKey = await eventually(async () => {
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied).toMatch(/^ak_[A-Za-z0-9_-]{32}$/);
      return copied;
    });
    await card.getByRole('button', { name: 'Copy Script tag' }).click();
    await eventually(async () =>
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
        `<script src="${running.api.baseUrl}/widget.js"\n  data-domain="${domainId}" data-key="${apiKey}" defer></script>`,
      ),
    );
    expect(page.url()).not.toContain('ak_');
    await eventually(async () => expect((await record(domainId, apiKey, 'https://shop.example')).status).toBe(202));
    await use(apiKey);
    await page.getByText(/^Last used/).waitFor();
    await card.getByRole('button', { name: 'Done' }).click();
    await card.waitFor({ state: 'detached' });
    await hasFocus(page.getByRole('button', { name: 'New key' }));
    expect(await page.locator('body').textContent()).not.toContain(apiKey);

    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke this key?' });
    await dialog.getByText('It was used within the last hour').waitFor();
    await dialog.getByRole('button', { name: 'Revoke this key' }).click();
    await page.getByText('Revoked keys: 1').waitFor();
    await hasFocus(page.getByRole('button', { name: 'New key' }));
    expect(await activeKeys(page).count()).toBe(0);
    await eventually(async () => expect((await record(domainId, apiKey, 'https://shop.example')).status).toBe(401));
    expect(messages).toEqual([]);
  });

  it('says beside each origin what is wrong with it, and takes a list that is pasted', async () => {
    const customer = await makeCustomer(running.db);
    const { domainId } = at(customer.domains, 0);
    const { page, context } = await open(visit, running, managerOf(customer), settingsOf(domainId));
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await click(page, 'Change…');
    await hasFocus(page.getByRole('textbox', { name: 'Name' }));
    await page.getByRole('textbox', { name: 'Name' }).fill(' ');
    await click(page, 'Save changes');
    await page.getByRole('alert').getByText('Enter a name.').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('shop.example');

    await click(page, 'Add address');
    await hasFocus(origin(page, 1));
    const pasted = 'https://a.example\nhttps://b.example/shop, ftp://c.example\nhttps://*.d.example';
    await page.evaluate((text) => navigator.clipboard.writeText(text), pasted);
    await page.keyboard.press('Control+V');
    await hasFocus(origin(page, 4));
    expect(await origin(page, 2).inputValue()).toBe('https://b.example/shop');
    await origin(page, 4).fill('*.D.example:443');
    await page.getByText('Taken as https://*.d.example').waitFor();
    await click(page, 'Save changes');
    await eventually(async () =>
      expect(
        await Promise.all([1, 2, 3, 4].map((number) => origin(page, number).getAttribute('aria-invalid'))),
      ).toEqual(['false', 'false', 'true', 'false']),
    );
    await hasFocus(origin(page, 3));
    await page.getByText('Not an address of a website, such as https://www.example.com.').waitFor();
    await page.getByText('Taken as https://*.d.example').waitFor();
    expect(await origin(page, 2).inputValue()).toBe('https://b.example');
    expect(await origin(page, 4).inputValue()).toBe('https://*.d.example');
    await origin(page, 3).fill('https://a.example');
    await click(page, 'Save changes');
    await page.getByRole('alert').getByText('It is on the list already.').waitFor();
    await hasFocus(origin(page, 3));
    await click(page, 'Remove address 3');
    await hasFocus(origin(page, 3));
    await click(page, 'Save changes');
    await hasFocus(page.getByRole('button', { name: 'Change…' }));
    expect(await shown(customer, domainId)).toMatchObject({
      name: 'shop.example',
      origins: ['https://a.example', 'https://b.example', 'https://*.d.example'],
    });
    expect(await page.title()).toBe('Settings of shop.example · Assent');
  });

  it('tells where records come from that the list does not have, and takes it', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    const { domainId, apiKey } = at(customer.domains, 0);
    const pages = [
      'https://shop.example/',
      'https://shop.example/sale',
      'https://blog.shop.example/',
      '<b>no page</b>',
    ];
    await store(
      running.db,
      pages.map((pageUrl, each) => recordAt(Date.now() - each, { domainId, pageUrl })),
    );
    await use(apiKey);
    const { page } = await open(visit.again, running, managerOf(customer), settingsOf(domainId));
    const hint = page.getByRole('list', { name: /^The newest records come from/ });
    const told = () => hint.getByRole('listitem').allTextContents();
    await hint.waitFor();
    expect(await told()).toEqual([
      'https://shop.example2 recordsAdd https://shop.example',
      'https://blog.shop.example1 recordAdd https://blog.shop.example',
    ]);
    await page.getByText('Once one is on the list, all others are refused.').waitFor();
    await look(page, 'dashboard-settings-origins');
    await click(page, 'Add https://shop.example');
    expect(await origin(page, 1).inputValue()).toBe('https://shop.example');
    expect(await told()).toEqual(['https://blog.shop.example1 recordAdd https://blog.shop.example']);
    await page.getByText('are refused now').waitFor();
    await click(page, 'Save changes');
    await page.getByRole('button', { name: 'Change…' }).waitFor();
    expect((await shown(customer, domainId)).origins).toEqual(['https://shop.example']);
    await eventually(async () => expect((await record(domainId, apiKey, 'https://new.example')).status).toBe(403));
    await click(page, 'Add https://new.example to the list');
    expect(await origin(page, 2).inputValue()).toBe('https://new.example');
    await click(page, 'Cancel');
    // beside what is typed already
    await click(page, 'Change…');
    await origin(page, 1).fill('https://www.shop.example');
    await click(page, 'Add https://shop.example');
    await hasFocus(page.getByRole('button', { name: 'Add https://blog.shop.example' }));
    await page.keyboard.press('Enter');
    await hint.waitFor({ state: 'detached' });
    await hasFocus(page.getByRole('button', { name: 'Add address' }));
    await click(page, 'Save changes');
    await page.getByRole('button', { name: 'Change…' }).waitFor();
    expect((await shown(customer, domainId)).origins).toEqual([
      'https://www.shop.example',
      'https://shop.example',
      'https://blog.shop.example',
    ]);
    // without the log nothing is asked for
    const without = await makeCustomer(running.db, { consentLog: false });
    await use(at(without.domains, 0).apiKey);
    const requests: string[] = [];
    const other = await open(visit, running, managerOf(without), '/');
    other.page.on('request', (request) => requests.push(request.url()));
    await other.page.goto(running.api.baseUrl + settingsOf(at(without.domains, 0).domainId));
    await other.page.getByText(/^Last used/).waitFor();
    expect(requests.filter((each) => each.includes('/records'))).toEqual([]);
  });

  it('shows both where two people change the same domain, and lets one choose', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const { page } = await open(visit.again, running, managerOf(customer), settingsOf(domainId));
    await click(page, 'Change…');
    await page.getByRole('textbox', { name: 'Name' }).fill('mine.example');
    await patch(customer, domainId, { name: 'theirs.example', origins: ['https://theirs.example'] });
    await click(page, 'Save changes');
    await hasFocus(page.getByRole('heading', { name: 'Somebody else changed this domain meanwhile' }));
    const side = (group: string, name: RegExp) => page.getByRole('group', { name: group }).getByRole('radio', { name });
    // what only the other one changed is theirs
    expect(await side('Name', /^Yours mine\.example/).isChecked()).toBe(true);
    expect(await side('Origins', /^Theirs https:\/\/theirs\.example/).isChecked()).toBe(true);
    expect(await shown(customer, domainId)).toMatchObject({ name: 'theirs.example' });
    // once more, while both are shown
    await patch(customer, domainId, { name: 'third.example' });
    await click(page, 'Save this choice');
    await side('Name', /^Theirs third\.example/).waitFor();
    await click(page, 'Save this choice');
    await page.getByRole('button', { name: 'Change…' }).waitFor();
    expect(await shown(customer, domainId)).toMatchObject({
      name: 'mine.example',
      origins: ['https://theirs.example'],
    });

    await click(page, 'Change…');
    await page.getByRole('textbox', { name: 'Name' }).fill('another.example');
    await patch(customer, domainId, { name: 'theirs.example' });
    await click(page, 'Save changes');
    await click(page, 'Discard my changes');
    await page.getByRole('heading', { name: 'theirs.example', level: 1 }).waitFor();
    expect(await shown(customer, domainId)).toMatchObject({ name: 'theirs.example' });
  });

  it('leaves the focus where it is while the page loads, and when somebody else renames the domain', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const { page } = await visit.again();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`**/domains/${domainId}/keys?*`, (route) => held.then(() => route.continue()));
    await enter(page, running, managerOf(customer), settingsOf(domainId));
    await page.getByRole('heading', { name: 'shop.example', level: 1 }).waitFor();
    await page.locator('.menu-button').click();
    const search = page.getByRole('searchbox', { name: 'Search domains' });
    await hasFocus(search);
    release();
    // until it has looked once more
    await page.getByText('Live', { exact: true }).waitFor();
    await page.waitForResponse(/\/keys\?/);
    await hasFocus(search);

    await page.keyboard.press('Escape');
    await click(page, 'Change…');
    await hasFocus(page.getByRole('textbox', { name: 'Name' }));
    await patch(customer, domainId, { name: 'theirs.example' });
    await eventually(async () => expect(await page.title()).toBe('Settings of theirs.example · Assent'));
    await hasFocus(page.getByRole('textbox', { name: 'Name' }));
    // to another page it moves
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await eventually(async () => expect(await page.title()).toMatch(/^Log of /));
    await hasFocus(page.getByRole('heading', { level: 1 }));
  });

  it('archives a domain with its keys and restores it', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example', 'blog.example'] });
    const { domainId, apiKey } = at(customer.domains, 0);
    const { page } = await open(visit.again, running, managerOf(customer), settingsOf(domainId));
    await click(page, 'Archive…');
    const dialog = page.getByRole('dialog', { name: 'Archive this domain?' });
    await dialog.getByText('Its key is revoked for good.').waitFor();
    await dialog.getByText('Statistics, log, exports, access and erasure go on.').waitFor();
    await dialog.getByRole('button', { name: 'Archive this domain' }).click();
    await hasFocus(page.getByRole('heading', { name: 'This domain is archived' }));
    await page.getByText('Revoked keys: 1').waitFor();
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    await eventually(async () => expect((await record(domainId, apiKey)).status).toBe(401));

    // as such wherever domains are listed
    await page.locator('.menu-button').click();
    const menu = page.getByRole('search').getByRole('listitem');
    await eventually(async () =>
      expect(await menu.allTextContents()).toEqual([
        expect.stringMatching(/^blog\.exampledom_/),
        expect.stringMatching(/^shop\.exampleArchiveddom_/),
      ]),
    );
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.locator('.page-title').getByText('Archived').waitFor();
    await page.getByRole('heading', { name: 'Breakdown' }).waitFor();
    expect(await page.getByText('Waiting for the first decision').count()).toBe(0);
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await page.getByText('This domain was archived before anybody decided.').waitFor();
    await page.goto(`${running.api.baseUrl}/domains`);
    await page.getByRole('region', { name: 'Archived 1' }).getByRole('link', { name: 'shop.example' }).click();

    await click(page, 'Restore');
    await hasFocus(page.getByRole('button', { name: 'New key' }));
    await page.getByText('No key yet').waitFor();
    expect((await shown(customer, domainId)).archivedAt).toBeNull();
    expect((await ask<KeysPage>(customer, `/domains/${domainId}/keys`)).keys).toMatchObject([
      { revokedAt: expect.any(String) },
    ]);
  });

  it('knows a key that somebody else revoked meanwhile', async () => {
    const customer = await makeCustomer(running.db);
    const { domainId } = at(customer.domains, 0);
    const { page } = await open(visit.again, running, managerOf(customer), settingsOf(domainId));
    const { prefix } = await makeKey(customer, domainId);
    await page.getByRole('button', { name: `Revoke… ${prefix}` }).click();
    await page.getByRole('dialog', { name: 'Revoke this key?' }).waitFor();
    await revoke(customer, domainId, prefix);
    const told = page.getByRole('dialog', { name: 'This key is revoked already' });
    await told.getByRole('button', { name: 'Close' }).click();
    await told.waitFor({ state: 'detached' });
    // one that is still shown
    await click(page, 'New key');
    await page.getByRole('heading', { name: /Copy the key now/ }).waitFor();
    const [fresh] = (await ask<KeysPage>(customer, `/domains/${domainId}/keys?limit=1`)).keys;
    await revoke(customer, domainId, fresh?.prefix ?? '');
    await page.getByRole('heading', { name: 'This key has been revoked' }).waitFor();
    expect(await page.locator('.snippet').count()).toBe(0);
  });

  it('says who did what, and older acts on demand', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const { prefix } = await makeKey(customer, domainId);
    await revoke(customer, domainId, prefix);
    for (let number = 1; number <= 26; number += 1) {
      await patch(customer, domainId, { name: `shop-${number}.example` });
      await patch(customer, domainId, { origins: [`https://shop-${number}.example`] });
    }
    // every process knows the name within a second
    await eventually(async () =>
      expect((await ask<Organization>(customer, '')).domains).toMatchObject([{ name: 'shop-26.example' }]),
    );
    const { page } = await open(visit.again, running, managerOf(customer), '/activity');
    const acts = page.getByRole('region', { name: 'Activity' }).getByRole('listitem');
    await eventually(async () => expect(await acts.count()).toBe(50));
    const newest = await acts.first().textContent();
    expect(newest).toContain('noor@northwind.example');
    expect(newest).toContain('Changed the origins of shop-26.example');
    expect(newest).toContain('Origins: https://shop-26.example');
    await click(page, 'Older activity');
    await acts.filter({ hasText: `Revoked the key ${prefix}… of shop-26.example` }).waitFor();
    await acts.filter({ hasText: 'Created the organization Northwind Outdoor' }).waitFor();
    const { acts: newestActs } = await ask<ActsPage>(customer, '/acts?limit=200');
    expect(await acts.count()).toBe(newestActs.length);
    expect(await page.getByRole('button', { name: 'Older activity' }).count()).toBe(0);
  });

  it('shows how much of the plan is used', async () => {
    const customer = await makeCustomer(running.db, { monthlyRecordLimit: 1_000 });
    const { page } = await open(visit.again, running, managerOf(customer), '/domains');
    await page.getByText(`of 1,000 records in the plan “${customer.plan}”`).waitFor();
    await page.getByRole('meter', { name: /^Usage in/ }).waitFor();
  });

  it('is neither offered nor shown to a token without the scope, and says why', async () => {
    const customer = await makeCustomer(running.db);
    const { domainId } = at(customer.domains, 0);
    const { page } = await open(visit.again, running, customer);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    expect(await page.getByRole('link', { name: /^(Domains|Activity|settings)/i }).count()).toBe(0);
    await page.goto(`${running.api.baseUrl}/domains/${domainId}`);
    await page.getByRole('link', { name: 'Log' }).waitFor();
    expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    for (const address of ['/domains', '/new-domain', '/activity', settingsOf(domainId)]) {
      await page.goto(running.api.baseUrl + address);
      await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
      await page.getByText('needs the scope manage').waitFor();
    }
    expect(requests.filter((each) => /organization\/(domains|acts)/.test(each))).toEqual([]);
  });

  it('says what it cannot read, and that there is no such domain', async () => {
    const customer = await makeCustomer(running.db);
    const { page } = await open(visit.again, running, managerOf(customer), settingsOf('nobody'));
    await page.getByRole('heading', { name: 'Domain not found' }).waitFor();
    for (const address of ['/domains', '/activity']) {
      await page.route('**/v1/organization/{domains,acts}?**', (route) => route.abort());
      await page.goto(running.api.baseUrl + address);
      const failure = page.getByRole('heading', { name: 'The service cannot be reached' });
      await failure.waitFor();
      // while nothing else can take the button away: once the service is back, the page tries again by itself
      await Promise.all([page.waitForRequest(/organization\/(domains|acts)\?/), click(page, 'Try again')]);
      await page.unroute('**/v1/organization/{domains,acts}?**');
      await failure.waitFor({ state: 'detached' });
    }
  });

  it('shows names that turn the direction by their code points', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop\u202eelpmaxe', '<b>bold</b>.example'] });
    const { page } = await open(visit.again, running, managerOf(customer), '/domains');
    await page.getByRole('link', { name: 'shop\\u{202e}elpmaxe' }).click();
    await page.getByRole('heading', { name: 'shop\\u{202e}elpmaxe', level: 1 }).waitFor();
    await page.goto(`${running.api.baseUrl}/activity`);
    await page.getByText('Created the domain shop\\u{202e}elpmaxe').waitFor();
    await page.getByText('Created the domain <b>bold</b>.example').waitFor();
    expect(await page.locator('body').textContent()).not.toContain('\u202e');
  });

  it('searches among many domains', async () => {
    const customer = await makeCustomer(running.db);
    await running.db.run(
      (sql) => sql`
        insert into domains (id, organization_id, name, origins)
        select ${`${customer.organizationId}-`} || each, ${customer.organizationId}, 'site-' || each || '.example', '{}'
        from generate_series(1, 230) as each`,
    );
    expect((await ask<DomainsPage>(customer, '/domains?limit=200')).nextCursor).not.toBeNull();
    const { page } = await open(visit.again, running, managerOf(customer), '/domains');
    await page.getByText('and 131 more: search to narrow the list').waitFor();
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('site-7.');
    await page.getByRole('link', { name: 'site-7.example' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('nothing');
    await page.getByText('No active domain matches “nothing”.').waitFor();
  });

  it('is operated by the keyboard alone', async () => {
    const customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const { page } = await open(visit, running, managerOf(customer), settingsOf(domainId));
    const change = page.getByRole('button', { name: 'Change…' });
    await change.focus();
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('textbox', { name: 'Name' }));
    await page.keyboard.press('End');
    await page.keyboard.type('.test');
    await page.keyboard.press('Enter');
    await hasFocus(change);
    expect(await shown(customer, domainId)).toMatchObject({ name: 'shop.example.test' });
    await page.keyboard.press('Tab');
    await hasFocus(page.getByRole('button', { name: 'Archive…' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(page.getByRole('button', { name: 'Archive…' }));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { name: /Copy the key now/ }));
  });

  it('has nothing for axe to find, and fits on small screens', async () => {
    const names = ['shop.northwind.example', 'blog.northwind.example', 'old.northwind.example'];
    const customer = await makeCustomer(running.db, { domains: names, monthlyRecordLimit: 100_000 });
    const [shop, , old] = customer.domains.map(({ domainId }) => domainId);
    if (!shop || !old) throw new Error('too few domains');
    await patch(customer, shop, { origins: ['https://shop.northwind.example', 'https://*.northwind.example:8443'] });
    await ask(customer, `/domains/${old}`, { method: 'DELETE' });
    const { page } = await open(visit, running, managerOf(customer));
    await page.getByRole('link', { name: 'Domains', exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const shoot = (name: string) => look(page, `dashboard-settings-${name}`);
    await page.locator('.menu-button').click();
    await shoot('menu');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    await page.getByRole('link', { name: 'shop.northwind.example' }).waitFor();
    await shoot('domains');
    await page.getByRole('link', { name: 'New domain' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('news.northwind.example');
    await origin(page, 1).fill('news northwind');
    await click(page, 'Create domain');
    await page.getByText(/^Not an address of a website/).waitFor();
    await shoot('new');
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Domains' }).click();
    await page.getByRole('link', { name: 'shop.northwind.example' }).click();
    await click(page, 'New key');
    await page.getByRole('heading', { name: /Copy the key now/ }).waitFor();
    await shoot('key');
    const used = at(customer.domains, 0);
    await use(used.apiKey);
    await page.getByText(/^Last used/).waitFor();
    await page.getByRole('button', { name: `Revoke… ${used.apiKey.slice(0, 11)}` }).click();
    await page.getByRole('dialog').waitFor();
    await shoot('revoke');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke this key' }).click();
    await page.getByText('Revoked keys: 1').click();
    await click(page, 'Done');
    await shoot('one');
    await click(page, 'Archive…');
    await page.getByRole('dialog').waitFor();
    await shoot('archive');
    await page.keyboard.press('Escape');
    await click(page, 'Change…');
    await page.getByRole('textbox', { name: 'Name' }).fill('Northwind shop');
    await shoot('change');
    await patch(customer, shop, { origins: ['https://shop.northwind.example'] });
    await click(page, 'Save changes');
    await page.getByRole('heading', { name: /^Somebody else changed/ }).waitFor();
    await shoot('conflict');
    await page.goto(`${running.api.baseUrl}${settingsOf(old)}`);
    await page.getByRole('heading', { name: 'This domain is archived' }).waitFor();
    await shoot('archived');
    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.getByRole('heading', { name: 'Breakdown' }).waitFor();
    await shoot('statistics-archived');
    await page.goto(`${running.api.baseUrl}/activity`);
    await page.getByRole('region', { name: 'Activity' }).waitFor();
    await shoot('activity');
    const empty = await makeCustomer(running.db, { domains: [] });
    await page.goto('about:blank');
    await page.goto(`${running.api.baseUrl}/domains#token=${managerOf(empty).token}`);
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    await click(page, 'OK');
    await shoot('empty');
    await page.goto('about:blank');
    await page.goto(`${running.api.baseUrl}/domains#token=${customer.token}`);
    await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
    await click(page, 'OK');
    await shoot('forbidden');
  }, 300_000);
});
