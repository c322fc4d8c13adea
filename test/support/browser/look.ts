/** A screen on a desk and on phones, light and dark: nothing for axe to find, nothing that sticks out, and its pictures. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { dataRoot } from '../../../scripts/stack/paths.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Axe sees each scheme and each layout once: both schemes have the same elements. At 320 nothing may stick out. */
const looks = [
  { width: 1440, colorScheme: 'light', hasAxe: true },
  { width: 390, colorScheme: 'dark', hasAxe: true },
  { width: 320, colorScheme: 'light', hasAxe: false },
] as const;

/** With `SCREENSHOTS=1` it also draws the page to `.data/screenshots`: nothing compares that. */
export async function look(page: Page, name: string): Promise<void> {
  for (const { width, colorScheme, hasAxe } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const place = `${name}-${width}-${colorScheme}`;
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const found = hasAxe ? await violations(page) : [];
    expect({ place, wider, found }).toEqual({ place, wider: 0, found: [] });
    if (!process.env.SCREENSHOTS) continue;
    const file = path.join(dataRoot, 'screenshots', `${place}.png`);
    await page.screenshot({ path: file, animations: 'disabled', fullPage: true });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

/**
 * What axe finds: rules, with the elements that break them. By way of the debugger: the policy lets no script in. What is
 * below a dialog is out of reach, and was looked at without it.
 */
export async function violations(page: Page): Promise<string[][]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const results = await page.evaluate(
    (options) => {
      const { axe } = window as unknown as { axe: { run(context: Node, options: RunOptions): Promise<AxeResults> } };
      return axe.run(document.querySelector('dialog:modal') ?? document, options);
    },
    { resultTypes: ['violations'] } satisfies RunOptions,
  );
  return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
}
