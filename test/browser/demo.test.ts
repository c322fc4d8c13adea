import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, useBrowser } from '../support/browser/browser.ts';
import { createClient, tokenFor } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { at, recordsOf, useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const kept = 'Kept in this browser until it can be sent.';

/** While it is out, the page's records reach nobody. */
const cutOff = (page: Page) => (isOut: boolean) =>
  isOut ? page.route('**/record', (route) => route.abort()) : page.unroute('**/record');

const stores = useStores();
const tenant = await makeTenant(stores.db);
const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
const api = await startApi({ ...stores.env, DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey });
const stack = { ...stores, api, tenant, domainId, apiKey, client: createClient(api.baseUrl, tenant) };
const address = `${api.baseUrl}/demo`;

describe('the demo shop', () => {
  const visit = useBrowser();

  it('is offered by the dashboard where nothing is recorded yet', async () => {
    const { page } = await visit();
    await page.goto(`${api.baseUrl}/#token=${tokenFor(tenant.organizationId)}`);
    await page.getByRole('link', { name: 'Decide in the demo shop' }).click();
    await page.waitForURL(address);
  });

  it('holds its film until the visitor allows it, shows what the log holds, and says where the banner is blocked', async () => {
    const { page, messages } = await visit();
    const troubles = () => messages.filter((message) => /^(error|warning|uncaught)/.test(message));
    await page.goto(address);
    const decide = async (name: string) => {
      await click(page, name);
      const id = await page.evaluate(() => window.assent?.getConsent()?.id ?? '');
      await page.getByRole('listitem').filter({ hasText: id }).waitFor();
      await page.getByText('In the log:').waitFor();
      return id;
    };
    const id = await decide('Always allow Marketing');
    const link = page.getByRole('link', { name: 'this record in the dashboard' });
    expect(await link.evaluate((each: HTMLAnchorElement) => each.href)).toBe(
      `${api.baseUrl}/domains/${domainId}/log?record=${id}`,
    );
    await page.getByText('may send events for: marketing').waitFor();
    const film = page.frameLocator('iframe[title="Workshop film"]');
    await film.getByText('A bowl grows on the wheel').waitFor({ state: 'attached' });
    const [record] = await recordsOf(stack, 1);
    const entry = page.getByRole('listitem').filter({ hasText: 'Chose marketing' });
    expect(await entry.locator('code').textContent()).toBe(record?.id);
    // the tag that waited for marketing ran
    await page.getByText('so this tag ran').waitFor();
    expect(await page.evaluate(() => document.cookie)).toContain('fern_offer=10');
    await page.getByRole('contentinfo').getByRole('button', { name: 'Privacy settings' }).click();
    await decide('Withdraw consent');
    await page.getByText('may send events for: nothing').waitFor();
    await page.getByText('Withdrew').waitFor();
    // the next page has the log too
    await page.reload();
    await page.getByText('Withdrew').waitFor();
    expect(troubles()).toEqual([]);
    await page.route('**/widget.js', (route) => route.abort());
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).click();
    await page.getByText('This browser blocks the banner.').waitFor();
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('says that a decision is kept for as long as it is, also to the next page and to another tab', async () => {
    const { page, context } = await visit();
    const other = await context.newPage();
    const [isOut, isOtherOut] = [cutOff(page), cutOff(other)];
    await isOut(true);
    await isOtherOut(true);
    await page.goto(address);
    await other.goto(address);
    await click(page, 'Reject all');
    for (const tab of [page, other]) await tab.getByText(kept).waitFor();
    await page.reload();
    await page.getByText(kept).waitFor();
    await isOtherOut(false);
    // a page sends what waits when it begins
    await other.reload();
    for (const tab of [other, page]) await tab.getByText('In the log:').waitFor();
    expect(await page.getByText(kept).count()).toBe(0);
  });

  it('says that the log lacks what the service refused', async () => {
    const { page, messages } = await visit();
    await page.clock.install();
    await page.route('**/record', (route) =>
      route.fulfill({ status: 400, json: { code: 'invalid_request', detail: 'the body breaks a rule' } }),
    );
    await page.goto(address);
    await click(page, 'Reject all');
    await expect.poll(() => messages.join()).toContain('dropped');
    // the page looks into the log for 15 seconds
    await page.clock.fastForward(15_000);
    await page.getByText('It is not in the log.').waitFor();
    expect(messages.join()).toContain('dropped: the body breaks a rule');
  });
});
