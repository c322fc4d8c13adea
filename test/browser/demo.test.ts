import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataRoot } from '../../scripts/stack/paths.ts';
import { click, useBrowser } from '../support/browser/browser.ts';
import { createClient, type ProblemAnswer, request } from '../support/client.ts';
import { startApi } from '../support/service.ts';
import { at, recordsOf, type Stack, useStores } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';

const screenshots = path.join(dataRoot, 'screenshots');
const kept = 'Kept in this browser until it can be sent.';
const screens = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };

/** While it is out, the page's records reach nobody. */
const cutOff = (page: Page) => (isOut: boolean) =>
  isOut ? page.route('**/record', (route) => route.abort()) : page.unroute('**/record');

describe('the demo shop', () => {
  const visit = useBrowser();
  let stack: Stack;
  let address: string;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    const stores = useStores();
    const tenant = await makeTenant(stores.db);
    const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
    const api = await startApi({ ...stores.env, DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey });
    stack = { ...stores, api, tenant, domainId, apiKey, client: createClient(api.baseUrl, tenant) };
    address = `${api.baseUrl}/demo`;
  });

  it('is there only where it is asked for', async () => {
    const plain = await startApi(stack.env);
    for (const file of ['/demo', '/demo/shop.js', '/demo/records/v-1']) {
      expect((await request<ProblemAnswer>(plain.baseUrl, file)).status).toBe(404);
    }
  });

  it('may load nothing from elsewhere and run nothing inline', async () => {
    const page = await fetch(address);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(await page.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
  });

  it('shows what the log holds of a decision, soon after it was made', async () => {
    const { page, messages } = await visit();
    await page.goto(address);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.getByRole('switch', { name: 'Marketing' }).check();
    const took: number[] = [];
    const decide = async (name: string) => {
      const start = performance.now();
      await click(page, name);
      const id = await page.evaluate(() => window.assent?.getConsent()?.id ?? '');
      await page.getByRole('listitem').filter({ hasText: id }).waitFor();
      await page.getByText('In the log:').waitFor();
      took.push(performance.now() - start);
    };
    await decide('Save choice');
    const [record] = await recordsOf(stack, 1);
    const entry = page.getByRole('listitem').filter({ hasText: 'Chose marketing' });
    expect(await entry.locator('code').textContent()).toBe(record?.id);
    // the tag that waited for marketing ran
    await page.getByText('so this tag ran').waitFor();
    const settings = page.getByRole('contentinfo').getByRole('button', { name: 'Privacy settings' });
    await settings.click();
    await decide('Withdraw consent');
    await page.getByText('Withdrew').waitFor();
    // the next page has the log too
    await page.reload();
    await page.getByText('Withdrew').waitFor();
    await settings.click();
    await decide('Accept all');
    // a busy machine has its moments, but not in all three
    expect(Math.min(...took)).toBeLessThan(2_000);
    expect(messages.filter((message) => /^(error|warning|uncaught)/.test(message))).toEqual([]);
  });

  it('says that a decision is kept for as long as it is, also to the next page', async () => {
    const { page } = await visit();
    const isOut = cutOff(page);
    await page.goto(address);
    await isOut(true);
    await click(page, 'Reject all');
    await page.getByText(kept).waitFor();
    await page.reload();
    await page.getByText(kept).waitFor();
    await isOut(false);
    await page.getByText('In the log:').waitFor();
    expect(await page.getByText(kept).count()).toBe(0);
  });

  it('says so no longer when another tab has sent it', async () => {
    const { page, context } = await visit();
    const other = await context.newPage();
    const [isOut, isOtherOut] = [cutOff(page), cutOff(other)];
    await isOut(true);
    await isOtherOut(true);
    await page.goto(address);
    await other.goto(address);
    await click(page, 'Reject all');
    for (const tab of [page, other]) await tab.getByText(kept).waitFor();
    await isOtherOut(false);
    // a page sends what waits when it begins
    await other.reload();
    for (const tab of [other, page]) await tab.getByText('In the log:').waitFor();
  });

  it('says that it is recorded once the service has it, before the log has', async () => {
    const { page } = await visit();
    await page.route('**/demo/records/*', (route) => route.fulfill({ json: [] }));
    await page.goto(address);
    await click(page, 'Reject all');
    const id = await page.evaluate(() => window.assent?.getConsent()?.id);
    await page.getByText(`Recorded (queued): ${id}.`).waitFor();
    await page.unroute('**/demo/records/*');
    await page.getByText('In the log:').waitFor();
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

  it('says that a decision is kept whose key is refused', async () => {
    const { page, messages } = await visit();
    await page.route('**/record', (route) =>
      route.fulfill({ status: 401, json: { code: 'invalid_api_key', detail: 'send the x-api-key of this domain' } }),
    );
    await page.goto(address);
    await click(page, 'Reject all');
    await expect.poll(() => messages.join()).toContain('send the x-api-key of this domain. Decisions wait');
    await page.getByText(kept).waitFor();
  });

  it.each(
    Object.keys(screens).flatMap((screen) => (['light', 'dark'] as const).map((scheme) => [screen, scheme] as const)),
  )('looks as it does in .data/screenshots: %s, %s', async (screen, colorScheme) => {
    const viewport = screens[screen as keyof typeof screens];
    const { page } = await visit({ viewport, colorScheme, reducedMotion: 'reduce' });
    const shoot = async (view: string) => {
      // no button under the pointer
      await page.mouse.move(0, 0);
      return page.screenshot({
        path: path.join(screenshots, `${screen}-${colorScheme}-${view}.png`),
        animations: 'disabled',
      });
    };
    await page.goto(address);
    await page.getByRole('dialog').waitFor();
    expect((await shoot('1-banner')).length).toBeGreaterThan(10_000);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await shoot('2-settings');
    await page.getByRole('button', { name: 'Save choice' }).click();
    await page.getByText('In the log:').waitFor();
    await shoot('3-recorded');
    await page.locator('assent-widget').getByRole('button', { name: 'Privacy settings' }).click();
    await shoot('4-withdraw');
    // nothing sticks out to the side
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBe(0);
  });
});
