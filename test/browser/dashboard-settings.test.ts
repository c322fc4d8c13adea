import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import type { ActsPage, ManagedDomain } from '#libs/tenants/contract';
import { click, crumb, hasFocus, hold, step } from '../support/browser/browser.ts';
import { type Customer, figure, go, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the settings in the dashboard', () => {
  const dashboard = useDashboard();

  const patch = (customer: Customer, domainId: string, change: object) =>
    dashboard.manage<ManagedDomain>(customer, `/domains/${domainId}`, {
      method: 'PATCH',
      body: JSON.stringify(change),
    });
  const shown = (customer: Customer, domainId: string) =>
    dashboard.manage<ManagedDomain>(customer, `/domains/${domainId}`);
  const record = (domainId: string, apiKey: string, origin = 'https://shop.example', fields = {}) =>
    createClient(dashboard.api.baseUrl, { organizationId: '' }).record(
      domainId,
      apiKey,
      { decision: 'accept_all', visitorId: 'v-1', ...fields },
      { origin },
    );
  /** Processes write it once a minute; test/tenants/key-use.test.ts holds that they do. */
  const use = (apiKey: string) =>
    dashboard.db.run((sql) => sql`update api_keys set last_used_at = now() where prefix = ${apiKey.slice(0, 11)}`);
  const settingsOf = (domainId: string) => `/domains/${domainId}/settings`;
  /** A customer of the test's own, and the settings of its domain. */
  const settings = async (options: Parameters<typeof dashboard.customer>[0] = {}) => {
    const customer = await dashboard.customer({ domains: ['shop.example'], ...options });
    const { domainId, apiKey } = at(customer.domains, 0);
    const visitor = await dashboard.open(managerOf(customer), settingsOf(domainId));
    return { ...visitor, customer, domainId, apiKey };
  };
  const changing = (page: Page) => page.getByRole('button', { name: 'Change…' });
  const name = (page: Page) => page.getByRole('textbox', { name: 'Name' });
  const origin = (page: Page, number: number) => page.getByRole('textbox', { name: `Address ${number}` });

  it('makes a domain and a key that records, and revokes the key', async () => {
    const customer = await dashboard.customer({ domains: [] });
    const { page, context, messages } = await dashboard.open(managerOf(customer));
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('heading', { name: 'Add the first domain' }).waitFor();
    await page.getByRole('link', { name: 'Domains', exact: true }).click();
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    await page.getByRole('link', { name: 'New domain' }).click();

    await name(page).fill('shop.example');
    await origin(page, 1).fill('https://shop.example');
    await click(page, 'Create domain');
    await page.waitForURL(/\/domains\/dom_\w+\/settings$/);
    const domainId = new URL(page.url()).pathname.split('/')[2] ?? '';
    await page.getByText('No key yet: without one nothing is recorded.').waitFor();
    const setUp = page.getByRole('link', { name: 'Set up the banner' });
    await setUp.waitFor();
    expect(await shown(customer, domainId)).toMatchObject({ name: 'shop.example', origins: ['https://shop.example'] });
    // the menu has it without a reload
    await page.locator('.menu-button').click();
    await page.getByRole('search').getByRole('link').filter({ hasText: 'shop.example' }).waitFor();
    await page.keyboard.press('Escape');
    await click(page, 'New key');
    const card = page.getByRole('region', { name: /Copy the key now/ });
    await hasFocus(card.getByRole('heading'));
    expect(await setUp.getAttribute('href')).toBe(`/domains/${domainId}/widget`);
    await card.getByRole('button', { name: 'Copy Key' }).click();
    await card.getByRole('button', { name: 'Copied Key' }).waitFor();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const apiKey = await clipboard();
    expect(apiKey).toMatch(/^ak_[A-Za-z0-9_-]{32}$/);
    expect(page.url()).not.toContain('ak_');
    await eventually(async () => expect((await record(domainId, apiKey)).status).toBe(202));
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
    expect(await page.getByRole('list', { name: 'Active keys' }).count()).toBe(0);
    await eventually(async () => expect((await record(domainId, apiKey)).status).toBe(401));
    expect(messages).toEqual([]);
  });

  it('tells where records come from that the list does not have, takes those, and a list that is pasted', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId, apiKey } = at(customer.domains, 0);
    const pages = ['https://shop.example/', 'https://shop.example/a', 'https://blog.shop.example/', '<b>no page</b>'];
    await dashboard.store(pages.map((pageUrl, each) => recordAt(Date.now() - each, { domainId, pageUrl })));
    await use(apiKey);
    await record(domainId, apiKey, 'https://shop.example', { tcString: 'x'.repeat(5_000) });
    const { page, context } = await dashboard.open(managerOf(customer), settingsOf(domainId));
    await step('and which fields records lost', () =>
      page.getByText('It must be at most 4096 characters; the value was a string of 5,000 characters.').waitFor(),
    );
    const all = ['https://shop.example', 'https://sh0p.example', 'https://blog.shop.example'];
    const hint = page.getByRole('list', { name: /^The newest records come from/ });
    await hint.waitFor();
    const told = () => hint.getByRole('listitem').allTextContents();
    const second = 'https://blog.shop.example1 recordAdd https://blog.shop.example';
    expect(await told()).toEqual(['https://shop.example2 recordsAdd https://shop.example', second]);
    await page.getByText('Once one is on the list, all others are refused.').waitFor();
    await click(page, 'Add https://shop.example');
    expect(await origin(page, 1).inputValue()).toBe('https://shop.example');
    expect(await told()).toEqual([second]);
    await page.getByText('are refused now').waitFor();
    await click(page, 'Save changes');
    await changing(page).waitFor();
    expect((await shown(customer, domainId)).origins).toEqual(['https://shop.example']);
    await step('also of what was refused, and the last one gives the focus back', async () => {
      await eventually(async () => expect((await record(domainId, apiKey, 'https://sh0p.example')).status).toBe(403));
      await page.getByText('Add only addresses of your own.').waitFor();
      await page.getByText('It looks like https://shop.example, but is another website.').waitFor();
      await click(page, 'Add https://sh0p.example to the list');
      expect(await origin(page, 2).inputValue()).toBe('https://sh0p.example');
      await page.getByRole('button', { name: 'Add https://blog.shop.example' }).focus();
      await page.keyboard.press('Enter');
      await hint.waitFor({ state: 'detached' });
      await hasFocus(page.getByRole('button', { name: 'Add address' }));
      await click(page, 'Save changes');
      await changing(page).waitFor();
      expect((await shown(customer, domainId)).origins).toEqual(all);
    });
    await step('says beside each origin what is wrong with it', async () => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await click(page, 'Change…');
      // at once after the last letter, before what follows its rendering
      await name(page).evaluate(async (field: HTMLInputElement) => {
        field.value = 'Shop';
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
        await new Promise<void>((resolve) => queueMicrotask(resolve));
        field.form?.querySelector<HTMLElement>('.settings-add')?.click();
      });
      await hasFocus(origin(page, 4));
      const pasted = 'https://a.example\nhttps://b.example/shop, ftp://c.example\nhttps://*.d.example';
      await page.evaluate((text) => navigator.clipboard.writeText(text), pasted);
      await page.keyboard.press('Control+V');
      await hasFocus(origin(page, 7));
      await origin(page, 7).fill('*.D.example:443');
      await page.getByText('Taken as https://*.d.example').waitFor();
      await click(page, 'Save changes');
      await page.getByText('Not an address of a website, such as https://www.example.com.').waitFor();
      await hasFocus(origin(page, 6));
      const invalid = [4, 5, 6, 7].map((number) => origin(page, number).getAttribute('aria-invalid'));
      expect(await Promise.all(invalid)).toEqual(['false', 'false', 'true', 'false']);
      expect(await origin(page, 5).inputValue()).toBe('https://b.example');
      await click(page, 'Remove address 6');
      await hasFocus(origin(page, 6));
      await click(page, 'Save changes');
      await hasFocus(changing(page));
      const origins = [...all, 'https://a.example', 'https://b.example', 'https://*.d.example'];
      expect(await shown(customer, domainId)).toMatchObject({ name: 'Shop', origins });
      expect(await page.title()).toBe('Settings of Shop · Assent');
    });
  });

  it('leaves the focus where it is while the page loads and somebody else changes the domain, and lets one choose', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const { page } = await dashboard.regular();
    const release = await hold(page, `**/domains/${domainId}/keys?*`);
    await dashboard.enter(page, managerOf(customer), settingsOf(domainId));
    await crumb(page, 'shop.example').waitFor();
    await page.locator('.menu-button').click();
    const search = page.getByRole('searchbox', { name: 'Search domains' });
    await hasFocus(search);
    release();
    // until it has looked once more
    await page.getByText('Updates by itself', { exact: true }).waitFor();
    await page.waitForResponse(/\/keys\?/);
    await hasFocus(search);
    await page.keyboard.press('Escape');

    await click(page, 'Change…');
    await hasFocus(name(page));
    await name(page).fill('mine.example');
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
    await changing(page).waitFor();
    const mixed = { name: 'mine.example', origins: ['https://theirs.example'] };
    expect(await shown(customer, domainId)).toMatchObject(mixed);

    await click(page, 'Change…');
    await name(page).fill('another.example');
    await patch(customer, domainId, { name: 'theirs.example' });
    await eventually(async () => expect(await page.title()).toBe('Settings of theirs.example · Assent'));
    await hasFocus(name(page));
    await click(page, 'Save changes');
    await click(page, 'Discard my changes');
    await crumb(page, 'theirs.example').waitFor();
    expect(await shown(customer, domainId)).toMatchObject({ name: 'theirs.example' });
    // to another page the focus moves
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await eventually(async () => expect(await page.title()).toMatch(/^Log of /));
    await hasFocus(page.getByRole('heading', { level: 1 }));
  });

  it('lists domains by name with their figures and keys, tells which are silent, and opens them', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example', 'new.example'] });
    const [shop = '', blog = ''] = customer.domains.map(({ domainId }) => domainId);
    const lastOnBlog = startOf(addDays(dayOf(Date.now()), -5));
    const records = [
      ...[1, 2].map(() => recordAt(Date.now() - 60_000, { domainId: shop })),
      recordAt(Date.now() - 60_000, { domainId: shop, decision: 'reject_all' }),
      recordAt(lastOnBlog, { domainId: blog }),
    ];
    await dashboard.storeCounted(customer, records);
    await dashboard.grouped(customer, records.length);
    await dashboard.manage(customer, `/domains/${shop}/keys`, { method: 'POST', body: '{}' });
    const { page } = await dashboard.open(managerOf(customer), '/domains');
    const rows = page.getByRole('table', { name: 'Active domains' }).locator('tbody tr');
    await rows.filter({ hasText: '66.7%' }).waitFor();
    const cells = await Promise.all((await rows.all()).map((row) => row.locator('th, td').allTextContents()));
    const last = new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    }).format(lastOnBlog);
    expect(cells).toEqual([
      [`blog.examplesilent for 5 days${blog}`, '1', '100.0%', expect.stringContaining(last), '1'],
      [expect.stringMatching(/^new\.exampledom_/), '0', '–', 'none yet', '1'],
      [`shop.example${shop}`, '3', '66.7%', expect.any(String), '2'],
    ]);
    await page.getByRole('button', { name: 'Decisions' }).click();
    expect(await rows.first().textContent()).toContain('shop.example');
    await rows.first().getByRole('link').click();
    await crumb(page, 'shop.example').waitFor();
    await figure(page, 'Decisions').getByText('3', { exact: true }).waitFor();
    // figures need another scope than domains
    await dashboard.enter(page, { token: tokenFor(customer.organizationId, { scope: 'manage' }) }, '/domains');
    await rows.first().waitFor();
    expect(await rows.first().locator('th, td').allTextContents()).toEqual([`blog.example${blog}`, '1']);
  });

  it('archives a domain with its keys, restores it, and knows a key that somebody else revoked meanwhile', async () => {
    const { page, customer, domainId, apiKey } = await settings({ domains: ['shop.example', 'blog.example'] });
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
    await menu.filter({ hasText: /^shop\.exampleArchiveddom_/ }).waitFor();
    expect(await menu.first().textContent()).toMatch(/^blog\.exampledom_/);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.locator('.page-title').getByText('Archived').waitFor();
    await page.getByRole('heading', { name: 'Breakdown' }).waitFor();
    expect(await page.getByText('Waiting for the first decision').count()).toBe(0);
    await page.getByRole('link', { name: 'Log', exact: true }).click();
    await page.getByText('This domain was archived before anybody decided.').waitFor();
    await go(page, '/domains');
    await page.getByRole('region', { name: 'Archived 1' }).getByRole('link', { name: 'shop.example' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();

    await click(page, 'Restore');
    await hasFocus(page.getByRole('button', { name: 'New key' }));
    await page.getByText('No key yet').waitFor();
    expect(await shown(customer, domainId)).toMatchObject({ archivedAt: null });

    await click(page, 'New key');
    await page.getByRole('heading', { name: /Copy the key now/ }).waitFor();
    const revoking = page.getByRole('button', { name: /^Revoke… ak_/ });
    const prefix = (await revoking.textContent())?.replace('Revoke… ', '');
    await revoking.click();
    await page.getByRole('dialog', { name: 'Revoke this key?' }).waitFor();
    await dashboard.manage(customer, `/domains/${domainId}/keys/${prefix}`, { method: 'DELETE' });
    const told = page.getByRole('dialog', { name: 'This key is revoked already' });
    await told.getByRole('button', { name: 'Close' }).click();
    await told.waitFor({ state: 'detached' });
    // which is still shown
    await page.getByRole('heading', { name: 'This key has been revoked' }).waitFor();
    expect(await page.locator('.snippet').count()).toBe(0);
  });

  it('knows the key of the published banner, whose successor is there once it is revoked or the domain restored', async () => {
    const { page, customer, domainId, apiKey } = await settings();
    await dashboard.manage(customer, `/domains/${domainId}/banner/publish`, { method: 'POST', body: '{}' });
    const keys = page.getByRole('list', { name: 'Active keys' }).getByRole('listitem');
    const own = keys.filter({ hasText: 'In the published banner' });
    await own.waitFor();
    expect(await keys.count()).toBe(2);
    const former = (await own.locator('code').textContent()) ?? '';
    expect(former.slice(0, 11)).not.toBe(apiKey.slice(0, 11));
    await own.getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It is in the published banner, where a new key replaces it at once.').waitFor();
    expect(await dialog.getByText('put another key into them first').count()).toBe(0);
    await click(page, 'Revoke this key');
    await own.filter({ hasNotText: former }).waitFor();

    await click(page, 'Archive…');
    await dialog.getByText('the published banner gets its own by itself').waitFor();
    await click(page, 'Archive this domain');
    await page.getByText('restoring it puts a new one into the published banner').waitFor();
    await click(page, 'Restore');
    await own.waitFor();
    expect(await keys.count()).toBe(1);
  });

  it('says who did what, and older acts on demand, with names that turn the direction by their code points', async () => {
    const customer = await dashboard.customer({ domains: ['shop\u202eelpmaxe', '<b>bold</b>.example'] });
    await dashboard.db.run(
      (sql) => sql`
        insert into administrative_acts (actor, act, subject, organization_id, details)
        select 'noor@northwind.example', 'org.plan', organization_id, organization_id, '{"plan": "large"}'
        from administrative_acts, generate_series(1, 50) where subject = ${customer.organizationId}`,
    );
    const { page } = await dashboard.open(managerOf(customer), '/activity');
    const acts = page.getByRole('region', { name: 'Activity' }).getByRole('listitem');
    await acts.nth(49).waitFor();
    expect(await acts.count()).toBe(50);
    expect(await acts.first().textContent()).toMatch(/noor@northwind\.example.*Changed the plan to large/);
    await click(page, 'Older activity');
    await acts.filter({ hasText: 'Created the organization Northwind Outdoor' }).waitFor();
    await page.getByText('Created the domain shop\\u{202e}elpmaxe').waitFor();
    await page.getByText('Created the domain <b>bold</b>.example').waitFor();
    expect(await acts.count()).toBe((await dashboard.manage<ActsPage>(customer, '/acts?limit=200')).acts.length);
    expect(await page.getByRole('button', { name: 'Older activity' }).count()).toBe(0);
    await go(page, '/domains');
    await page.getByRole('link', { name: 'shop\\u{202e}elpmaxe' }).click();
    await crumb(page, 'shop\\u{202e}elpmaxe').waitFor();
    expect(await page.locator('body').textContent()).not.toContain('\u202e');
    await step('what cannot be read is told, and tried again', async () => {
      for (const address of ['/domains', '/activity']) {
        await page.route('**/v1/organization/{domains,acts}?**', (route) => route.abort());
        await go(page, address);
        const failure = page.getByRole('heading', { name: 'The service cannot be reached' });
        await failure.waitFor();
        // while nothing else can take the button away: once the service is back, the page tries again by itself
        await Promise.all([page.waitForRequest(/organization\/(domains|acts)\?/), click(page, 'Try again')]);
        await page.unroute('**/v1/organization/{domains,acts}?**');
        await failure.waitFor({ state: 'detached' });
      }
    });
    await go(page, settingsOf('nobody'));
    await page.getByRole('heading', { name: 'Domain not found' }).waitFor();
  });

  it('is shown to a privacy officer alone, who finds acts by kind, person and day, and those about a visitor', async () => {
    const customer = await dashboard.customer();
    const { domainId } = at(customer.domains, 0);
    const officer = (claims: object = {}) => ({
      token: tokenFor(customer.organizationId, { scope: 'privacy', sub: 'olga', ...claims }),
    });
    const lookUp = (visitorId: string, sub: string) =>
      fetch(`${dashboard.api.baseUrl}/v1/organization/visitors/lookup`, {
        method: 'POST',
        headers: { authorization: `Bearer ${officer({ sub }).token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ visitorId }),
      }).then((response) => response.text());
    await lookUp('v-1', 'olga');
    await lookUp('v-2', 'igor');
    const { page, messages } = await dashboard.open(officer());
    await step('and neither figures nor the log are asked for in vain', async () => {
      await page.getByText('Statistics and the log need the scope read').waitFor();
      await page.getByRole('navigation', { name: 'Visitors of a domain' }).getByRole('link').click();
      await page.getByRole('searchbox', { name: 'Visitor' }).waitFor();
      await go(page, `/domains/${domainId}/log`);
      await page.getByText('needs the scope read').waitFor();
      const ofDomain = page.getByRole('navigation', { name: 'Pages of this domain' }).getByRole('link');
      expect(await ofDomain.allTextContents()).toEqual(['Visitor']);
    });
    await go(page, '/erasures');
    await page.getByRole('heading', { name: 'No erasures yet' }).waitFor();
    const tabs = page.getByRole('navigation', { name: 'Pages of the organization' });
    await tabs.getByRole('link', { name: 'Erasures' }).waitFor();
    expect(await tabs.getByRole('link').allTextContents()).toEqual(['Overview', 'Activity', 'Erasures']);
    await tabs.getByRole('link', { name: 'Activity' }).click();
    const acts = page.getByRole('region', { name: 'Activity' }).getByRole('listitem');
    const filters = page.getByRole('form', { name: 'Filters' });
    await step('who sees first what was changed, exported or erased', async () => {
      await acts.filter({ hasText: 'Created the domain' }).waitFor();
      expect(await acts.filter({ hasText: 'igor' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Show who read records, too' }).click();
    });
    await acts.filter({ hasText: 'igor' }).waitFor();
    const all = await acts.count();
    expect(all).toBeGreaterThan(2);
    await filters.getByRole('combobox', { name: 'What' }).selectOption('visitor.access');
    await click(page, 'Find');
    await eventually(async () => expect(await acts.count()).toBe(2));
    await filters.getByRole('searchbox', { name: 'Who' }).fill('igor');
    await click(page, 'Find');
    await eventually(async () => expect(await acts.count()).toBe(1));
    // the address is a link to it
    await page.reload();
    await acts.filter({ hasText: 'igorRead everything about a visitor of all domains' }).waitFor();
    expect(await acts.count()).toBe(1);
    await filters.getByLabel('To (UTC)').fill('2020-01-01');
    await click(page, 'Find');
    await page.getByRole('heading', { name: 'No activity matches' }).waitFor();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await filters.getByRole('searchbox', { name: 'Visitor' }).fill('v-1');
    await click(page, 'Find');
    await acts.filter({ hasText: 'olga' }).waitFor();
    expect(await acts.count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await filters.getByRole('searchbox', { name: 'Visitor' }).fill('nobody');
    await click(page, 'Find');
    await page.getByRole('heading', { name: 'Nothing is noted about this visitor' }).waitFor();
    await click(page, 'Clear');
    await acts.filter({ hasText: 'Created the domain' }).waitFor();
    await step('and reads in one go as one line', async () => {
      const minutes = await dashboard.sql<{ at: Date }[]>`
        insert into visitor_acts (organization_number, domain_number, actor, act, details, at)
        select o.number, d.number, 'igor', 'log.read', '{"what": "records", "records": 540}',
          '2026-08-14T09:42:00Z'::timestamptz + n * interval '1 minute'
        from organizations o join domains d on d.organization_id = o.id, generate_series(0, 4, 4) as n
        where d.id = ${domainId} returning at`;
      expect(minutes.length).toBe(2);
      await filters.getByRole('combobox', { name: 'What' }).selectOption('Reads of records');
      await filters.getByRole('searchbox', { name: 'Who' }).fill('igor');
      await filters.getByLabel('To (UTC)').fill('2026-08-14');
      await click(page, 'Find');
      await acts.getByText('1,080 records, in the list').waitFor();
      expect(await acts.count()).toBe(1);
      expect(await acts.locator('time').textContent()).toBe('14 Aug 2026 09:42–09:46');
    });
    expect(urls.filter((url) => /v-1|nobody/.test(url))).toEqual([]);
    await go(page, settingsOf(domainId));
    await page.getByText('needs the scope manage').waitFor();
    expect(messages).toEqual([]);
  });

  it('is neither offered nor shown to a token without the scope, and says why', async () => {
    const customer = await dashboard.customer();
    const { domainId } = at(customer.domains, 0);
    const { page } = await dashboard.open(customer);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    expect(await page.getByRole('link', { name: /^(Domains|Activity|Webhooks|settings)/i }).count()).toBe(0);
    await go(page, `/domains/${domainId}`);
    await page.getByRole('link', { name: 'Log' }).waitFor();
    expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    for (const address of ['/domains', '/new-domain', '/activity', '/webhooks', settingsOf(domainId)]) {
      await go(page, address);
      await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
      await page.getByText('needs the scope manage').waitFor();
      await page.goBack();
    }
    expect(requests.filter((each) => /organization\/(domains|acts|webhooks)/.test(each))).toEqual([]);
  });

  it('is operated by the keyboard alone, and asks for no log where the plan has none', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'], consentLog: false });
    const { domainId } = at(customer.domains, 0);
    const { page } = await dashboard.regular();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await dashboard.enter(page, managerOf(customer), settingsOf(domainId));
    await changing(page).focus();
    await page.keyboard.press('Enter');
    await hasFocus(name(page));
    await page.keyboard.press('End');
    await page.keyboard.type('.test');
    await page.keyboard.press('Enter');
    await hasFocus(changing(page));
    expect(await shown(customer, domainId)).toMatchObject({ name: 'shop.example.test' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(page.getByRole('button', { name: 'Archive…' }));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('heading', { name: /Copy the key now/ }));
    expect(requests.filter((each) => each.includes('/records'))).toEqual([]);
  });
});
