/** What is asked where, as the service sees where the visitor is. */
import type { BrowserContext, Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hold, step, stopClock } from '../support/browser/browser.ts';
import { violations } from '../support/browser/look.ts';
import { config } from '../support/browser/site.ts';
import { treeOf } from '../support/browser/tree.ts';
import { consentIn, documentOf, kept, useWidget } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';

const headers = { COUNTRY_HEADER: 'x-country', REGION_HEADER: 'x-region', REGION_COUNTRIES: 'US,CA' };

describe('regions', () => {
  const widget = useWidget(() => useStackWithApi({ env: { ...headers, TRUSTED_PROXY_HOPS: '1' } }));

  const regions = [
    { in: ['CA-QC', 'EEA', 'CH'], model: 'opt_in' },
    { in: ['GB'], model: 'opt_in', on: ['analytics'], maxAgeMonths: 6 },
    { in: ['US-CA'], model: 'opt_out' },
    { in: ['SG'], model: 'none' },
    { in: '*', model: 'opt_in' },
  ];
  const scripts = ['necessary', 'analytics', 'marketing']
    .map((id) => `<script type="text/plain" data-assent="${id}">seen.push('${id}')</script>`)
    .join('');
  const note = `<script>seen = []; for (const name of ['ready', 'change'])
    document.addEventListener('assent:' + name, () => seen.push(name))</script>`;
  const signal = '<script>Object.defineProperty(navigator, "globalPrivacyControl", { value: true })</script>';
  const add = (path: string, head = '', given: object = {}) =>
    widget.add(
      path,
      `${note}${head}${config({ regions, policyVersion: '1', policyUrl: '/privacy', displays: true, ...given })}${widget.tag()}`,
      `<h1>A page</h1>${scripts}`,
    );
  const places = {
    Berlin: { 'x-country': 'DE' },
    London: { 'x-country': 'GB' },
    'Los Angeles': { 'x-country': 'US', 'x-region': 'CA' },
    Montreal: { 'x-country': 'CA', 'x-region': 'QC' },
    Singapore: { 'x-country': 'SG' },
    nowhere: {},
  };
  /** A proxy adds them: what a browser itself sent across origins would be refused. */
  const go = async (context: BrowserContext, place: keyof typeof places) => {
    await context.unrouteAll();
    await context.route('**/v1/consent/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), ...places[place] } }),
    );
  };

  const googles = (page: Page) =>
    page.evaluate(() => {
      const states: Record<string, string>[] = [];
      for (const entry of window.dataLayer ?? []) {
        const [command, which, types] = Array.from(entry as ArrayLike<unknown>);
        if (command === 'consent') states.push({ which: String(which), ...(types as Record<string, string>) });
      }
      const events = (window.dataLayer ?? []).flatMap((entry) => {
        const { event, model, allowed } = entry as { event?: string; model?: string; allowed?: string[] };
        return event ? [`${event} ${model} ${allowed}`] : [];
      });
      const now = states.at(-1);
      return { first: states[0], now: `${now?.analytics_storage} ${now?.ad_storage}`, event: events.at(-1) };
    });
  const notice = (page: Page) => page.getByText('You can opt out of those that are not necessary');
  const honored = (page: Page) => page.getByRole('status').filter({ hasText: 'Opt-out request honored' });
  const choices = (page: Page) => page.getByRole('button', { name: 'Your Privacy Choices' });
  /** What is on the page, once the visitor would see it. */
  const look = async (page: Page) => {
    await page.waitForFunction(() => window.seen?.includes('necessary'));
    const some = page.locator('assent-widget').getByRole('button').first();
    const isNone = await page.evaluate(() => window.dataLayer?.some((each) => (each as { model?: string }).model === 'none'));
    if (!isNone) await some.waitFor();
    const all = { dialog: page.getByRole('dialog'), notice: notice(page), honored: honored(page), button: page.locator('.reopen') };
    const shown: string[] = [];
    for (const [name, each] of Object.entries(all)) if (await each.isVisible()) shown.push(name);
    return shown;
  };

  const everything = ['necessary', 'analytics', 'marketing'];
  it.each<[keyof typeof places, boolean, { shown: string[]; later?: string[]; runs: string[]; now: string; model: string; records: object[] }]>([
    ['Berlin', false, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
    ['London', false, { shown: ['dialog'], runs: ['necessary', 'analytics'], now: 'granted denied', model: 'opt_in', records: [] }],
    ['London', true, { shown: ['dialog'], runs: ['necessary'], now: 'denied denied', model: 'opt_in', records: [] }],
    ['Los Angeles', false, { shown: ['notice', 'button'], runs: everything, now: 'granted granted', model: 'opt_out', records: [] }],
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
        expect(await look(page)).toEqual(shown);
        const seen = await page.evaluate(() => window.seen);
        expect(seen?.filter((each) => everything.includes(String(each)))).toEqual(runs);
        expect(seen?.indexOf('ready')).toBeLessThan(seen?.indexOf('necessary') ?? 0);
        const google = await googles(page);
        expect(google.first).toMatchObject({ which: 'default', analytics_storage: 'denied', ad_storage: 'denied' });
        expect(google).toMatchObject({ now, event: `assent_ready ${model} ${runs}` });
        expect(await page.evaluate(() => ['marketing', 'constructor'].map((id) => window.assent?.isAllowed(id)))).toEqual([
          runs.includes('marketing'),
          false,
        ]);
        expect(await widget.records(records.length)).toMatchObject(records);
      });
    expect(displays.length).toBe(shown.includes('dialog') ? 2 : 0);
    expect(messages.filter((message) => /^(uncaught|warning)/.test(message))).toEqual([]);
  });
});
