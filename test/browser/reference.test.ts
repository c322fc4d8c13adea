/** The reference at /docs, as people read it. */
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { violations } from '../support/browser/look.ts';
import { startApi } from '../support/service.ts';
import { useStores } from '../support/stack.ts';

const api = await startApi(useStores().env);

describe('the reference', () => {
  const visit = useBrowser();

  it('shows what has all words of the filter, leads to the first, and to what a link names', async () => {
    const { page, messages } = await visit();
    await page.goto(`${api.baseUrl}/docs`);
    const field = page.getByRole('searchbox', { name: 'Filter' });
    const titles = () => page.locator('main h3:visible').allTextContents();
    const all = (await titles()).length;
    await field.fill('ROTATE webhook');
    await page.getByText(`1 of ${all}`).waitFor();
    expect(await titles()).toEqual(['Create a new secret']);
    expect(await page.getByRole('navigation').getByRole('heading').allTextContents()).toEqual(['Webhooks', 'More']);
    expect(await violations(page)).toEqual([]);
    await field.press('Enter');
    expect(page.url()).toBe(`${api.baseUrl}/docs#rotateWebhookSecret`);
    await page.getByRole('link', { name: 'WebhookSecret' }).click();
    // the page hears of its new fragment a moment later
    await expect.poll(async () => (await titles()).length).toBe(all);
    expect(await field.inputValue()).toBe('');
    await field.fill('xyzzy');
    await page.getByText(`None of ${all}`).waitFor();
    expect(messages).toEqual([]);
  });

  it('has its list below the content on a phone, and a link to it', async () => {
    const { page } = await visit({ viewport: { width: 390, height: 844 } });
    await page.goto(`${api.baseUrl}/docs`);
    const top = async (role: 'main' | 'navigation') => (await page.getByRole(role).boundingBox())?.y ?? Number.NaN;
    expect(await top('navigation')).toBeGreaterThan(await top('main'));
    await page.getByRole('link', { name: 'All operations' }).click();
    expect(await top('navigation')).toBeLessThan(844);
    expect(await violations(page)).toEqual([]);
  });
});
