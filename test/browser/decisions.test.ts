import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import assent from '../../package.json' with { type: 'json' };
import { afterwards, click } from '../support/browser/browser.ts';
import { config } from '../support/browser/site.ts';
import { consentIn, useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';

describe('a decision in the widget', () => {
  const widget = useWidget(useStack, { 'data-policy-version': '7' });

  it.each([
    ['Accept all', 'accept_all', { analytics: true, marketing: true }],
    ['Reject all', 'reject_all', { analytics: false, marketing: false }],
  ])('%s is recorded as %s, with all that proves it', async (button, decision, preferences) => {
    const { page } = await widget.visit.again({ userAgent: 'a browser' });
    const before = Date.now();
    await page.goto(`${widget.address}?utm_source=x#part`);
    await click(page, button);
    const [record] = await widget.records(1);
    expect(record).toMatchObject({
      decision,
      preferences,
      source: 'banner',
      bannerVersion: assent.version,
      policyVersion: '7',
      language: 'en',
      pageUrl: widget.address,
      gpc: null,
      userAgent: 'a browser',
      visitorId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const decidedAt = Date.parse(record?.decidedAt ?? '');
    expect(decidedAt).toBeGreaterThanOrEqual(before);
    expect(decidedAt).toBeLessThanOrEqual(Date.now());
    expect(await consentIn(page)).toMatchObject({ id: record?.id, decision, preferences });
  });

  it('can be changed and withdrawn by the button that stays, and is what the switches say', async () => {
    const { page } = await widget.open();
    await click(page, 'Customise');
    await click(page, 'Save choice');
    await click(page, 'Privacy settings');
    for (const name of ['Statistics', 'Marketing']) await page.getByRole('switch', { name }).check();
    await click(page, 'Save choice');
    await click(page, 'Privacy settings');
    await page.getByRole('switch', { name: 'Marketing' }).uncheck();
    await click(page, 'Save choice');
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    const records = await widget.records(4);
    expect(records).toMatchObject([
      { decision: 'reject_all', source: 'preferences', preferences: { analytics: false, marketing: false } },
      { decision: 'accept_all', source: 'preferences', preferences: { analytics: true, marketing: true } },
      { decision: 'custom', source: 'preferences', preferences: { analytics: true, marketing: false } },
      { decision: 'withdraw', source: 'preferences', preferences: { analytics: false, marketing: false } },
    ]);
    expect(new Set(records.map(({ visitorId }) => visitorId)).size).toBe(1);
    await click(page, 'Privacy settings');
    // nothing is left to take back
    expect(await page.getByRole('button', { name: 'Withdraw consent' }).count()).toBe(0);
    expect(await page.locator('code').textContent()).toBe(records[3]?.id);
  });

  it('window.assent opens, withdraws and tells of changes', async () => {
    const { page } = await widget.open();
    expect(await consentIn(page)).toBeNull();
    await page.evaluate(() => {
      window.assent?.withdraw();
      const seen: unknown[] = [];
      window.seen = seen;
      const stop = window.assent?.onChange(({ decision }) => seen.push(decision));
      addEventListener('assent:change', (event) => {
        seen.push(`event ${(event as CustomEvent).detail.decision}`);
        if (seen.length === 5) stop?.();
      });
      window.assent?.open();
    });
    // until then the banner has a button of that name
    await page.locator('dialog:modal').waitFor();
    await click(page, 'Accept all');
    await page.evaluate(() => window.assent?.withdraw());
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Accept all');
    const records = await widget.records(3);
    expect(records.map(({ decision, source }) => [decision, source])).toEqual([
      ['accept_all', 'preferences'],
      ['withdraw', 'api'],
      ['accept_all', 'preferences'],
    ]);
    const [first, second] = ['accept_all', 'withdraw'];
    const seen = [`event ${first}`, first, `event ${second}`, second, `event ${first}`];
    expect(await page.evaluate(() => window.seen)).toEqual(seen);
  });

  it('is withdrawn by the same visitor, and by code too, though the page has emptied the storage since', async () => {
    const { page } = await widget.open();
    const empty = () => page.evaluate(() => localStorage.clear());
    await click(page, 'Accept all');
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    await empty();
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    await widget.records(3);
    await empty();
    await page.evaluate(() => window.assent?.withdraw());
    const records = await widget.records(4);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw', 'accept_all', 'withdraw']);
    expect(new Set(records.map(({ visitorId }) => visitorId)).size).toBe(1);
  });

  it('holds though a category is listed twice', async () => {
    const { page } = await widget.visit.again();
    await page.goto(widget.add('/twice', widget.tag({ 'data-categories': 'analytics marketing analytics' })));
    await click(page, 'Accept all');
    await widget.records(1);
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await consentIn(page)).toMatchObject({ preferences: { analytics: true, marketing: true } });
  });

  it('holds on the next page and in other tabs, without another question or record', async () => {
    const { page, context } = await widget.visit.again();
    const other = await context.newPage();
    await other.goto(widget.address);
    await page.goto(widget.address);
    await click(page, 'Accept all');
    await other.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await consentIn(other)).toEqual(await consentIn(page));
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.evaluate(() => window.assent?.withdraw());
    expect((await widget.records(2)).map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
  });

  it('is asked for again where the policy, or the categories changed', async () => {
    const { page } = await widget.open();
    await click(page, 'Accept all');
    for (const attributes of [
      { 'data-policy-version': '7', 'data-categories': 'analytics chat' },
      { 'data-policy-version': '8' },
    ]) {
      await page.goto(widget.add('/again', widget.tag(attributes)));
      await page.getByRole('dialog').waitFor();
      expect(await consentIn(page)).toBeNull();
    }
    await click(page, 'Reject all');
    const records = await widget.records(2);
    // consent was given, though to other terms
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
    expect(records[0]?.visitorId).toBe(records[1]?.visitorId);
  });

  it('is accept_all where nothing optional is asked for', async () => {
    const { page } = await widget.open(widget.add('/nothing', widget.tag({ 'data-categories': 'necessary' })));
    await click(page, 'Accept all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all', preferences: {} }]);
  });

  it('is recorded though the page has spoilt the visitor’s id', async () => {
    const { page } = await widget.open();
    await click(page, 'Accept all');
    await page.evaluate((name) => {
      const kept = JSON.parse(localStorage.getItem(name) ?? '');
      localStorage.setItem(name, JSON.stringify({ ...kept, visitorId: 5 }));
      window.assent?.withdraw();
    }, `assent.${widget.stack.domainId}.consent`);
    const records = await widget.records(2);
    expect(records[1]).toMatchObject({ decision: 'withdraw', visitorId: expect.stringMatching(/^[0-9a-f]{32}$/) });
  });

  it('holds for 12 months by default, or as long as the site says', async () => {
    const { page, context } = await widget.visit();
    const start = Date.now();
    const [twelve, six] = [
      widget.add('/twelve', widget.tag()),
      widget.add('/six', widget.tag({ 'data-max-age-months': '6' })),
    ];
    await page.goto(twelve);
    await click(page, 'Accept all');
    await widget.records(1);
    for (const [days, address, holds] of [
      [180, six, true],
      [186, six, false],
      [364, twelve, true],
      [367, twelve, false],
    ] as const) {
      await context.clock.setFixedTime(start + days * 86_400_000);
      await page.goto(address);
      await page.getByRole('button', { name: holds ? 'Privacy settings' : 'Accept all', exact: true }).waitFor();
      expect({ days, dialogs: await page.getByRole('dialog').count() }).toEqual({ days, dialogs: holds ? 0 : 1 });
    }
  });

  it('has an id later than the last one, also where the clock was set back since', async () => {
    const { page, context } = await widget.visit();
    const start = Date.now();
    await context.clock.setFixedTime(start + 200_000);
    await page.goto(widget.add('/set-back', widget.tag()));
    await click(page, 'Accept all');
    await widget.records(1);
    await context.clock.setFixedTime(start);
    await page.evaluate(() => window.assent?.withdraw());
    const [accepted, withdrawn] = await widget.records(2);
    expect([accepted?.decision, withdrawn?.decision]).toEqual(['accept_all', 'withdraw']);
    expect(Date.parse(withdrawn?.decidedAt ?? '') - Date.parse(accepted?.decidedAt ?? '')).toBe(1);
  });

  it('carries Global Privacy Control, and the rejection is chosen in advance', async () => {
    const signal = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })";
    const { page } = await widget.open(widget.add('/', `<script>${signal}</script>${widget.tag()}`));
    await page.getByText('Global Privacy Control').waitFor();
    await page.keyboard.press('Enter');
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all', gpc: true }]);
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
    const sent: { what: string; body: Record<string, unknown> }[] = [];
    page.context().on('request', (request) => {
      if (request.method() === 'POST')
        sent.push({ what: request.url().replace(/.*\//, ''), body: request.postDataJSON() });
    });
    return sent;
  };
  const short = { name: 'short', settings: { texts: { title: 'In short' }, colors: { button: '#123456' } } };
  const autumn = { id: 'autumn', variants: [{ name: 'plain', share: 0 }, short] };

  it('a variant is shown, recorded, in the notice and with the display, and nothing is stored before', async () => {
    const { page } = await widget.visit();
    const sent = watch(page);
    await page.goto(widget.add('/variant', config({ experiment: autumn }) + widget.tag({ 'data-displays': '' })));
    await page.getByRole('heading', { name: 'In short' }).waitFor();
    await expect.poll(() => sent).toHaveLength(1);
    const body = { bannerVersion: assent.version, variant: 'autumn:short', language: 'en' };
    expect(sent).toEqual([{ what: 'displays', body }]);
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    await click(page, 'Reject all');
    expect(await widget.records(1)).toMatchObject([{ variant: 'autumn:short', notice: expect.any(String) }]);
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Accept all');
    await page.evaluate(() => window.assent?.withdraw());
    const records = await widget.records(3);
    expect(records.map(({ variant }) => variant)).toEqual(['autumn:short', 'autumn:short', null]);
    // where the page's own code decides, nothing was shown
    expect(records[2]?.notice).toBeNull();
    // who has decided is shown no banner, so it is no display and no variant
    await page.reload();
    await click(page, 'Privacy settings');
    await click(page, 'Reject all');
    expect((await widget.records(4))[3]).toMatchObject({ variant: null });
    expect(sent.filter(({ what }) => what === 'displays')).toHaveLength(1);
  });

  it('a page in the background counts as a display once it is looked at, and only where that is asked for', async () => {
    const background = `<script>isAway = true; Object.defineProperty(Document.prototype, 'hidden', { get: () => isAway })</script>`;
    const away = widget.add('/away', background + widget.tag({ 'data-displays': '' }));
    const silent = widget.add('/silent', widget.tag());
    const { page } = await widget.visit.again();
    const sent = watch(page);
    await page.goto(away);
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
    await widget.records(1);
    // browsers tell other tabs a moment later
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    await look();
    await afterwards(page);
    expect(sent.map(({ what }) => what)).toEqual(['displays', 'record']);
  });
});
