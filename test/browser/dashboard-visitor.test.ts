import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { click, step } from '../support/browser/browser.ts';
import { follow, go, useDashboard } from '../support/browser/dashboard.ts';
import { html, startSite, tag } from '../support/browser/site.ts';
import { tokenFor } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

// new notices are bounded by address, and all files have the same
const dashboard = useDashboard({ api: await startApi(useStores().env) });

const site = await startSite();
const customer = await dashboard.customer();
const domain = at(customer.domains, 0);
const officer = { token: tokenFor(customer.organizationId, { scope: 'read privacy' }) };

describe('a visitor’s page', () => {
  const addressOf = (id?: string) =>
    `/domains/${domain.domainId}/visitor${id === undefined ? '' : `#visitor=${encodeURIComponent(id)}`}`;
  const client = () => dashboard.client(customer);
  const stored = async (id: string) =>
    (await client().records(domain.domainId, `visitorId=${encodeURIComponent(id)}`)).body.records;
  let visitorId = '';
  /** A German visitor, who accepts and then withdraws, and is erased by the last test. */
  beforeEach(async () => {
    if (visitorId !== '') return;
    const { page } = await dashboard.visit.again({ locale: 'de-DE' });
    const attributes = { 'data-lang': 'de', 'data-text-intro': '<b>Kekse</b> & mehr' };
    await page.goto(site.add('/', html(tag({ api: dashboard.api, ...domain }, attributes))));
    await click(page, 'Alle akzeptieren');
    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Einwilligung widerrufen');
    visitorId = await page.evaluate(() => window.assent?.getConsent()?.visitorId ?? '');
    await eventually(async () => {
      const records = await stored(visitorId);
      expect(records.length).toBe(2);
      for (const { notice } of records)
        expect((await client().get(`/v1/consent/${domain.domainId}/notices/${notice}`)).status).toBe(200);
    });
  });
  const logPath = () => `/domains/${domain.domainId}/log`;
  const nothing = (page: Page) => page.getByRole('heading', { name: 'Nothing is stored about this visitor' });
  const find = async (page: Page, id: string) => {
    await page.getByRole('searchbox', { name: 'Visitor' }).fill(id);
    await click(page, 'Find');
  };

  it('is found by the id of a record, which is what the widget shows to visitors, or by the visitor’s', async () => {
    const [record] = await stored(visitorId);
    const { page, messages } = await dashboard.open(officer, addressOf());
    await find(page, record?.id ?? '');
    await page.getByRole('heading', { name: visitorId }).waitFor();
    const lookedFor = page.getByRole('listitem').filter({ hasText: 'The record that you looked for' });
    await lookedFor.getByText(record?.id ?? '').waitFor();
    // back leads to where one was, not to the search for the record
    await page.goBack();
    expect(await page.getByRole('searchbox', { name: 'Visitor' }).inputValue()).toBe('');
    await page.goForward();
    await lookedFor.waitFor();
    expect(await page.getByRole('searchbox', { name: 'Visitor' }).inputValue()).toBe(visitorId);
    await find(page, 'nobody');
    await nothing(page).waitFor();
    await step('the skip link leads to its content', async () => {
      await page.getByRole('link', { name: 'Skip to content' }).focus();
      await page.keyboard.press('Enter');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
      expect(page.url()).toContain('#visitor=nobody');
    });
    await find(page, visitorId);
    await page.getByRole('heading', { name: visitorId }).waitFor();
    await step('a download is all that is stored', async () => {
      const [file] = await Promise.all([page.waitForEvent('download'), click(page, 'Download')]);
      expect(file.suggestedFilename()).toMatch(/^visitor-\d{4}-\d\d-\d\d\.json$/);
      const kept = JSON.parse(readFileSync(await file.path(), 'utf8'));
      expect(kept).toMatchObject({ visitorId, records: [{ decision: 'withdraw' }, { decision: 'accept_all' }] });
      expect(Object.values<string>(kept.notices).join()).toContain('Ihre Daten, Ihre Entscheidung');
    });
    await step('prints with all texts unfolded and without what is only for the screen', async () => {
      await page.emulateMedia({ media: 'print' });
      const titles = page.getByText('Ihre Daten, Ihre Entscheidung');
      // the page listens from a moment after it is drawn
      await eventually(async () => {
        await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
        expect(await titles.nth(1).isVisible()).toBe(true);
      });
      expect(await titles.count()).toBe(2);
      // the answer to a request for access: whatever is stored of the person
      const { ip, userAgent, bannerVersion, id } = at(await stored(visitorId), 0);
      const paper = page.locator('.timeline > li').first();
      for (const text of [ip, userAgent, bannerVersion, id, 'Received', 'the settings'])
        expect(await paper.getByText(String(text)).first().isVisible()).toBe(true);
      for (const hidden of ['Download', 'Erase…', 'Sign out', 'Find'])
        expect(await page.getByRole('button', { name: hidden }).isVisible()).toBe(false);
      expect(await page.getByRole('link', { name: 'Who looked' }).isVisible()).toBe(false);
      await page.emulateMedia({ media: null });
    });
    await step('leads to who looked at it', async () => {
      await page.getByRole('link', { name: 'Who looked' }).click();
      const acts = page.getByRole('region', { name: 'Activity' });
      await acts.getByText('Read everything about a visitor of').first().waitFor();
      expect(await page.getByRole('searchbox', { name: 'Visitor' }).inputValue()).toBe(visitorId);
    });
    await step('takes any id, and says that the service fails', async () => {
      for (const id of ['ein Müller/../x?y#z&%', '😀'.repeat(64), '<img src=x>']) {
        await go(page, addressOf(id));
        await page.getByText(`“${id}”`).waitFor();
      }
      expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
      await page.route('**/visitors/lookup', (route) => route.abort());
      await find(page, 'nobody');
      await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
      await page.unroute('**/visitors/lookup');
      await nothing(page).waitFor();
    });
  });

  it('is looked up over all domains, too, and a record of nobody opens in the log', async () => {
    const both = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });
    const [shop, blog] = [at(both.domains, 0), at(both.domains, 1)];
    const anonymous = recordAt(Date.now(), { domainId: shop.domainId });
    await dashboard.store([
      recordAt(Date.now() - 2_000, { domainId: blog.domainId, decision: 'reject_all', visitorId: 'v-both' }),
      recordAt(Date.now() - 1_000, { domainId: shop.domainId, decision: 'accept_all', visitorId: 'v-both' }),
      recordAt(Date.now(), { domainId: blog.domainId, decision: 'reject_all', visitorId: 'v-blog' }),
      anonymous,
    ]);
    const read = { token: tokenFor(both.organizationId, { scope: 'read privacy' }) };
    const { page } = await dashboard.open(read, `/domains/${shop.domainId}/log`);
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await step('the log leads there', async () => {
      await find(page, 'v-blog');
      await nothing(page).waitFor();
      expect(page.url()).toMatch(/\/visitor#visitor=v-blog$/);
    });
    await page.getByRole('link', { name: 'Search all domains' }).click();
    const state = page.getByRole('region', { name: 'v-blog' });
    await state.getByText('blog.example').waitFor();
    await find(page, 'v-both');
    const decisions = page.getByRole('region', { name: 'Decisions' }).getByRole('listitem');
    await decisions.filter({ hasText: 'Accepted all' }).getByText('shop.example').waitFor();
    await decisions.filter({ hasText: 'Rejected all' }).getByText('blog.example').waitFor();
    expect(urls.filter((url) => /v-(both|blog)/.test(url))).toEqual([]);
    await page.getByRole('combobox', { name: 'In' }).selectOption('This domain');
    await decisions.filter({ hasText: 'Rejected all' }).waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'In' }).selectOption('All domains');
    await decisions.filter({ hasText: 'Rejected all' }).waitFor();
    await click(page, 'Erase…');
    const dialog = page.getByRole('dialog', { name: 'Erase this visitor?' });
    await dialog.getByText('It concerns 2 records in all domains').waitFor();
    await dialog.getByRole('button', { name: 'Erase this visitor' }).click();
    await page.getByRole('heading', { name: 'The visitor is erased' }).waitFor();
    await page.getByText('2 records have no visitor’s id').waitFor();
    await step('the record', async () => {
      await find(page, anonymous.id);
      await page.getByRole('dialog').getByText(anonymous.id).waitFor();
      expect(new URL(page.url()).searchParams.get('record')).toBe(anonymous.id);
    });
  });

  it('is reached from the log with the scope alone, shows the very texts in the visitor’s language, and erases', async () => {
    const { page } = await dashboard.open(customer, logPath());
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    await step('without the scope it is neither offered nor shown, but the texts are in the details', async () => {
      const row = page.getByRole('row').filter({ hasText: visitorId }).first();
      await row.getByRole('button', { name: /Details/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('<b>Kekse</b> & mehr').waitFor();
      expect(await dialog.locator('.shown').getAttribute('lang')).toBe('de');
      expect(await page.getByRole('link', { name: visitorId }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'Visitor', exact: true }).count()).toBe(0);
      await go(page, addressOf(visitorId));
      await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
      expect(requests.filter((request) => request.method() === 'POST')).toEqual([]);
    });
    await go(page, logPath());
    await follow(page, officer.token);
    await page.getByRole('link', { name: visitorId }).first().waitFor();
    requests.length = 0;
    await page.getByRole('link', { name: visitorId }).first().click();
    await page.getByRole('region', { name: visitorId }).getByText('Withdrew').waitFor();
    const decisions = page.getByRole('region', { name: 'Decisions' }).locator('.timeline > li');
    expect(await decisions.locator('.decision').allTextContents()).toEqual(['Withdrew', 'Accepted all']);
    const [second, first] = [decisions.nth(0), decisions.nth(1)];
    await first.getByText('What was shown').click();
    await first.getByText('Ihre Daten, Ihre Entscheidung').waitFor();
    expect(await first.getByText('<b>Kekse</b> & mehr').isVisible()).toBe(true);
    const buttons = first.getByRole('list', { name: 'buttons' }).first().getByRole('listitem');
    expect(await buttons.allTextContents()).toEqual(['Alle akzeptieren', 'Alle ablehnen', 'Anpassen']);
    await second.getByText('What was shown').click();
    await second.getByText('Einwilligung widerrufen').waitFor();

    await click(page, 'Erase…');
    const dialog = page.getByRole('dialog', { name: 'Erase this visitor?' });
    await dialog.getByText('Kept').waitFor();
    await dialog.getByRole('button', { name: 'Erase this visitor' }).click();
    await page.getByRole('heading', { name: 'The visitor is erased' }).waitFor();
    const left = page.getByRole('region', { name: 'What is left' });
    expect(await left.locator('.decision').allTextContents()).toEqual(['Withdrew', 'Accepted all']);
    expect(await page.locator('main').getByText(`${site.origin}/`).count()).toBe(0);
    expect(await stored(visitorId)).toEqual([]);
    // neither in an address, nor in what pages send along with a request
    expect(requests.map((request) => request.url()).filter((url) => url.includes(visitorId))).toEqual([]);
    for (const request of requests) expect((await request.headerValue('referer')) ?? '').not.toContain(visitorId);
    // the id is gone from here, too
    expect(page.url()).not.toContain(visitorId);
    expect(await page.getByRole('searchbox', { name: 'Visitor' }).inputValue()).toBe('');
    expect(await page.locator('main').getByText(visitorId).count()).toBe(0);
    await find(page, visitorId);
    await nothing(page).waitFor();
  });
});
