import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { click, useBrowser } from '../support/browser/browser.ts';
import { type Customer, makeCustomer, open, type Running, useService } from '../support/browser/dashboard.ts';
import { look } from '../support/browser/look.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { tokenFor } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('a visitor’s page', () => {
  const visit = useBrowser();
  let running: Running;
  let site: Site;
  let customer: Customer;
  let officer: Pick<Customer, 'token'>;

  beforeAll(async () => {
    // new notices are bounded by address, and all files have the same
    const service = useService();
    running = { ...service, api: await startApi(service.env) };
    site = await startSite();
    customer = await makeCustomer(running.db);
    officer = { token: tokenFor(customer.organizationId, { scope: 'read privacy' }) };
  });

  const domain = () => at(customer.domains, 0);
  const addressOf = (visitorId?: string) =>
    `/domains/${domain().domainId}/visitor${visitorId === undefined ? '' : `#visitor=${encodeURIComponent(visitorId)}`}`;
  const stored = async (visitorId: string) => {
    const response = await fetch(
      `${running.api.baseUrl}/v1/consent/${domain().domainId}/records?visitorId=${encodeURIComponent(visitorId)}`,
      { headers: { authorization: `Bearer ${customer.token}` } },
    );
    return ((await response.json()) as { records: { id: string; notice: string | null }[] }).records;
  };
  const holds = async (notice: string) => {
    const response = await fetch(`${running.api.baseUrl}/v1/consent/${domain().domainId}/notices/${notice}`, {
      headers: { authorization: `Bearer ${customer.token}` },
    });
    expect(response.status).toBe(200);
  };
  /** A German visitor who accepts and then withdraws. Their id. */
  const decide = async (): Promise<string> => {
    const { page } = await visit({ locale: 'de-DE' });
    const { domainId, apiKey } = domain();
    const attributes = { 'data-lang': 'de', 'data-text-intro': '<b>Kekse</b> & mehr' };
    await page.goto(site.add('/', html(tag({ api: running.api, domainId, apiKey }, attributes))));
    await click(page, 'Alle akzeptieren');
    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Einwilligung widerrufen');
    const visitorId = await page.evaluate(() => window.assent?.getConsent()?.visitorId ?? '');
    await eventually(async () => {
      const records = await stored(visitorId);
      expect(records.length).toBe(2);
      for (const { notice } of records) await holds(notice ?? '');
    });
    return visitorId;
  };
  const requestsOf = (page: Page) => {
    const requests: Request[] = [];
    page.on('request', (request) => requests.push(request));
    return requests;
  };
  /** Opens the page as a link would, since the token's link takes the fragment. */
  const openVisitor = async (visitorId: string, who: Pick<Customer, 'token'> = officer) => {
    const visitor = await open(visit, running, who, addressOf());
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    await visitor.page.goto(running.api.baseUrl + addressOf(visitorId));
    return visitor;
  };

  it('is reached from the log, shows the very texts in the visitor’s language, and erases', async () => {
    const visitorId = await decide();
    const { page } = await open(visit, running, officer, `/domains/${domain().domainId}/log`);
    await page.getByRole('link', { name: visitorId }).first().waitFor();
    const requests = requestsOf(page);
    await page.getByRole('link', { name: visitorId }).first().click();
    await page.getByRole('heading', { name: visitorId }).waitFor();
    const state = page.getByRole('region', { name: visitorId });
    await state.getByText('Withdrew').waitFor();
    const decisions = page.getByRole('region', { name: 'Decisions' }).locator('.timeline > li');
    expect(await decisions.count()).toBe(2);
    expect(await decisions.locator('.decision').allTextContents()).toEqual(['Withdrew', 'Accepted all']);

    const first = decisions.nth(1);
    await first.getByText('What was shown').click();
    await first.getByText('Ihre Daten, Ihre Entscheidung').waitFor();
    expect(await first.getByText('<b>Kekse</b> & mehr').isVisible()).toBe(true);
    expect(await first.getByRole('list', { name: 'buttons' }).first().getByRole('listitem').allTextContents()).toEqual([
      'Alle akzeptieren',
      'Alle ablehnen',
      'Anpassen',
    ]);
    await decisions.nth(0).getByText('What was shown').click();
    await decisions.nth(0).getByText('Einwilligung widerrufen').waitFor();

    await click(page, 'Erase…');
    const dialog = page.getByRole('dialog', { name: 'Erase this visitor?' });
    await dialog.getByText('What stays').waitFor();
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
    const field = page.getByRole('searchbox', { name: 'Visitor' });
    expect(await field.inputValue()).toBe('');
    expect(await page.locator('main').getByText(visitorId).count()).toBe(0);
    await field.fill(visitorId);
    await click(page, 'Find');
    await page.getByRole('heading', { name: 'Nothing is stored about this visitor' }).waitFor();
  });

  it('is found by the id of a record, which is what the widget shows to visitors', async () => {
    const visitorId = await decide();
    const [record] = await stored(visitorId);
    const { page } = await open(visit, running, officer, addressOf());
    await page.getByRole('searchbox', { name: 'Visitor' }).fill(record?.id ?? '');
    await click(page, 'Find');
    await page.getByRole('link', { name: visitorId }).click();
    await page.getByRole('heading', { name: visitorId }).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Visitor' }).inputValue()).toBe(visitorId);
  });

  it('is found by typing the id, and downloads all that is stored', async () => {
    const visitorId = await decide();
    const { page } = await open(visit, running, officer, addressOf());
    await page.getByRole('searchbox', { name: 'Visitor' }).fill(visitorId);
    await click(page, 'Find');
    await page.getByRole('heading', { name: visitorId }).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), click(page, 'Download')]);
    expect(file.suggestedFilename()).toMatch(/^visitor-\d{4}-\d\d-\d\d\.json$/);
    const kept = JSON.parse(readFileSync(await file.path(), 'utf8'));
    expect(kept).toMatchObject({ visitorId, records: [{ decision: 'withdraw' }, { decision: 'accept_all' }] });
    expect(Object.values<string>(kept.notices).join()).toContain('Ihre Daten, Ihre Entscheidung');
  });

  it('prints with all texts unfolded and without what is only for the screen', async () => {
    const visitorId = await decide();
    const { page } = await openVisitor(visitorId);
    await page.getByRole('heading', { name: visitorId }).waitFor();
    await page.emulateMedia({ media: 'print' });
    const titles = page.getByText('Ihre Daten, Ihre Entscheidung');
    // the page listens from a moment after it is drawn
    await eventually(async () => {
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      expect(await titles.nth(1).isVisible()).toBe(true);
    });
    expect(await titles.count()).toBe(2);
    expect(await titles.first().isVisible()).toBe(true);
    for (const hidden of ['Download', 'Erase…', 'Sign out', 'Find'])
      expect(await page.getByRole('button', { name: hidden }).isVisible()).toBe(false);
  });

  it('has nothing for axe to find in its notices, and fits on small screens', async () => {
    const visitorId = await decide();
    const { page } = await openVisitor(visitorId);
    await page.getByRole('heading', { name: visitorId }).waitFor();
    for (const part of await page.getByText('What was shown').all()) await part.click();
    await page.getByText('Ihre Daten, Ihre Entscheidung').nth(1).waitFor();
    const shoot = (name: string) => look(page, `dashboard-${name}`);
    await shoot('visitor');
    await click(page, 'Erase…');
    await page.getByRole('dialog').waitFor();
    await shoot('visitor-erase');
    await page.getByRole('button', { name: 'Erase this visitor' }).click();
    await page.getByRole('heading', { name: 'The visitor is erased' }).waitFor();
    await shoot('visitor-erased');
  });

  it.each(['ein Müller/../x?y#z&%', '😀'.repeat(64), '<img src=x>'])('takes the id %s', async (visitorId) => {
    const { page, messages } = await openVisitor(visitorId);
    await page.getByRole('heading', { name: 'Nothing is stored about this visitor' }).waitFor();
    await page.getByText(`“${visitorId}”`).waitFor();
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('is neither offered nor shown to a token without the scope', async () => {
    const visitorId = await decide();
    const { page } = await open(visit, running, customer, `/domains/${domain().domainId}/log`);
    await page.getByText(visitorId).first().waitFor();
    expect(await page.getByRole('link', { name: visitorId }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Visitor', exact: true }).count()).toBe(0);
    const requests = requestsOf(page);
    await page.goto(running.api.baseUrl + addressOf(visitorId));
    await page.getByRole('heading', { name: 'Your access token does not allow this page' }).waitFor();
    expect(requests.filter((request) => request.method() === 'POST')).toEqual([]);
  });

  it('stays where the skip link is used', async () => {
    const { page } = await openVisitor('nobody');
    await page.getByRole('heading', { name: 'Nothing is stored about this visitor' }).waitFor();
    await page.getByRole('link', { name: 'Skip to content' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    expect(page.url()).toContain('#visitor=nobody');
  });

  it('says that the service fails, and goes on once it does not', async () => {
    const { page } = await open(visit, running, officer, addressOf());
    await page.route('**/visitors/lookup', (route) => route.abort());
    await page.getByRole('searchbox', { name: 'Visitor' }).fill('nobody');
    await click(page, 'Find');
    await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
    await page.unroute('**/visitors/lookup');
    await page.getByRole('heading', { name: 'Nothing is stored about this visitor' }).waitFor();
  });

  it('the details of a record show what was shown', async () => {
    const visitorId = await decide();
    const { page } = await open(visit, running, customer, `/domains/${domain().domainId}/log`);
    await page.getByText(visitorId).first().waitFor();
    const row = page.getByRole('row').filter({ hasText: visitorId }).first();
    await row.getByRole('button', { name: /Details/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What was shown').click();
    await dialog.getByText('<b>Kekse</b> & mehr').waitFor();
    expect(await dialog.locator('.shown').getAttribute('lang')).toBe('de');
  });
});
