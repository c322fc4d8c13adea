import { expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { look } from '../support/browser/look.ts';
import { sharedStack } from '../support/shared.ts';

const visit = useBrowser();

it('the page of state is for everyone, on one screen', async () => {
  const { page, messages } = await visit({ viewport: { width: 1440, height: 900 } });
  await page.goto(sharedStack().api.opsUrl);
  await page.getByRole('heading', { name: 'Assent API' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)).toBe(true);
  expect(await page.getByText('Ready:').evaluate((node) => getComputedStyle(node).fontWeight)).toBe('600');
  await look(page, 'status');
  expect(messages.filter((message) => !message.includes('favicon'))).toEqual([]);
});
