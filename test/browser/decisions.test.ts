import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import assent from '../../package.json' with { type: 'json' };
import { click, useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { recordsOf, type Stack, useStack, withOwnDomain } from '../support/stack.ts';

describe('a decision in the widget', () => {
  const visit = useBrowser();
  let stack: Stack;
  let site: Site;
  let address: string;

  beforeAll(async () => {
    stack = await useStack();
    site = await startSite();
  });

  beforeEach(async () => {
    stack = await withOwnDomain(stack);
    address = site.add('/', html(tag(stack, { 'data-policy-version': '7' })));
  });

  const consentIn = (page: Page) => page.evaluate(() => window.assent?.getConsent());

  it.each([
    ['Accept all', 'accept_all', { analytics: true, marketing: true }],
    ['Reject all', 'reject_all', { analytics: false, marketing: false }],
  ])('%s is recorded as %s, with all that proves it', async (button, decision, preferences) => {
    const { page } = await visit({ userAgent: 'a browser' });
    const before = Date.now();
    await page.goto(`${address}?utm_source=x#part`);
    await click(page, button);
    const [record] = await recordsOf(stack, 1);
    expect(record).toMatchObject({
      decision,
      preferences,
      source: 'banner',
      bannerVersion: assent.version,
      policyVersion: '7',
      language: 'en',
      pageUrl: address,
      gpc: null,
      userAgent: 'a browser',
      visitorId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const decidedAt = Date.parse(record?.decidedAt ?? '');
    expect(decidedAt).toBeGreaterThanOrEqual(before);
    expect(decidedAt).toBeLessThanOrEqual(Date.now());
    expect(await consentIn(page)).toMatchObject({ id: record?.id, decision, preferences });
  });

  it('switches, and “Save choice” records them as custom', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await click(page, 'Save choice');
    expect(await recordsOf(stack, 1)).toMatchObject([
      { decision: 'custom', source: 'preferences', preferences: { analytics: true, marketing: false } },
    ]);
  });

  it('what is saved with all switches on or off is what it is', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Customise');
    await click(page, 'Save choice');
    await click(page, 'Privacy settings');
    for (const name of ['Statistics', 'Marketing']) await page.getByRole('switch', { name }).check();
    await click(page, 'Save choice');
    expect(await recordsOf(stack, 2)).toMatchObject([{ decision: 'reject_all' }, { decision: 'accept_all' }]);
  });

  it('can be changed and withdrawn by the button that stays; all records are of one visitor', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Accept all');
    await click(page, 'Privacy settings');
    await page.getByRole('switch', { name: 'Marketing' }).uncheck();
    await click(page, 'Save choice');
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    const records = await recordsOf(stack, 3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'custom', 'withdraw']);
    expect(new Set(records.map(({ visitorId }) => visitorId)).size).toBe(1);
    expect(records[2]?.preferences).toEqual({ analytics: false, marketing: false });
    // nothing is left to take back
    await click(page, 'Privacy settings');
    expect(await page.getByRole('button', { name: 'Withdraw consent' }).count()).toBe(0);
  });

  it('shows the visitor the id under which it is recorded', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Accept all');
    const [record] = await recordsOf(stack, 1);
    await click(page, 'Privacy settings');
    expect(await page.locator('code').textContent()).toBe(record?.id);
  });

  it('window.assent opens, withdraws and tells of changes', async () => {
    const { page } = await visit();
    await page.goto(address);
    expect(await consentIn(page)).toBeNull();
    await page.evaluate(() => {
      window.assent?.withdraw();
      const seen: unknown[] = [];
      Object.assign(window, { seen });
      const stop = window.assent?.onChange(({ decision }) => seen.push(decision));
      addEventListener('assent:change', (event) => {
        seen.push(`event ${(event as CustomEvent).detail.decision}`);
        if (seen.length === 4) stop?.();
      });
      window.assent?.open();
    });
    await click(page, 'Accept all');
    await page.evaluate(() => window.assent?.withdraw());
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Accept all');
    const records = await recordsOf(stack, 3);
    expect(records.map(({ decision, source }) => [decision, source])).toEqual([
      ['accept_all', 'preferences'],
      ['withdraw', 'api'],
      ['accept_all', 'preferences'],
    ]);
    expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([
      'accept_all',
      'event accept_all',
      'withdraw',
      'event withdraw',
      'event accept_all',
    ]);
  });

  it('holds on the next page and in other tabs, without another question or record', async () => {
    const { page, context } = await visit();
    const other = await context.newPage();
    await other.goto(address);
    await page.goto(address);
    await click(page, 'Accept all');
    await other.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await consentIn(other)).toEqual(await consentIn(page));
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await recordsOf(stack, 1);
  });

  it('closing the banner by Escape decides and records nothing, and the next page asks again', async () => {
    const { page } = await visit();
    await page.goto(address);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await consentIn(page)).toBeNull();
    await page.reload();
    await click(page, 'Accept all');
    await recordsOf(stack, 1);
  });

  it.each([
    ['the policy changed', { 'data-policy-version': '8' }],
    ['the categories changed', { 'data-policy-version': '7', 'data-categories': 'analytics chat' }],
  ])('is asked for again where %s', async (_, attributes) => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Accept all');
    const again = site.add('/again', html(tag(stack, attributes)));
    await page.goto(again);
    await page.getByRole('dialog').waitFor();
    expect(await consentIn(page)).toBeNull();
    await click(page, 'Reject all');
    const records = await recordsOf(stack, 2);
    // consent was given, though to other terms
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
    expect(records[0]?.visitorId).toBe(records[1]?.visitorId);
  });

  it('is accept_all where nothing optional is asked for', async () => {
    const { page } = await visit();
    await page.goto(site.add('/nothing', html(tag(stack, { 'data-categories': 'necessary' }))));
    await click(page, 'Accept all');
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'accept_all', preferences: {} }]);
  });

  it('is recorded though the page has spoilt the visitor’s id', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Accept all');
    await page.evaluate((name) => {
      const kept = JSON.parse(localStorage.getItem(name) ?? '');
      localStorage.setItem(name, JSON.stringify({ ...kept, visitorId: 5 }));
      window.assent?.withdraw();
    }, `assent.${stack.domainId}.consent`);
    const records = await recordsOf(stack, 2);
    expect(records[1]).toMatchObject({ decision: 'withdraw', visitorId: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it.each([
    ['12 months by default', {}, 364, 367],
    ['12 months where that is not a number', { 'data-max-age-months': 'a year' }, 364, 367],
    ['as long as the site says', { 'data-max-age-months': '6' }, 180, 186],
  ])('holds for %s', async (_, attributes, within, after) => {
    const { page, context } = await visit();
    const aged = site.add('/aged', html(tag(stack, attributes)));
    const start = Date.now();
    await page.goto(aged);
    await click(page, 'Accept all');
    await recordsOf(stack, 1);
    await context.clock.setFixedTime(start + within * 86_400_000);
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await context.clock.setFixedTime(start + after * 86_400_000);
    await page.reload();
    await page.getByRole('dialog').waitFor();
  });

  it('carries Global Privacy Control, and the rejection is chosen in advance', async () => {
    const { page, context } = await visit();
    await context.addInitScript(() =>
      Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true }),
    );
    await page.goto(address);
    await page.getByText('Global Privacy Control').waitFor();
    await page.keyboard.press('Enter');
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'reject_all', gpc: true }]);
    expect(await consentIn(page)).toMatchObject({ gpc: true });
    await click(page, 'Privacy settings');
    const note = page.getByText('Global Privacy Control is on: everything optional is off.', { exact: true });
    await note.waitFor();
    // said only while it is so
    await click(page, 'Accept all');
    await click(page, 'Privacy settings');
    await page.getByRole('switch', { name: 'Marketing' }).waitFor();
    expect(await note.count()).toBe(0);
  });

  /** What pages of this context sent to the service, by the last part of the path. */
  const watch = (page: Page) => {
    const sent: { what: string; body: Record<string, unknown>; status: Promise<number | undefined> }[] = [];
    page.context().on('request', (request) => {
      if (request.method() !== 'POST') return;
      // what a page sends as it closes may get no answer
      const status = request.response().then(
        (response) => response?.status(),
        () => undefined,
      );
      sent.push({ what: request.url().replace(/.*\//, ''), body: request.postDataJSON(), status });
    });
    return sent;
  };
  const autumn = {
    id: 'autumn',
    variants: [
      { name: 'plain', share: 0 },
      { name: 'short', settings: { texts: { title: 'In short' }, colors: { button: '#123456' } } },
    ],
  };
  const configured = (config: object, attributes: Record<string, string> = {}) =>
    html(`<script>assentConfig = ${JSON.stringify(config)}</script>${tag(stack, attributes)}`);

  it('a variant is shown, recorded, in the notice and with the display, and nothing is stored before', async () => {
    address = site.add('/variant', configured({ experiment: autumn }, { 'data-displays': '' }));
    const { page } = await visit();
    const sent = watch(page);
    await page.goto(address);
    await page.getByRole('heading', { name: 'In short' }).waitFor();
    await expect.poll(() => sent).toHaveLength(1);
    expect(sent[0]?.what).toBe('displays');
    expect(sent[0]?.body).toEqual({ bannerVersion: assent.version, variant: 'autumn:short', language: 'en' });
    expect(await sent[0]?.status).toBe(204);
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    await click(page, 'Reject all');
    expect(await recordsOf(stack, 1)).toMatchObject([{ variant: 'autumn:short', notice: expect.any(String) }]);
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Accept all');
    await page.evaluate(() => window.assent?.withdraw());
    expect(await recordsOf(stack, 3)).toMatchObject([
      { variant: 'autumn:short' },
      { variant: 'autumn:short' },
      { source: 'api', variant: null },
    ]);
    // who has decided is shown no banner, so it is no display and no variant
    await page.reload();
    await click(page, 'Privacy settings');
    await click(page, 'Reject all');
    expect((await recordsOf(stack, 4)).at(-1)).toMatchObject({ variant: null });
    expect(sent.filter(({ what }) => what === 'displays')).toHaveLength(1);
  });

  it('a page in the background counts as a display once it is looked at, and only where that is asked for', async () => {
    const hide = 'Object.defineProperty(document, "hidden", { get: () => isAway })';
    const background = `<script>isAway = true; ${hide}</script>`;
    address = site.add('/away', html(background + tag(stack, { 'data-displays': '' })));
    const silent = site.add('/silent', html(tag(stack)));
    const { page } = await visit();
    const sent = watch(page);
    await page.goto(silent);
    await page.getByRole('button', { name: 'Reject all' }).waitFor();
    await page.goto(address);
    await page.getByRole('button', { name: 'Reject all' }).waitFor();
    expect(sent).toEqual([]);
    const look = () =>
      page.evaluate(() => {
        Object.assign(window, { isAway: false });
        for (let times = 0; times < 2; times += 1) document.dispatchEvent(new Event('visibilitychange'));
      });
    await look();
    await expect.poll(() => sent).toHaveLength(1);
    // decided in another tab meanwhile
    await page.reload();
    const other = await page.context().newPage();
    await other.goto(silent);
    await click(other, 'Reject all');
    await recordsOf(stack, 1);
    await look();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(sent.map(({ what }) => what)).toEqual(['displays', 'record']);
  });
});
