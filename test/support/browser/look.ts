/** A screen on a desk and on phones, light and dark: nothing for axe to find, nothing that sticks out, and its pictures. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { dataRoot } from '../../../scripts/stack/paths.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ofColours: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
interface Look {
  width: number;
  colorScheme: 'light' | 'dark';
  rules: RunOptions;
}

/** Where only colours are others, only what looks at colours looks again. */
const looks: Look[] = [
  { width: 1440, colorScheme: 'light', rules: {} },
  { width: 1440, colorScheme: 'dark', rules: ofColours },
  { width: 390, colorScheme: 'dark', rules: {} },
  { width: 320, colorScheme: 'light', rules: ofColours },
];

/** With `SCREENSHOTS=1` it also draws the page to `.data/screenshots`: nothing compares that. */
export async function look(page: Page, name: string): Promise<void> {
  for (const { width, colorScheme, rules } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const place = `${name}-${width}-${colorScheme}`;
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect({ place, wider, found: await violations(page, rules) }).toEqual({ place, wider: 0, found: [] });
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
export async function violations(page: Page, rules: RunOptions = {}): Promise<string[][]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const results = await page.evaluate(
    (options) => {
      const { axe } = window as unknown as { axe: { run(context: Node, options: RunOptions): Promise<AxeResults> } };
      return axe.run(document.querySelector('dialog:modal') ?? document, options);
    },
    { resultTypes: ['violations'], ...rules } satisfies RunOptions,
  );
  return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
}
