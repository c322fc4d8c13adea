/** Every page and each important state of it, as `look` looks at it: axe, both schemes, a desk and a phone, pictures on demand. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { click } from '../../support/browser/browser.ts';
import { type Customer, go, history, managerOf, useDashboard } from '../../support/browser/dashboard.ts';
import { look } from '../../support/browser/look.ts';
import { tokenFor } from '../../support/client.ts';
import { bundle, timestamp } from '../../support/log-bundle.ts';
import { vector } from '../../support/log-vector.ts';
import { startApi, startWorker } from '../../support/service.ts';
import { at } from '../../support/stack.ts';

type Who = Pick<Customer, 'token'>;

const dashboard = useDashboard();

const customer = await dashboard.customer({
  domains: ['shop', 'www', 'blog'].map((name) => `${name}.northwind.example`),
  monthlyRecordLimit: 20_000,
});
const { domainId, apiKey } = at(customer.domains, 0);
dashboard.api = await startApi({ ...dashboard.env, DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey });
const domainPath = `/domains/${domainId}`;
// its rounds are shorter than those of the shared one
await startWorker(dashboard.env);
const officer = { token: tokenFor(customer.organizationId, { scope: 'read privacy' }) };
const capped = await dashboard.customer({ name: 'Fabrikam', monthlyRecordLimit: 5 });
const without = await dashboard.customer({ name: 'Tailspin', consentLog: false });
const empty = await dashboard.customer({ name: 'Contoso' });
const variants = ['wording:short', 'wording:plain'];
const records = history(customer, 40, 40).map((each, index) => ({ ...each, variant: at(variants, index % 2) }));
await dashboard.storeCounted(customer, records);
await dashboard.store(history(capped, 40, 4));

describe('on a desk and on a phone, light and dark, there is nothing for axe to find', () => {
  const pathOf = (who: Customer) => `/domains/${at(who.domains, 0).domainId}`;
  const load = async (who: Who, path: string) => (await dashboard.open(who, path)).page;
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).waitFor();
  const dialog = async (page: Page, button: string, name: string) => {
    await click(page, button);
    await page.getByRole('dialog').waitFor();
    await look(page, name);
    await page.keyboard.press('Escape');
  };

  it.each<[string, () => Who, () => string, string]>([
    ['limit', () => capped, () => `${pathOf(capped)}/log`, '.plan-notice'],
    ['no-log', () => without, () => `${pathOf(without)}/log`, '.plan-notice'],
    ['empty', () => empty, () => '/', '.message'],
    ['empty-log', () => empty, () => `${pathOf(empty)}/log`, '.nothing'],
    ['empty-webhooks', () => managerOf(empty), () => '/webhooks', '.message'],
    ['no-experiments', () => empty, () => `${pathOf(empty)}/experiments`, '.message'],
    ['find-visitor', () => officer, () => `${domainPath}/visitor`, '.find-visitor'],
    ['no-visitors', () => customer, () => `${domainPath}/visitor`, '.plan-notice'],
    ['no-webhooks', () => customer, () => '/webhooks', '.plan-notice'],
    ['no-settings', () => customer, () => '/domains', '.plan-notice'],
    ['no-such-webhook', () => managerOf(customer), () => '/webhooks/wh_nobody', '.message'],
    ['no-such-domain', () => customer, () => '/domains/dom_nobody', '.message'],
    ['sign-in', () => ({ token: 'none' }), () => '/', '.sign-in .notice'],
  ])('%s', async (name, who, path, ready) => {
    const page = await load(who(), path());
    await page.locator(ready).first().waitFor();
    await look(page, name);
  });

  it('the overview', async () => {
    const page = await load(customer, '/');
    await page.locator('.stream-row').first().waitFor();
    await page.getByText('Show as a table').click();
    await page.getByRole('slider').focus();
    await page.locator('.tip').waitFor();
    await look(page, 'overview');
    await page.locator('.menu-button').click();
    await page.getByRole('searchbox').waitFor();
    await look(page, 'menu');
    await page.route('**/v1/consent/**', () => {});
    await page.reload();
    await page.locator('.slow-note').waitFor();
    await look(page, 'slow');
  });

  it('the statistics of a domain', async () => {
    const days = `from=${addDays(dayOf(Date.now()), -20)}&to=${addDays(dayOf(Date.now()), -1)}`;
    const page = await load(customer, `${domainPath}?${days}`);
    await page.getByRole('region', { name: 'By country', exact: true }).waitFor();
    // until the worker has counted them
    await page.getByRole('rowheader', { name: 'Germany', exact: true }).waitFor();
    await page.getByText('How these figures are computed').click();
    await look(page, 'domain');
    for (const by of ['country', 'category']) {
      await go(page, `${domainPath}/by/${by}?${days}`);
      await page.getByRole('table').waitFor();
      await look(page, `by-${by}`);
    }
    await go(page, `${domainPath}/experiments?${days}`);
    await page.getByRole('rowheader', { name: 'short' }).waitFor();
    await page.getByText('How these figures are computed').click();
    await look(page, 'experiment');
  });

  it('the log of a domain, and its export', async () => {
    const page = await load(customer, `${domainPath}/log?limit=25`);
    const section = page.getByRole('region', { name: 'Export' });
    const save = section.getByRole('button', { name: 'CSV', exact: true });
    const details = page.getByRole('button', { name: /Details/ });
    await details.first().click();
    await page.getByRole('dialog').getByText('Record id').waitFor();
    await look(page, 'record');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await save.click();
    await section.getByText(/^Saved as/).waitFor();
    await look(page, 'log');
    await page.route('**/export?**', () => {});
    await save.click();
    await section.getByText('Exporting…').waitFor();
    await look(page, 'exporting');
    await section.getByRole('button', { name: 'Cancel' }).click();
    await page.unroute('**/export?**');
    await page.route('**/export?**', (route) => route.abort());
    await save.click();
    await section.getByText(/^The export failed/).waitFor();
    await look(page, 'export-failed');
  });

  it('a visitor', async () => {
    const page = await load(officer, `${domainPath}/log`);
    await page.locator('table.log a').first().click();
    await page.locator('.timeline').waitFor();
    await look(page, 'visitor');
    await dialog(page, 'Erase…', 'erase');
    await click(page, 'Erase…');
    await click(page, 'Erase this visitor');
    await heading(page, 'The visitor is erased');
    await look(page, 'erased');
    await go(page, '/erasures');
    const receipt = page.getByRole('listitem').getByRole('link', { name: /^ers_/ }).first();
    await receipt.waitFor();
    await look(page, 'erasures');
    await receipt.click();
    await page.getByRole('region', { name: /^Erasure ers_/ }).waitFor();
    await look(page, 'erasure');
  });

  it('the settings', async () => {
    const [shop, www, blog] = customer.domains.map(({ domainId }) => domainId);
    await dashboard.manage(customer, `/domains/${blog}`, { method: 'DELETE' });
    const used = at(customer.domains, 1).apiKey.slice(0, 11);
    await dashboard.db.run((sql) => sql`update api_keys set last_used_at = now() where prefix = ${used}`);
    const page = await load(managerOf(customer), '/domains');
    await page.getByRole('link', { name: 'shop.northwind.example' }).waitFor();
    await look(page, 'domains');
    await page.getByRole('link', { name: 'New domain' }).click();
    await page.getByRole('textbox', { name: 'Address 1' }).fill('news northwind');
    await click(page, 'Create domain');
    await page.getByText(/^Not an address of a website/).waitFor();
    await look(page, 'new-domain');
    await go(page, `/domains/${www}/settings`);
    await page.getByRole('list', { name: /^The newest records come from/ }).waitFor();
    await click(page, 'New key');
    await heading(page, /Copy the key now/);
    await look(page, 'new-key');
    await click(page, 'Done');
    await dialog(page, `Revoke… ${used}`, 'revoke');
    await dialog(page, 'Archive…', 'archive');
    await click(page, 'Change…');
    await page.getByRole('textbox', { name: 'Name' }).fill('Northwind');
    await look(page, 'change');
    const origins = ['https://www.northwind.example', 'https://*.northwind.example:8443'];
    await dashboard.manage(customer, `/domains/${www}`, { method: 'PATCH', body: JSON.stringify({ origins }) });
    await click(page, 'Save changes');
    await heading(page, /^Somebody else changed/);
    await look(page, 'conflict');
    await go(page, `/domains/${blog}/settings`);
    await heading(page, 'This domain is archived');
    await look(page, 'archived');
    await go(page, '/activity');
    await page.getByRole('region', { name: 'Activity' }).waitFor();
    await look(page, 'activity');

    await go(page, `/domains/${shop}/widget`);
    await page.frameLocator('iframe').getByRole('button', { name: 'Accept all' }).waitFor();
    await look(page, 'widget-setup');
    for (const title of ['Categories', 'Colours', 'Position and theme', 'Company, links and policy', 'Behaviour'])
      await page.getByRole('heading', { name: title, exact: true }).click();
    const field = (name: string) => page.getByRole('textbox', { name, exact: true });
    await field('Buttons').fill('#777777');
    await field('Address of your privacy policy').fill('javascript:alert(1)');
    await field('Another category').fill('title');
    await click(page, 'Add category');
    await page.getByText('The widget uses this name itself.').waitFor();
    await click(page, 'Add link');
    await page.getByRole('heading', { name: 'A/B test', exact: true }).click();
    await click(page, 'Start an A/B test');
    await page.getByRole('radio', { name: 'Phone', exact: true }).check();
    await look(page, 'widget-setup-open');
    await click(page, 'Save draft');
    await page.getByText('Not saved. These settings need a change:').waitFor();
    await look(page, 'widget-setup-refused');
    await click(page, 'Discard');
    await field('Title').fill('Biscuits?');
    await click(page, 'Publish…');
    await page.getByText('This is the first version.').waitFor();
    await look(page, 'widget-publish');
    await click(page, 'Publish');
    await page.getByRole('heading', { name: 'Version 1 is live' }).waitFor();
    await look(page, 'widget-published');
    await click(page, 'Close');
    await click(page, 'Changes of version 1');
    await page.getByRole('combobox', { name: 'Compared with' }).waitFor();
    await look(page, 'widget-version');
    await click(page, 'Close');
  });

  it('the webhooks', async () => {
    const page = await load(managerOf(customer), '/webhooks/new');
    const save = async (url: string) => {
      await page.getByRole('textbox', { name: 'URL' }).fill(url);
      await click(page, 'Create webhook');
    };
    await page.getByRole('radio', { name: 'Only these' }).check();
    await save('ftp://receiver.example');
    await page.getByText('Choose at least one domain, or all.').waitFor();
    await look(page, 'new-webhook');
    await page.getByRole('radio', { name: /All domains/ }).check();
    await save(`https://receiver.example/${'a-long-path'.repeat(30)}`);
    await heading(page, /Copy the secret now/);
    await page.getByText('Nothing has been sent yet').waitFor();
    await look(page, 'secret');
    await click(page, 'Done');
    await dashboard.db.run(
      (sql) => sql`
        with failing as (
          update webhooks set failing_since = now() where organization_id = ${customer.organizationId} returning number
        )
        insert into webhook_deliveries (webhook, message_id, type, attempt, at, milliseconds, failure, status)
        select number, 'msg_' || each, 'limit.reached', 1, now(), 12, failure, status
        from failing, (values (1, null, 204), (2, 'status', 503)) as tries (each, failure, status)`,
    );
    await page.reload();
    await heading(page, /^Failing since/);
    await look(page, 'webhook');
    await page
      .getByRole('button', { name: /^Details of the delivery/ })
      .first()
      .click();
    await page.getByRole('dialog').waitFor();
    await look(page, 'delivery');
    await page.keyboard.press('Escape');
    await dialog(page, 'Replay…', 'replay');
    await dialog(page, 'Delete…', 'delete');
    await dialog(page, 'New secret…', 'new-secret');
    await click(page, 'Change…');
    await page.getByRole('button', { name: 'Save changes' }).waitFor();
    await look(page, 'change-webhook');
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('list', { name: 'Webhooks' }).waitFor();
    await look(page, 'webhooks');
  });

  it('the shop of the demo, with the widget', async () => {
    const { page } = await dashboard.visit({ reducedMotion: 'reduce' });
    await page.goto(`${dashboard.api.baseUrl}/demo`);
    await page.getByRole('dialog').waitFor();
    await look(page, 'demo-banner');
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await look(page, 'demo-settings');
    await click(page, 'Save choice');
    await page.getByText('In the log:').waitFor();
    await look(page, 'demo-recorded');
    await page.locator('assent-widget').getByRole('button', { name: 'Privacy settings' }).click();
    await look(page, 'demo-again');
  });

  it('the page that checks proofs', async () => {
    const { page } = await dashboard.visit.again();
    await page.goto(`${dashboard.api.baseUrl}/verify`);
    const name = `${'long'.repeat(30)}.json`;
    const choose = (content: string) =>
      page.getByLabel('Proof file, bundle').setInputFiles({ name, mimeType: '', buffer: Buffer.from(content) });
    await look(page, 'verify');
    await page.getByLabel('Verifier key').fill(vector.verifierKey);
    await choose(JSON.stringify({ ...bundle, timestamp }));
    await page.getByText('The proof holds.').waitFor();
    await look(page, 'verify-holds');
    await choose('hello');
    await page.getByText('This is not a proof.').waitFor();
    await choose(JSON.stringify({ ...bundle, position: bundle.position + 1 }));
    await page.getByText('This proof does not hold.').waitFor();
    await page.getByLabel('Verifier key').fill('consent.example.com/dom_x+a2b5d1c7+AQ==');
    await look(page, 'verify-fails');
  });

  it('the reference, and the page of state, which is on one screen', async () => {
    const { page, messages } = await dashboard.visit.again();
    await page.goto(`${dashboard.api.baseUrl}/docs`);
    await page.getByRole('link', { name: "Record a visitor's decision" }).click();
    await page.locator('#record').getByText('POST', { exact: true }).waitFor();
    await look(page, 'docs');
    await page.goto(dashboard.api.opsUrl);
    await heading(page, 'Assent API');
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)).toBe(true);
    expect(await page.getByText('Ready:').evaluate((node) => getComputedStyle(node).fontWeight)).toBe('600');
    await look(page, 'status');
    expect(messages.filter((message) => !message.includes('favicon'))).toEqual([]);
  });
});
