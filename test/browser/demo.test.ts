import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataRoot } from '../../scripts/stack/paths.ts';
import { at, openStores, type Stack } from '../e2e/stack.ts';
import { createClient, type ProblemAnswer, request } from '../support/client.ts';
import { startApi, startWorker } from '../support/service.ts';
import { makeTenant } from '../support/stores.ts';
import { useBrowser } from './browser.ts';
import { recordsOf } from './records.ts';

const screenshots = path.join(dataRoot, 'screenshots');
const screens = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };

describe('the demo shop', () => {
  const visit = useBrowser();
  let stack: Stack;
  let address: string;

  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true });
    const stores = await openStores();
    const tenant = await makeTenant(stores.db);
    const [domainId, apiKey] = [at(tenant.domainIds, 0), at(tenant.apiKeys, 0)];
    const [api] = await Promise.all([
      startApi({ ...stores.env, DEMO_DOMAIN: domainId, DEMO_API_KEY: apiKey }),
      startWorker(stores.env),
    ]);
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
    const start = performance.now();
    await page.getByRole('button', { name: 'Save choice' }).click();
    await page.getByText('In the log:').waitFor();
    expect(performance.now() - start).toBeLessThan(2_000);
    const [record] = await recordsOf(stack, 1);
    const entry = page.getByRole('listitem').filter({ hasText: 'Chose marketing' });
    expect(await entry.locator('code').textContent()).toBe(record?.id);
    // the tag that waited for marketing ran
    await page.getByText('so this tag ran').waitFor();
    await page.getByRole('contentinfo').getByRole('button', { name: 'Privacy settings' }).click();
    await page.getByRole('button', { name: 'Withdraw consent' }).click();
    await page.getByText('Withdrew').waitFor();
    // the next page has the log too
    await page.reload();
    await page.getByText('Withdrew').waitFor();
    expect(messages.filter((message) => /^(error|warning|uncaught)/.test(message))).toEqual([]);
  });

  it('says that a decision is kept while the service cannot be reached', async () => {
    const { page, context } = await visit();
    await page.goto(address);
    await page.getByRole('dialog').waitFor();
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Reject all' }).click();
    await page.getByText('Kept in this browser until the service can be reached.').waitFor();
    await context.setOffline(false);
    await page.getByText('In the log:').waitFor();
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
