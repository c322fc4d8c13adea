import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import { build } from 'vite';
import { describe, expect, it } from 'vitest';
import type { Pasted } from '../../apps/dashboard/widget-setup/draft/tag-reader.ts';
import { root } from '../../scripts/stack/paths.ts';
import { drafts } from '../support/arbitrary-widget.ts';
import { click, hasFocus, step } from '../support/browser/browser.ts';
import { managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { html, startSite } from '../support/browser/site.ts';
import { startApi } from '../support/service.ts';
import { at, useStores } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

declare global {
  interface Window {
    tags: typeof import('../support/browser/tags.ts');
  }
}

// new notices are bounded by address, and all files have the same
const dashboard = useDashboard({ api: await startApi(useStores().env) });

const site = await startSite();
site.add('/favicon.ico', '');

describe('setting up the widget in the dashboard', () => {
  const banner = (page: Page): FrameLocator => page.frameLocator('iframe');
  const unfold = (page: Page, title: string) => page.getByRole('heading', { name: title, exact: true }).click();
  const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
  const choose = (page: Page, group: string, name: string) =>
    page.getByRole('group', { name: group }).getByRole('radio', { name, exact: true }).check();
  it('leads from a domain without a key to the first record of its site, in two languages and own colours', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example'] });
    const { domainId } = at(customer.domains, 0);
    const change = { method: 'PATCH', body: JSON.stringify({ origins: [site.origin] }) };
    await dashboard.manage(customer, `/domains/${domainId}`, change);
    // what is chosen, and unfolded, stays in the tab
    const { page, context, messages } = await dashboard.visit();
    await dashboard.enter(page, managerOf(customer), `/domains/${domainId}/widget`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const posts: string[] = [];
    page.on('request', (request) => request.method() !== 'GET' && posts.push(new URL(request.url()).pathname));
    await click(page, 'New key');
    await page.getByText('is not shown again once you leave').waitFor();
    expect(await field(page, 'Key').inputValue()).toMatch(/^ak_/);
    await page.getByRole('heading', { name: 'Waiting for the first record …' }).waitFor();
    await page.getByText(site.origin).waitFor();
    const waiting = page.getByRole('region', { name: /^Waiting/ });
    await waiting.getByText('The usual causes').waitFor();
    const apiKey = await field(page, 'Key').inputValue();
    const client = dashboard.client(customer);
    const origin = { origin: 'https://blog.example' };
    expect((await client.record(domainId, apiKey, { decision: 'accept_all' }, origin)).status).toBe(403);
    await waiting.getByText(/^https:\/\/blog.example tried to record at \d\d:\d\d UTC and is not on/).waitFor();
    await click(page, 'Add https://blog.example to the list');
    await waiting.getByText('https://blog.example is on the list now.').waitFor();
    expect(await waiting.getByRole('button').count()).toBe(0);
    await page.getByText(`Records are taken from ${site.origin}, https://blog.example only.`).waitFor();

    const made = [...posts];
    await banner(page).getByRole('button', { name: 'Accept all' }).waitFor();
    // who types keeps the focus, although the widget opens anew
    await field(page, 'Title').focus();
    await page.keyboard.insertText('Biscuits?');
    await banner(page).getByRole('heading', { name: 'Biscuits?' }).waitFor();
    await hasFocus(field(page, 'Title'));
    await page.getByRole('combobox', { name: 'Texts in' }).selectOption('de');
    await field(page, 'Title').fill('Kekse?');
    await field(page, 'Accept').fill('Ja, gern');
    await banner(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    await banner(page).getByRole('button', { name: 'Alle ablehnen' }).waitFor();

    await unfold(page, 'Colours');
    await field(page, 'Buttons').fill('#0b5d4b');
    await field(page, 'Text of buttons').fill('banana');
    await page.getByText('Not a colour.').waitFor();
    await field(page, 'Text of buttons').fill('#ffffff');
    // beside the colours, and above the tag
    const warnings = page.locator('.notice-bad').filter({ hasText: 'On dark screens this banner is hard to read.' });
    await warnings.nth(1).waitFor();
    await page.getByText('Where the contrast is too low').click();
    await page.getByText(/^Dark: buttons and switches on the background/).waitFor();
    await click(page, 'Show in dark');
    expect(await page.getByRole('radio', { name: 'Dark', exact: true }).first().isChecked()).toBe(true);
    const accept = banner(page).getByRole('button', { name: 'Ja, gern' });
    const colour = () => accept.evaluate((each) => getComputedStyle(each).backgroundColor);
    await eventually(async () => expect(await colour()).toBe('rgb(11, 93, 75)'));

    await unfold(page, 'Categories');
    await field(page, 'Another category').fill('maps');
    await click(page, 'Add category');
    await field(page, 'Name').fill('Karten');
    await unfold(page, 'Position and theme');
    await choose(page, 'Position of the banner', 'Bottom right');
    await click(page, 'Always use the light banner');
    await warnings.first().waitFor({ state: 'detached' });
    expect(await page.getByRole('group', { name: 'Theme' }).getByLabel('Light').isChecked()).toBe(true);
    await choose(page, 'View', 'Settings');
    await banner(page).getByRole('switch', { name: 'Karten' }).waitFor();
    await page.getByText('Services of Karten').click();
    await click(page, 'Add service to Karten');
    const service = page.getByRole('group', { name: 'Service 1' });
    await service.getByRole('textbox', { name: 'Name', exact: true }).fill('Open Map');
    const cookies = service.getByRole('textbox', { name: /^Its cookies/ });
    await cookies.fill('*');
    await service.getByText('Not the name of a cookie: *').waitFor();
    await cookies.fill('map_id; 1 Tag');
    await banner(page).getByText('Dienste (1)').waitFor();
    // folded below it
    for (const text of ['Open Map', 'map_id', '1 Tag'])
      await banner(page).getByText(text, { exact: true }).waitFor({ state: 'attached' });
    await choose(page, 'View', 'Banner');
    await page.getByText('The banner has no link to a privacy policy.').waitFor();
    const nobody = page.getByText('The banner does not say who asks');
    await nobody.waitFor();
    await unfold(page, 'Company, links and versions');
    await field(page, 'Who asks').fill('Fern GmbH');
    await nobody.waitFor({ state: 'detached' });
    await banner(page)
      .getByText(/^Fern GmbH .*: Statistik · Marketing · Karten$/)
      .waitFor();
    await banner(page).getByRole('heading', { name: 'Kekse?' }).waitFor();

    await unfold(page, 'Behaviour');
    const subdomains = field(page, 'One choice for all subdomains of');
    await subdomains.fill(' https://shop.example:8443/en?a=b');
    expect(await subdomains.inputValue()).toBe('shop.example');
    await subdomains.fill('');
    const months = page.getByRole('spinbutton', { name: 'Months until visitors are asked again' });
    await months.fill('400');
    await months.blur();
    expect(await months.inputValue()).toBe('12');

    // the preview is the real widget, and nothing comes of it
    await accept.evaluate((each: HTMLElement) => each.click());
    await banner(page).getByRole('button', { name: 'Datenschutzeinstellungen' }).waitFor();
    await click(page, 'Show again');
    await banner(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    expect(posts).toEqual(made);
    expect(await page.evaluate(() => [Object.keys(localStorage), document.cookie])).toEqual([[], '']);
    expect((await client.records(domainId)).body.total).toBe(0);

    await click(page, 'Copy Script tag');
    await page.getByRole('button', { name: 'Copied Script tag' }).waitFor();
    const tag = await page.evaluate(() => navigator.clipboard.readText());
    const address = site.add('/shop', html(tag, '<h1>A shop</h1>', 'lang="de"'));
    const visitor = await dashboard.visit({ locale: 'de-DE' });
    await visitor.page.goto(address);
    await visitor.page.getByRole('heading', { name: 'Kekse?' }).waitFor();
    const box = await visitor.page.getByRole('dialog').boundingBox();
    expect(box && box.x + box.width).toBeGreaterThan(1_240);
    await visitor.page.getByRole('button', { name: 'Ja, gern' }).click();
    await page.getByRole('heading', { name: 'The site records' }).waitFor();
    const record = page.getByRole('region', { name: 'The site records' });
    await record.getByText('Accepted all').waitFor();
    await record.getByText(address).waitFor();
    expect(visitor.messages).toEqual([]);
    // link and tag open the same again
    await eventually(async () => expect(page.url()).toContain('#banner='));
    expect(page.url()).not.toContain('ak_');
    const shownTag = () => page.getByRole('region', { name: 'Script tag' }).textContent();
    await page.reload();
    await eventually(async () => expect(await shownTag()).toBe(tag.replace(/data-key="[^"]*"/, 'data-key="ak_…"')));
    // what was unfolded still is
    await page.getByRole('group', { name: 'Position of the banner' }).waitFor();
    await page.getByText('Does the site already have a tag?').click();
    await field(page, 'The tag, as it is in the page, or the link').fill(`<head>${tag}<p>more`);
    await click(page, 'Open');
    await page.getByText('Opened, with 6 settings.').waitFor();
    expect(await shownTag()).toBe(tag);
    expect(messages).toEqual([]);
  });

  it('tells a key that does not record, and a tag without one', async () => {
    const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });
    const [shop, blog] = [at(customer.domains, 0), at(customer.domains, 1)];
    const { page, context } = await dashboard.open(managerOf(customer), `/domains/${shop.domainId}/widget`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const noKey = page.getByRole('status').getByText('It has no key yet: nothing will be recorded.');
    await click(page, 'Copy Script tag');
    await noKey.waitFor();
    await field(page, 'Key').fill(blog.apiKey);
    await page.getByRole('alert').getByText('This is not a key of shop.example.').waitFor();
    expect(await noKey.count()).toBe(0);
    await field(page, 'Key').fill(shop.apiKey);
    await page.getByText('The key is in the tag below. Everybody').waitFor();
    await dashboard.db.run((sql) => sql`update api_keys set revoked_at = now() where domain_id = ${shop.domainId}`);
    await field(page, 'Key').fill('');
    await field(page, 'Key').fill(shop.apiKey);
    await page.getByRole('alert').getByText('This key is revoked.').waitFor();
    await click(page, 'New key');
    await page.getByText('is not shown again once you leave').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await step('on a phone the preview comes first, and stays in sight', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate(() => scrollTo(0, 0));
      const heading = (name: string) => page.getByRole('heading', { name, exact: true });
      const [stage, texts, behaviour] = [
        page.locator('.widget-stage'),
        heading('Languages and texts'),
        heading('Behaviour'),
      ] as const;
      const edge = (of: Locator, side: 'top' | 'bottom') =>
        of.evaluate((each, which) => each.getBoundingClientRect()[which], side);
      await eventually(async () => expect(await edge(stage, 'bottom')).toBeLessThan(await edge(texts, 'top')));
      await behaviour.scrollIntoViewIfNeeded();
      expect(await edge(texts, 'top')).toBeLessThan(0);
      expect(await edge(stage, 'top')).toBeGreaterThan(0);
      expect(await edge(stage, 'bottom')).toBeLessThan(await edge(behaviour, 'top'));
    });
  });

  it('says what it does not understand, and where the preview is missing', async () => {
    const customer = await dashboard.customer();
    const { domainId } = at(customer.domains, 0);
    const { page } = await dashboard.open(customer, `/domains/${domainId}/widget`);
    await page.evaluate(() => location.assign('#banner=broken'));
    await page.getByRole('alert').getByText('The link is damaged').waitFor();
    // whose token does not manage
    expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    await page.getByText('If the domain has a list of origins').waitFor();
    await page.getByText('Does the site already have a tag?').click();
    const paste = async (text: string) => {
      await field(page, 'The tag, as it is in the page, or the link').fill(text);
      await click(page, 'Open');
    };
    await paste('<p>nothing</p>');
    await page.getByText('There is no tag of the widget in it').waitFor();
    await paste(
      `<script>window.assentConfig = { texts: { title: 'Kekse?' }, hover: 1 }</script>
      <script src="https://other.example/widget-1a2b.js" integrity="sha384-x" data-domain="dom_other" data-key="ak_${'a'.repeat(32)}" data-policy-url="javascript:alert(1)"></script>`,
    );
    await page.getByText('It belongs to the domain dom_other').waitFor();
    await page.getByText('It was pinned to one release').waitFor();
    await page
      .getByText(/Not understood and left out: hover: is no setting of the widget; policyUrl: must be an address/)
      .waitFor();
    await banner(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
    expect(await field(page, 'Key').inputValue()).toBe('');
    await page.waitForURL(/#banner=(?!broken)/);

    // what is too long for a link, or half written, is there again in this tab
    const services = Array.from({ length: 20 }, (_, at) => {
      const cookies = [{ name: `cookie_${at}` }];
      return { name: `Service ${at}`, purpose: 'x'.repeat(400), cookies };
    });
    const long = { texts: { title: 'Kekse?' }, categories: [{ id: 'analytics', services }] };
    await paste(
      `<script>window.assentConfig = ${JSON.stringify(long)}</script><script src="https://other.example/widget.js" data-domain="${domainId}"></script>`,
    );
    await page.getByText('These settings are too long for a link.').waitFor();
    for (const title of ['Categories', 'Company, links and versions']) await unfold(page, title);
    await page.getByRole('button', { name: 'Remove service 1 of Statistics' }).click();
    // the name goes on with what is wrong
    const policy = page.getByRole('textbox', { name: /^Address of your privacy policy/ });
    await policy.fill('javascript:');
    const written = () =>
      Promise.all([
        policy.inputValue(),
        page
          .getByRole('textbox', { name: /^Its cookies/ })
          .first()
          .inputValue(),
        page.getByRole('textbox', { name: /^Its cookies/ }).count(),
      ]);
    const expected = ['javascript:', 'cookie_1', 19];
    await eventually(async () => expect(await written()).toEqual(expected));

    // not the frame itself: Playwright lets through what a frame asks for that it does not know yet
    const script = '**/widget-preview/preview.js';
    await page.route(script, (route) => route.abort());
    await page.reload();
    await page.getByText('The preview could not be loaded.').waitFor();
    expect(await written()).toEqual(expected);
    await page.unroute(script);
    await click(page, 'Try again');
    await banner(page).getByRole('heading', { name: 'Kekse?' }).waitFor();
  });

  it('a tag means what was chosen, whatever that is, and breaks no page', async () => {
    const [bundle] = [
      await build({
        configFile: false,
        logLevel: 'error',
        build: {
          write: false,
          lib: { entry: path.join(root, 'test/support/browser/tags.ts'), formats: ['iife'], name: 'tags' },
        },
      }),
    ].flat();
    const { page } = await dashboard.regular();
    await page.goto(site.add('/blank', html('')));
    await page.addScriptTag({ content: bundle && 'output' in bundle ? bundle.output[0].code : '' });
    const apiKey = `ak_${'k'.repeat(32)}`;
    const given = fc.sample(drafts, 100);
    const found: (Pasted | null)[] = await page.evaluate(
      ([all, key]) =>
        all.map((draft) =>
          window.tags.readPasted(`<title>A</title>${window.tags.tagOf(draft, 'dom_1', key)}<p>`, 'dom_1'),
        ),
      [given, apiKey] as const,
    );
    expect(found).toEqual(given.map((draft) => ({ draft, apiKey, foreignDomain: null, isPinned: false, refused: [] })));
    // as the documents have it
    const [, example = ''] =
      /```html\n(<script>\n {2}window\.assentConfig[\s\S]*?)```/.exec(
        readFileSync(path.join(root, 'docs/widget.md'), 'utf8'),
      ) ?? [];
    expect(await page.evaluate((text) => window.tags.readPasted(text, 'dom_1')?.refused, example)).toEqual([]);
  });
});
