/** The file of the widget that few sites need: when it comes, and what happens where it does not. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createPublisher } from '../support/banner.ts';
import { click, hold, stopClock } from '../support/browser/browser.ts';
import { config, html } from '../support/browser/site.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

describe('the third file of the widget', () => {
  const widget = useWidget(useStack);
  const file = /\/assent-extras-[0-9a-f]{16}\.js$/;
  const experiment = { id: 'autumn', variants: [{ name: 'short', settings: { texts: { title: 'In short' } } }] };

  /** What is asked of the service, by the last part of the path. */
  const watch = (page: Page) => {
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(widget.stack.api.baseUrl)) asked.push(request.url().replace(/.*\//, ''));
    });
    return asked;
  };
  const extras = expect.stringMatching(/^assent-extras-/);
  const settingsFile = expect.stringMatching(/^assent-preferences-/);
  const heading = (page: Page, name: string) => page.getByRole('heading', { name });

  it('comes before the banner where there is an experiment and no choice yet, and is not asked for otherwise', async () => {
    const { page } = await widget.visit();
    const asked = watch(page);
    const open = async (address: string) => {
      asked.length = 0;
      await page.goto(address);
      await page.waitForFunction(() => window.assent);
      // the second file comes when nothing else is left to do
      await expect.poll(() => asked).toContainEqual(settingsFile);
      return [...asked].sort();
    };
    expect(await open(widget.address)).toEqual([settingsFile, 'widget.js']);
    const tested = widget.add('/tested', config({ experiment }) + widget.tag());
    expect(await open(tested)).toEqual([extras, settingsFile, 'widget.js']);
    await heading(page, 'In short').waitFor();
    await click(page, 'Reject all');
    await widget.records(1);
    expect(await open(tested)).toEqual([settingsFile, 'widget.js']);

    const { domainId, api } = widget.stack;
    await createPublisher(widget.stack).publish({ experiment });
    await page.evaluate(() => localStorage.clear());
    const src = `${api.baseUrl}/w/${domainId}.js`;
    expect(await open(widget.add('/published', `<script src="${src}"></script>`))).toEqual([
      settingsFile,
      `${domainId}.js`,
    ]);
    await heading(page, 'In short').waitFor();
    // a module is not told which element it is
    expect(await open(widget.add('/module', `<script type="module" src="${src}"></script>`))).toEqual([
      extras,
      settingsFile,
      `${domainId}.js`,
    ]);
    await heading(page, 'In short').waitFor();
  });

  it('comes with integrity and the tag’s nonce, also where a policy takes scripts by that alone', async () => {
    const { page, messages } = await widget.visit.again();
    const policy = `default-src 'none'; script-src 'nonce-abc'; connect-src ${widget.stack.api.baseUrl}; require-trusted-types-for 'script'; trusted-types assent`;
    const settings = `<script nonce="abc">assentConfig = ${JSON.stringify({ experiment })}</script>`;
    const address = widget.site.add('/nonce', html(settings + widget.tag({ nonce: 'abc' })), {
      'content-security-policy': policy,
    });
    const release = await hold(page, file);
    // the page itself has loaded once this has
    await page.goto(address, { waitUntil: 'domcontentloaded' });
    const script = page.locator('html > script');
    await script.waitFor({ state: 'attached' });
    expect(await script.getAttribute('integrity')).toMatch(/^sha256-/);
    const arrived = page.waitForResponse(file);
    release();
    expect((await arrived).headers()['cache-control']).toBe('public, max-age=31536000, immutable');
    await heading(page, 'In short').waitFor();
    await script.waitFor({ state: 'detached' });
    expect(messages.filter((message) => /^(error|uncaught)/.test(message))).toEqual([]);
  });

  it.each([
    ['blocked', { abort: true }],
    ['an error', { status: 500, body: '' }],
    ['another page', { status: 200, body: '<html>Sign in</html>' }],
  ])('where it is %s the banner is the site’s own, at once', async (_, response) => {
    const { page, context } = await widget.visit();
    await page.route(file, (route) => ('abort' in response ? route.abort() : route.fulfill(response)));
    await context.clock.install();
    await stopClock(context);
    await page.goto(widget.add('/', config({ experiment }) + widget.tag()));
    await heading(page, 'Your privacy, your choice').waitFor();
    await click(page, 'Accept all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all', variant: null }]);
  });

  it('is waited for for a second, and changes nothing that is shown', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install();
    await stopClock(context);
    const release = await hold(page, file);
    const asked = page.waitForRequest(file);
    await page.goto(widget.add('/', config({ experiment }) + widget.tag()), { waitUntil: 'domcontentloaded' });
    await asked;
    // what the page's own code asks for meanwhile is not lost
    await page.evaluate(() => {
      window.seen = [];
      window.assent?.onChange(({ decision }) => window.seen?.push(decision));
    });
    await context.clock.runFor(990);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await context.clock.runFor(10);
    await heading(page, 'Your privacy, your choice').waitFor();
    const arrived = page.waitForResponse(file);
    release();
    await (await arrived).finished();
    await page.locator('html > script').waitFor({ state: 'detached' });
    await heading(page, 'Your privacy, your choice').waitFor();
    await click(page, 'Reject all');
    expect(await page.evaluate(() => window.seen)).toEqual(['reject_all']);
  });
});
