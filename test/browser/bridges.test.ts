/**
 * The bridges to platforms that keep a choice of their own. Shopify's and Webflow's scripts run only on their servers: what
 * stands in for them here has the functions that their documents name.
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click } from '../support/browser/browser.ts';
import { config } from '../support/browser/site.ts';
import { useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

const shopify = `<script>
  calls = [];
  Shopify = {
    loadFeatures([{ name, version }], done) {
      if (name !== 'consent-tracking-api' || version !== '0.1') throw new Error(name);
      const known = JSON.parse(localStorage.known ?? '{}');
      Shopify.customerPrivacy = {
        currentVisitorConsent: () => known,
        setTrackingConsent(consent, callback) {
          calls.push(consent);
          for (const key in consent) known[key] = consent[key] ? 'yes' : 'no';
          localStorage.known = JSON.stringify(known);
          callback();
        },
      };
      queueMicrotask(done);
    },
  };
</script>`;
const webflow = `<script>
  calls = [];
  wf = {
    ready: (work) => queueMicrotask(work),
    getUserTrackingChoice: () => localStorage.choice ?? 'none',
    allowUserTracking({ activate }) { calls.push(['allow', activate]); localStorage.choice = 'allow'; },
    denyUserTracking() { calls.push(['deny']); localStorage.choice = 'deny'; },
  };
</script>`;

describe('a bridge', () => {
  const widget = useWidget(useStack);
  const bridge = (name: string, attributes = '') =>
    `<script src="${widget.stack.api.baseUrl}/bridge-${name}.js" ${attributes} defer></script>`;
  const calls = (page: Page) => page.evaluate(() => (window as Window & { calls?: unknown[] }).calls);
  const withdraw = (page: Page) => page.evaluate(() => window.assent?.withdraw());

  it('passes each choice on to Shopify, and nothing before there is one', async () => {
    const names = 'data-preferences="comfort"';
    const settings = config({
      categories: [
        'analytics',
        'marketing',
        { id: 'comfort', label: 'Comfort', description: 'Remembers what you like.' },
      ],
    });
    // before the widget: it hears of the choice by events
    const { page, messages } = await widget.open(
      widget.add('/shop', shopify + settings + bridge('shopify', names) + widget.tag()),
    );
    await page.getByRole('dialog').waitFor();
    expect(await calls(page)).toEqual([]);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Comfort' }).click();
    await click(page, 'Save choice');
    const comfort = { analytics: false, marketing: false, preferences: true, sale_of_data: false };
    await expect.poll(() => calls(page)).toEqual([comfort]);
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Accept all');
    const all = { analytics: true, marketing: true, preferences: true, sale_of_data: true };
    await expect.poll(() => calls(page)).toEqual([comfort, all]);

    // the next page: Shopify knows it already
    await page.goto(widget.add('/next', shopify + settings + widget.tag() + bridge('shopify', names)));
    await page.waitForFunction(() => 'assent' in window && document.readyState === 'complete');
    await withdraw(page);
    const none = { analytics: false, marketing: false, preferences: false, sale_of_data: false };
    await expect.poll(() => calls(page)).toEqual([none]);
    expect(warningsIn(messages)).toEqual([]);
  });

  it('passes each choice on to Webflow, also one from an earlier page', async () => {
    const { page } = await widget.open();
    await click(page, 'Accept all');
    await page.goto(widget.add('/page', webflow + widget.tag() + bridge('webflow')));
    await expect.poll(() => calls(page)).toEqual([['allow', true]]);
    await withdraw(page);
    await expect.poll(() => calls(page)).toEqual([['allow', true], ['deny']]);
    await page.reload();
    await page.waitForFunction(() => 'assent' in window && document.readyState === 'complete');
    expect(await calls(page)).toEqual([]);
  });

  it.each(['shopify', 'webflow'])('to %s does nothing on a page of another platform', async (name) => {
    const { page, messages } = await widget.open(widget.add('/page', widget.tag() + bridge(name)));
    await click(page, 'Accept all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all' }]);
    expect(messages.filter((message) => /uncaught|assent/.test(message))).toEqual([]);
  });
});
