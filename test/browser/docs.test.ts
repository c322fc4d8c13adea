import { expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { violations } from '../support/browser/look.ts';
import { sharedStack } from '../support/shared.ts';

const visit = useBrowser();

it('the reference at /docs is for everyone', async () => {
  const { page, messages } = await visit({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${sharedStack().api.baseUrl}/docs`);
  await page.getByRole('link', { name: "Record a visitor's decision" }).click();
  await page.locator('#record').getByText('POST', { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  expect(messages).toEqual([]);
});
