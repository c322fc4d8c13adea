/** The WP Consent API in both directions, with a stand-in for its script; the plugin itself is tested in WordPress. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { root } from '../../scripts/stack/paths.ts';
import { click } from '../support/browser/browser.ts';
import { clientTag } from '../support/browser/site.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const api = readFileSync(path.join(root, 'test/support/wordpress/wp-consent-api.js'), 'utf8');

/** The API's cookies. */
const set = async (page: Page): Promise<Record<string, string>> => {
  const cookies = await page.context().cookies();
  const own = cookies.filter(({ name }) => name.startsWith('wp_consent_'));
  return Object.fromEntries(own.map(({ name, value }) => [name.replace('wp_consent_', ''), value]));
};

describe('the WP Consent API', () => {
  const widget = useWidget(() => useStack());
  const add = (head: string, body: string) => widget.add('/', head, body);

  it('gets each choice, by categories of its own names or else by ours, even if its script comes late', async () => {
    const bridge = `<script src="${widget.stack.api.baseUrl}/bridge-wp-consent.js" defer></script>`;
    add(bridge + widget.tag({ 'data-categories': 'analytics preferences' }), '<h1>A page</h1>');
    const { page } = await widget.visit();
    await page.goto(widget.address);
    expect(await page.evaluate('wp_consent_type')).toBe('optin');
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'preferences' }).click();
    await click(page, 'Save choice');
    await widget.records(1);
    expect(await set(page)).toEqual({});
    widget.site.add('/api.js', api, { 'content-type': 'text/javascript' });
    await page.addScriptTag({ url: '/api.js' });
    const choice = { functional: 'allow', preferences: 'allow', marketing: 'deny' };
    const denied = { ...choice, statistics: 'deny', 'statistics-anonymous': 'deny' };
    await eventually(async () => expect(await set(page)).toEqual(denied));
    await page.evaluate(() => window.assent?.withdraw());
    expect(await set(page)).toEqual({ ...denied, preferences: 'deny' });
  });

  /** A page with another banner: `asLoaded` runs before the visitor does anything, and a press of the button runs `pressed`. */
  const other = async (asLoaded: string, pressed: string) => {
    const records = `import { recordWpConsent } from '${widget.stack.api.baseUrl}/record-wp-consent.js';
      recordWpConsent(client);
      ${asLoaded}`;
    add(`<script>${api}</script>${clientTag(widget.stack, records)}`, `<button onclick="${pressed}">Fine</button>`);
    const { page } = await widget.visit();
    await page.goto(widget.address);
    return page;
  };
  const choose = (values: string) =>
    `for (const [name, value] of Object.entries({ ${values} })) wp_set_consent(name, value);`;

  it('tells of one decision where a banner sets several categories and leaves the page, and of none as it loads', async () => {
    const page = await other(
      `if (!sessionStorage.chosen) ${choose("functional: 'allow', statistics: 'deny', marketing: 'allow'")}`,
      `${choose("statistics: 'allow', marketing: 'deny'")} sessionStorage.chosen = 1; location.reload()`,
    );
    // whoever only looks at a page has decided nothing
    await page.reload();
    const loaded = page.waitForEvent('load');
    await click(page, 'Fine');
    await loaded;
    const chosen = { functional: true, statistics: true, marketing: false };
    expect(await widget.records(1)).toMatchObject([{ decision: 'custom', preferences: chosen }]);
    await page.evaluate("wp_set_consent('marketing', 'allow')");
    expect(await widget.records(2)).toMatchObject([{ decision: 'custom' }, { decision: 'accept_all' }]);
  });

  it('is heard where the browser keeps no cookies', async () => {
    const page = await other('', choose("functional: 'allow', statistics: 'allow'"));
    await page.evaluate(() =>
      Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set: () => {}, configurable: true }),
    );
    await click(page, 'Fine');
    expect(await widget.records(1)).toMatchObject([
      { decision: 'accept_all', preferences: { functional: true, statistics: true } },
    ]);
  });
});
