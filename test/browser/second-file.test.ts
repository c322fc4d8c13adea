/** The file of the widget that has the settings: when it comes, and what happens where it does not. */
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hold, step, stopClock } from '../support/browser/browser.ts';
import { html } from '../support/browser/site.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

describe('the second file of the widget', () => {
  const widget = useWidget(useStack);
  const file = /\/assent-preferences-[0-9a-f]{16}\.js$/;
  const told = 'The settings could not be loaded. Decide here, or try again later.';

  const settings = (page: Page) => page.getByRole('dialog', { name: 'Privacy settings' });

  it('comes by itself, once and with integrity, also where a policy takes scripts by the tag’s nonce alone', async () => {
    const { page, messages } = await widget.visit.again();
    const asked: string[] = [];
    page.on('request', (request) => file.test(request.url()) && asked.push(request.url()));
    const { baseUrl } = widget.stack.api;
    const policy = `default-src 'none'; script-src 'nonce-abc'; connect-src ${baseUrl}`;
    const address = widget.site.add('/nonce', html(widget.tag({ nonce: 'abc' })), {
      'content-security-policy': policy,
    });
    const release = await hold(page, file);
    await page.goto(address);
    // one may see it only while it is on its way
    const script = page.locator('assent-widget > script');
    await script.waitFor({ state: 'attached' });
    expect(await script.getAttribute('integrity')).toMatch(/^sha256-/);
    const arrived = page.waitForResponse(file);
    release();
    expect((await arrived).headers()['cache-control']).toBe('public, max-age=31536000, immutable');
    await click(page, 'Customise');
    await settings(page).waitFor();
    expect(asked).toEqual([expect.stringMatching(`^${baseUrl}`)]);
    expect(messages.filter((message) => /^(error|uncaught)/.test(message))).toEqual([]);
  });

  it('is waited for where the visitor is quicker, unless they decide meanwhile', async () => {
    const { page } = await widget.visit.again();
    const release = await hold(page, file);
    await page.goto(widget.address);
    await click(page, 'Customise');
    const busy = page.locator('assent-widget [aria-busy=true]');
    await busy.waitFor({ state: 'attached' });
    release();
    await settings(page).waitFor();
    await busy.waitFor({ state: 'detached' });

    const releaseAgain = await hold(page, file);
    await page.reload();
    await click(page, 'Customise');
    const arrived = page.waitForResponse(file);
    await click(page, 'Accept all');
    releaseAgain();
    await arrived;
    await busy.waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await widget.records(1);
  });

  it.each([
    ['blocked or another page', false],
    ['slow', true],
  ])('where it is %s the visitor can still decide, and withdraw, and is told', async (_, isSlow) => {
    const { page, context } = await widget.visit();
    await page.clock.install();
    let asked = 0;
    /** One after the other: the first comes without a press, and each press has the next. */
    const spoil = (route: Route) => {
      asked += 1;
      return asked % 2 ? route.abort('blockedbyclient') : route.fulfill({ body: '<html>Sign in</html>' });
    };
    if (isSlow) await hold(page, file);
    else await page.route(file, spoil);
    await page.goto(widget.address);
    // what is known at once is told at once
    if (!isSlow) await stopClock(context);
    await click(page, 'Customise');
    if (isSlow) await page.clock.fastForward(5_000);
    await page.getByRole('dialog').getByText(told).waitFor();
    // no button is chosen in advance
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName)).toBe('dialog');
    await page.clock.resume();
    expect(await page.getByRole('status').textContent()).toBe(told);
    await click(page, 'Accept all');
    await widget.records(1);
    await click(page, 'Privacy settings');
    if (isSlow) await page.clock.fastForward(5_000);
    await step('closing decides nothing', async () => {
      await page.getByRole('dialog').getByText(told).waitFor();
      await click(page, 'Close');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
    await click(page, 'Privacy settings');
    if (isSlow) await page.clock.fastForward(5_000);
    await click(page, 'Withdraw consent');
    expect((await widget.records(2)).map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
    if (isSlow) return;
    // the withdrawal has asked for it as well, and whoever presses meanwhile waits for the same answer
    await page.locator('assent-widget > script').waitFor({ state: 'detached' });
    await page.unroute(file);
    await click(page, 'Privacy settings');
    await settings(page).waitFor();
  });
});
