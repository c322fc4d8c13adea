/**
 * Every page of the dashboard in its states, in words: what a screen reader is told of it, with its addresses. Where a page
 * is meant to change, delete the file of its state in `pages/` and run this again.
 */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayOf, startOf } from '#libs/base/terms/calendar';
import type { ErasuresPage } from '#libs/privacy/contract';
import { click } from '../support/browser/browser.ts';
import { type Customer, go, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const dashboard = useDashboard();
const bare = await dashboard.customer({ name: 'Contoso', domains: [] });
const empty = await dashboard.customer({ name: 'Fabrikam', domains: ['www.fabrikam.example'] });
const full = await dashboard.customer({
  domains: ['shop', 'www', 'blog'].map((name) => `${name}.northwind.example`),
});
const withoutLog = await dashboard.customer({ name: 'Tailspin', domains: ['www.tailspin.example'], consentLog: false });

const everything = 'read manage privacy';
const holderOf = (who: Customer, scope = everything) => managerOf(who, { scope, sub: 'noor@northwind.example' });
const domainOf = (who: Customer, index = 0) => `/domains/${at(who.domains, index).domainId}`;
/** What the holder of all rights asks, as the service's words. */
const call = async (path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<string> => {
  const headers = { authorization: `Bearer ${holderOf(full).token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return (await fetch(`${dashboard.api.baseUrl}/v1${path}`, init)).text();
};

/** All of this day, so that no figure depends on when this runs. Ids of a webhook and an erasure. */
async function fill(): Promise<{ webhook: string; erasure: string }> {
  const decisions = ['accept_all', 'reject_all', 'custom', 'withdraw', 'accept_all', 'accept_all'] as const;
  const records = Array.from({ length: 24 }, (_, index) =>
    recordAt(startOf(dayOf(Date.now())) + index * 10, {
      domainId: at(full.domains, index < 20 ? 0 : 1).domainId,
      decision: at(decisions, index % decisions.length),
      visitorId: `visitor-${index % 8}`,
      preferences: { analytics: index % 2 === 0, marketing: false },
      bannerVersion: '0.1.0',
      variant: index % 2 === 0 ? 'wording:plain' : 'wording:short',
      language: index % 3 === 0 ? 'de-DE' : 'en-GB',
      country: index % 3 === 0 ? 'DE' : 'GB',
      pageUrl: 'https://shop.northwind.example/jackets',
    }),
  );
  await dashboard.storeCounted(full, records);
  await dashboard.grouped(full, records.length);
  await call(`/organization${domainOf(full, 2)}`, undefined, 'DELETE');
  const banner = `/organization${domainOf(full, 1)}/banner`;
  await call(banner, { texts: { de: { title: 'Ihre Wahl' } } }, 'PUT');
  await call(`${banner}/publish`, { note: 'In German' });
  const keys = `/organization${domainOf(full)}/keys`;
  const { prefix } = JSON.parse(await call(keys, {}));
  await call(`${keys}/${prefix}`, undefined, 'DELETE');
  for (const url of ['https://paused.example/', 'https://receiver.example/'])
    await call('/organization/webhooks', { url, types: ['limit.reached'], headers: { 'x-a': 'b' } });
  const [webhook, paused] = JSON.parse(await call('/organization/webhooks')).webhooks;
  await call(`/organization/webhooks/${paused.webhookId}`, { enabled: false }, 'PATCH');
  await dashboard.db.run(
    (sql) => sql`
      with failing as (update webhooks set failing_since = now() where id = ${webhook.webhookId} returning number)
      insert into webhook_deliveries (webhook, message_id, type, attempt, at, milliseconds, failure, status)
      select number, 'msg_' || each, 'limit.reached', 1, now(), 12, failure, status
      from failing, (values (1, null, 204), (2, 'status', 503)) as tries (each, failure, status)`,
  );
  await call(`/consent/${at(full.domains, 0).domainId}/visitors/erase`, { visitorId: 'visitor-7' });
  const [erasure] = await eventually(async () => {
    const { erasures }: ErasuresPage = JSON.parse(await call('/organization/erasures'));
    expect(erasures.map(({ state }) => state)).toEqual(['done']);
    return erasures;
  });
  return { webhook: webhook.webhookId, erasure: erasure?.erasureId ?? '' };
}

const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec';
/** What no two runs have in common. */
const varying: [RegExp, string][] = [
  [/\b(localhost|127\.0\.0\.1):\d+/g, 'HOST'],
  [/\b(dom|org|wh|ers|ak|whsec)_[\w+/=-]{4,}/g, '$1_ID'],
  [/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'UUID'],
  [/\b[0-9a-f]{64}\b|\b[0-9a-f]{12}(?=…)/g, 'HASH'],
  [/\b[0-9a-f]{16}\b/g, 'REQUEST'],
  [/\bplan-[0-9a-f]{8}\b/g, 'PLAN'],
  [/\d{4}-\d\d-\d\d/g, 'DATE'],
  // on the 30th of a month, this month is the default period, which is not in the address
  [/(link "This month":\n\s+- \/url: \/)(?=\n)/g, '$1?from=DATE&to=DATE'],
  [/\d\d:\d\d(:\d\d)?/g, 'TIME'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?=\d)/g, ''],
  [new RegExp(`(\\d+( (${months})( \\d{4})?)?\\s?[–-]\\s?)?\\b\\d+ (${months})( \\d{4})?\\b`, 'g'), 'DAY'],
  [new RegExp(`\\b(${months})[a-z]* \\d{4}\\b`, 'g'), 'MONTH'],
];

/** Once it stands still. */
async function wordsOf(page: Page, part: string): Promise<string> {
  let before = '';
  return eventually(async () => {
    if ((await page.locator('[aria-busy="true"]').count()) > 0) throw new Error('it is loading');
    const words = await page.locator(part).ariaSnapshot();
    // what is asked for again, where the service is busy
    const isSettled = words === before && !/cell "…"|does not have it at the moment/.test(words);
    before = words;
    if (!isSettled) throw new Error(`it moves:\n${words}`);
    return varying.reduce((text, [what, name]) => text.replace(what, name), words);
  });
}

/** A page's address, what is there once it is read, and what is done there before one looks: at a dialog if it opens. */
type State = [path: string, ready: string | RegExp, name?: string, act?: (page: Page) => Promise<unknown>];

describe('the pages of the dashboard, in words', () => {
  let webhook = '';
  let erasure = '';
  beforeAll(async () => {
    const ids = await fill();
    webhook = `/webhooks/${ids.webhook}`;
    erasure = `/erasures/${ids.erasure}`;
  });

  const see = async (file: string, page: Page, states: State[]) => {
    const parts: string[] = [];
    for (const [path, ready, name = path, act] of states) {
      await go(page, path);
      await page.locator('main').getByText(ready).first().waitFor();
      await act?.(page);
      const isOpen = (await page.locator('dialog:modal').count()) > 0;
      parts.push(`# ${name}\n${await wordsOf(page, isOpen ? 'dialog:modal' : 'main')}\n`);
      if (!isOpen) continue;
      await page.keyboard.press('Escape');
      // a record's takes its address along
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    const said = varying.reduce((text, [what, to]) => text.replace(what, to), parts.join('\n'));
    await expect(said).toMatchFileSnapshot(`pages/${file}.txt`);
  };
  const enter = async (who: { token: string }) => {
    const visitor = await dashboard.visit();
    await dashboard.enter(visitor.page, who);
    return visitor;
  };
  const press = (name: string) => (page: Page) => click(page, name);
  const ask = (name: string | RegExp) => async (page: Page) => {
    await page.getByRole('button', { name }).first().click();
    await page.locator('dialog:modal').waitFor();
  };

  it('of an organization without domains, and of one without records', async () => {
    const { page } = await enter(holderOf(bare));
    await see('bare', page, [
      ['/', 'Add the first domain'],
      ['/domains', 'No domains yet'],
      ['/nowhere', 'Page not found'],
    ]);
    await dashboard.enter(page, holderOf(empty));
    await page.getByRole('button', { name: 'OK' }).click();
    const domain = domainOf(empty);
    await see('empty', page, [
      ['/', 'Waiting for the first decision'],
      [domain, 'Waiting for the first decision'],
      [`${domain}/by/country`, 'No decisions in these days.'],
      [`${domain}/experiments`, 'No experiments in these days'],
      [`${domain}/log`, 'No records yet'],
      [`${domain}/notices`, 'No notice is known for this day'],
      [`${domain}/visitor`, 'The visitor’s id, or'],
      [`${domain}/widget`, 'Nothing is published yet.'],
      [`${domain}/checks`, 'The site has not been checked yet'],
      [`${domain}/settings`, 'New key'],
      ['/webhooks', 'No webhooks yet'],
      ['/erasures', 'No erasures yet'],
      ['/activity', 'Activity'],
    ]);
  });

  it('of an organization with records, keys, webhooks and an erasure', async () => {
    const { page } = await enter(holderOf(full));
    const [shop, www, blog] = [domainOf(full), domainOf(full, 1), domainOf(full, 2)];
    await page.getByRole('button', { name: 'Details of' }).first().waitFor();
    await page.getByText('1 failing').waitFor();
    const header = await wordsOf(page, '.top');
    await expect(header).toMatchFileSnapshot('pages/header.txt');
    const key = at(full.domains, 0).apiKey.slice(0, 11);
    const openNotice = async (within: Page) => {
      await within.getByRole('link', { name: 'German' }).click();
      await within.getByText('Compare with').waitFor();
    };
    const openRecord = async (within: Page) => {
      await ask('Details of')(within);
      await within.getByRole('dialog').getByText('Record id').waitFor();
    };
    const open = async (name: string) => page.getByText(name, { exact: true }).first().click();
    await see('many', page, [
      ['/', 'Latest records', 'overview', () => open('Show as a table')],
      [shop, 'By country', 'domain'],
      [`${shop}/by/country`, 'Germany'],
      [`${shop}/by/category`, 'analytics'],
      [`${shop}/experiments`, '95% interval'],
      [`${shop}/log`, 'Details'],
      [`${shop}/log`, 'Details', 'a record', openRecord],
      [`${www}/notices`, 'In German'],
      [`${www}/notices`, 'In German', 'a notice', openNotice],
      [`${shop}/visitor#visitor=visitor-1`, 'Current decision'],
      [`${shop}/visitor#visitor=visitor-1`, 'Current decision', 'erase', ask('Erase…')],
      [`${shop}/visitor#visitor=nobody`, 'Nothing is stored'],
      [`${shop}/widget`, 'Preview', 'publish', ask('Publish…')],
      [`${shop}/settings`, 'New key', 'settings', () => open('Revoked keys: 1')],
      [`${shop}/settings`, 'New key', 'archive', ask('Archive…')],
      [`${shop}/settings`, 'New key', 'revoke', ask(`Revoke… ${key}`)],
      [`${shop}/settings`, 'New key', 'change', press('Change…')],
      [`${blog}/settings`, 'This domain is archived', 'archived'],
      ['/domains', 'shop.northwind.example'],
      ['/new-domain', 'Create domain'],
      ['/new-domain', 'Create domain', 'a domain without a name', press('Create domain')],
      // of reading the log it is told when it comes
      ['/activity?act=visitor.erase', 'Erased a visitor of'],
      ['/activity?act=domain.archive', 'Archived the domain'],
      ['/activity?act=webhook.create', 'Created the webhook to'],
      ['/activity?act=org.rename', 'No activity matches'],
      ['/erasures', 'ers_'],
      [erasure, 'Records erased'],
      ['/webhooks', 'receiver.example'],
      ['/webhooks/new', 'Create webhook'],
      ['/webhooks/new', 'Create webhook', 'a webhook without a URL', press('Create webhook')],
      [webhook, 'Failing since', 'webhook'],
      [webhook, 'Failing since', 'a delivery', ask('Details of the delivery')],
      [webhook, 'Failing since', 'delete a webhook', ask('Delete…')],
      [webhook, 'Failing since', 'new secret', ask('New secret…')],
      [webhook, 'Failing since', 'change a webhook', press('Change…')],
    ]);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(await wordsOf(page, '.top')).toMatchFileSnapshot('pages/header-phone.txt');
    await see('phone', page, [
      ['/', 'Latest records', 'overview'],
      [shop, 'By country', 'domain'],
      [`${shop}/by/country`, 'Germany'],
      [`${shop}/experiments`, 'Opt-in rate'],
      [`${shop}/log`, 'Details'],
      [`${www}/notices`, 'In German'],
      [webhook, 'Deliveries', 'webhook'],
    ]);
  });

  it('where the service fails, and where something does not exist', async () => {
    const { page } = await enter(holderOf(full));
    const shop = domainOf(full);
    await page.getByRole('button', { name: 'Details of' }).first().waitFor();
    await page.getByText('1 failing').waitFor();
    await see('unknown', page, [
      ['/webhooks/wh_nobody', 'Webhook not found'],
      ['/erasures/ers_nobody', 'Something went wrong'],
      ['/domains/dom_nobody', 'Domain not found'],
      ['/domains/dom_nobody/widget', 'Domain not found'],
      ['/domains/dom_nobody/settings', 'Domain not found'],
      [`${shop}/notices?notice=${'0'.repeat(64)}`, 'does not have this notice', 'a notice'],
      [`${shop}/checks?check=chk_nobody`, 'There is no such check', 'a check'],
    ]);
    const code = 'internal_error';
    const body = JSON.stringify({ type: 'urn', title: 'x', status: 500, code, detail: 'secret', requestId: 'req-1' });
    const problem = { status: 500, contentType: 'application/problem+json', body };
    await page.route(/\/v1\/(consent|organization\/)/, (route) => route.fulfill(problem));
    const failed = 'The service reported an error';
    await see('failing', page, [
      [shop, failed],
      [`${shop}/by/country`, failed],
      [`${shop}/experiments`, failed],
      [`${shop}/log`, failed],
      [`${shop}/notices`, failed],
      [`${shop}/visitor#visitor=visitor-1`, failed],
      [`${shop}/widget`, failed],
      [`${shop}/checks`, failed],
      [`${shop}/settings`, failed],
      ['/domains', failed],
      ['/activity', failed],
      ['/erasures', failed],
      [erasure, failed],
      ['/webhooks', failed],
      [webhook, failed],
      ['/', failed],
    ]);
  });

  it('without the right to see them', async () => {
    const shop = domainOf(full);
    const refused = 'Your access token does not allow this page';
    const { page } = await enter(holderOf(full, 'read'));
    await see('readers', page, [
      ['/', 'Latest records'],
      [`${shop}/visitor`, refused],
      [`${shop}/settings`, refused],
      ['/domains', refused],
      ['/new-domain', refused],
      ['/activity', refused],
      ['/erasures', refused],
      ['/webhooks', refused],
    ]);
    await dashboard.enter(page, holderOf(full, 'privacy'));
    await see('officers', page, [
      ['/', 'need the scope read'],
      [shop, refused],
      [`${shop}/by/country`, refused],
      [`${shop}/experiments`, refused],
      [`${shop}/log`, refused],
      [`${shop}/widget`, refused],
      [`${shop}/checks`, refused],
      [`${shop}/notices`, refused],
      [erasure, 'Records erased'],
    ]);
    await dashboard.enter(page, holderOf(withoutLog));
    await page.getByRole('button', { name: 'OK' }).click();
    await see('without-log', page, [
      [`${domainOf(withoutLog)}/log`, 'does not include the log'],
      ['/webhooks/new', 'New entries need'],
    ]);
  });
});
