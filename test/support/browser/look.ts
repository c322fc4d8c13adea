/** A screen on a desk and on phones, light and dark: nothing for axe to find, nothing that sticks out, and its pictures. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { picture } from './picture.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ofColours: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
/** Where only colours are others, only what looks at colours looks again; the smallest is looked at for its width. */
const looks = [
  { width: 1440, colorScheme: 'light', rules: {} },
  { width: 390, colorScheme: 'dark', rules: ofColours },
  { width: 320, colorScheme: 'light', rules: null },
] as const;

export async function look(page: Page, name: string): Promise<void> {
  try {
    for (const { width, colorScheme, rules } of looks) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
      if (!rules) continue;
      await picture(page, `${name}-${width}-${colorScheme}`, { fullPage: true });
      expect(await violations(page, rules)).toEqual([]);
    }
  } finally {
    // the next test has the same tab
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }
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
