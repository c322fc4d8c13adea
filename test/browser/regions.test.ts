/** What is asked where, as the service sees where the visitor is. */
import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hold, step, stopClock } from '../support/browser/browser.ts';
import { look } from '../support/browser/look.ts';
import { go, googles, notice, placed, type places, shownOn, signal, usePlaces } from '../support/browser/places.ts';
import { treeOf } from '../support/browser/tree.ts';
import { consentIn, kept, useWidget } from '../support/browser/widget.ts';

describe('regions', () => {
  const widget = useWidget(usePlaces);
  const add = (...page: [string, string?, object?]) => placed(widget)(...page);

  const everything = ['necessary', 'analytics', 'marketing'];
  it.each<
    [
      keyof typeof places,
      boolean,
      { shown: string[]; later?: string[]; runs: string[]; now: string; model: string; records: object[] },
    ]
  >([
    ['Berlin', false, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
    [
      'London',
      false,
      { shown: ['dialog'], runs: ['necessary', 'analytics'], now: 'granted denied', model: 'opt_in', records: [] },
    ],
    ['London', true, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
    [
      'Los Angeles',
      false,
      { shown: ['notice', 'button'], runs: everything, now: 'granted granted', model: 'opt_out', records: [] },
    ],
    [
      'Los Angeles',
      true,
      {
        shown: ['honored', 'button'],
        runs: ['necessary'],
        now: 'denied denied',
        model: 'opt_out',
        records: [
          {
            ...{ decision: 'reject_all', source: 'gpc', model: 'opt_out', country: 'US', region: 'US-CA', gpc: true },
            ...{ ip: null, userAgent: null, pageUrl: null, metadata: null, notice: null, policyVersion: '1' },
            preferences: { analytics: false, marketing: false },
          },
        ],
      },
    ],
    ['Montreal', false, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
    ['Singapore', false, { shown: [], runs: everything, now: 'granted granted', model: 'none', records: [] }],
    ['nowhere', false, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
  ])('%s, with a signal: %s', async (place, hasSignal, { shown, runs, now, model, records }) => {
    const { page, context, messages } = await widget.visit();
    await go(context, place);
    const address = add('/', hasSignal ? signal : '', { metadata: { shop: 'north' } });
    const displays: string[] = [];
    page.on('request', (request) => request.url().endsWith('/displays') && displays.push(request.url()));
    for (const which of ['first', 'later'])
      await step(which, async () => {
        await page.goto(address);
        await expect.poll(() => shownOn(page)).toEqual(shown);
        const seen = await page.evaluate(() => window.seen);
        expect(seen?.filter((each) => everything.includes(String(each)))).toEqual(runs);
        expect(seen?.indexOf('ready')).toBeLessThan(seen?.indexOf('necessary') ?? 0);
        const google = await googles(page);
        expect(google.first).toMatchObject({ which: 'default', analytics_storage: 'denied', ad_storage: 'denied' });
        expect(google).toMatchObject({ now, event: `assent_ready ${model} ${runs}` });
        expect(
          await page.evaluate(() => ['marketing', 'constructor'].map((id) => window.assent?.isAllowed(id))),
        ).toEqual([runs.includes('marketing'), false]);
        expect(await widget.records(records.length)).toMatchObject(records);
      });
    expect(displays.length).toBe(shown.includes('dialog') ? 2 : 0);
    expect(messages.filter((message) => /^(uncaught|warning)/.test(message))).toEqual([]);
  });

  it.each<[string, (route: Route) => unknown]>([
    ['a page', (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' })],
    ['an error', (route) => route.fulfill({ status: 500, json: { country: 'US', region: 'US-CA' } })],
    ['blocked', (route) => route.abort()],
    ['null', (route) => route.fulfill({ json: null })],
    ['something else', (route) => route.fulfill({ json: { country: 1, region: ['US-CA'] } })],
  ])('where the answer is %s, the visitor is asked', async (_, response) => {
    const { page, context, messages } = await widget.visit();
    await context.route('**/place', response);
    await page.goto(add('/'));
    await expect.poll(() => shownOn(page)).toEqual(['dialog']);
    expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it.each<[string, unknown]>([
    [
      'a code in lower case',
      [
        { in: ['us-ca'], model: 'opt_out' },
        { in: '*', model: 'none' },
      ],
    ],
    [
      'a text',
      [
        { in: 'US-CA', model: 'opt_out' },
        { in: '*', model: 'none' },
      ],
    ],
    ['every place in a list', [{ in: ['*'], model: 'none' }]],
    [
      'no model',
      [
        { in: ['FR'], model: 'opt-in' },
        { in: '*', model: 'none' },
      ],
    ],
    ['no rule', [null, { in: '*', model: 'none' }]],
  ])('where a rule has %s, the visitor is asked, and the console says why', async (_, rules) => {
    const { page, context, messages } = await widget.visit();
    await go(context, 'Los Angeles');
    await page.goto(add('/', '', { regions: rules }));
    await expect.poll(() => shownOn(page)).toEqual(['dialog']);
    expect(messages.filter((message) => message.startsWith('warning: assent: regions are ignored'))).toHaveLength(1);
  });

  it('nothing is shown, run or told before the answer, for a second at most; a later one changes nothing', async () => {
    const { page, context } = await widget.visit();
    await go(context, 'Los Angeles');
    await context.clock.install();
    await stopClock(context);
    const address = add('/');
    for (const file of ['**/place', '**/assent-extras-*.js'])
      await step(file, async () => {
        const release = await hold(page, file);
        const asked = page.waitForRequest(file);
        await page.goto(address, { waitUntil: 'domcontentloaded' });
        await asked;
        await page.waitForFunction(() => window.dataLayer);
        await page.evaluate(() => window.assent?.open());
        await context.clock.runFor(990);
        expect(await page.evaluate(() => window.seen)).toEqual([]);
        expect(await page.locator('assent-widget').getByRole('button').count()).toBe(0);
        await context.clock.runFor(10);
        // what the page's own code called for comes now
        await page.locator('dialog:modal').waitFor();
        const arrived = page.waitForResponse(file);
        release();
        await (await arrived).finished();
        expect(await page.evaluate(() => window.seen)).toEqual(['ready', 'necessary']);
        expect(await googles(page)).toMatchObject({ now: 'denied denied', event: 'assent_ready opt_in necessary' });
        await page.unroute(file);
      });
  });

  it('the notice is no dialog; closing it is no decision, and kept until the policy changes', async () => {
    const { page, context } = await widget.visit();
    const session = await context.newCDPSession(page);
    await go(context, 'Los Angeles');
    await page.goto(add('/'));
    await notice(page).waitFor();
    expect(await page.evaluate(() => document.activeElement?.localName)).toBe('body');
    expect(`\n${(await treeOf(session)).join('\n')}\n`).toBe(`
RootWebArea "A page" focused=true
  main
    heading "A page" level=1
  region "Your Privacy Choices"
    button "Your Privacy Choices"
      image
  paragraph
    StaticText "This site uses cookies and similar technologies. You can opt out of those that are not necessary at any time."
    StaticText " "
    link "Privacy policy"
  button "Your Privacy Choices"
  button "Close"
  status
`);
    await look(page, 'place-notice');
    await click(page, 'Close');
    await notice(page).waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.ariaLabel)).toBe(
      'Your Privacy Choices',
    );
    expect(await kept(page, 'told')).toEqual(['1']);
    await page.reload();
    await expect.poll(() => shownOn(page)).toEqual(['button']);
    await page.goto(add('/', '', { policyVersion: '2' }));
    await expect.poll(() => shownOn(page)).toEqual(['notice', 'button']);
    await page.evaluate(() => window.assent?.setLanguage('de'));
    await page.getByText('Denen, die nicht notwendig sind, können Sie jederzeit widersprechen.').waitFor();
    expect([await consentIn(page), await widget.records(0)]).toEqual([null, []]);
  });
});
