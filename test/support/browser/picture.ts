/** Pictures of pages, for people to look at. */
import path from 'node:path';
import type { Page, PageScreenshotOptions } from 'playwright-core';
import { dataRoot } from '../../../scripts/stack/paths.ts';

/** Draws the page to `.data/screenshots/NAME.png`, with `SCREENSHOTS=1` only: nothing compares it, and it takes a while. */
export async function picture(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  const file = path.join(dataRoot, 'screenshots', `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', ...options });
}
