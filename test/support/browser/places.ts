/** Visitors in different places, as a proxy in front of the service reports them. */
import type { BrowserContext, Page } from 'playwright-core';
import { type Stack, type StackWithApi, useStackWithApi } from '../stack.ts';
import { config } from './site.ts';
import type { Widget } from './widget.ts';

const headers = { COUNTRY_HEADER: 'x-country', REGION_HEADER: 'x-region', REGION_COUNTRIES: 'US,CA' };
export const usePlaces = (): Promise<StackWithApi> => useStackWithApi({ env: { ...headers, TRUSTED_PROXY_HOPS: '1' } });

export const regions = [
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
export const signal = '<script>Object.defineProperty(navigator, "globalPrivacyControl", { value: true })</script>';
export const settingsOfPlaces = { regions, policyVersion: '1', policyUrl: '/privacy', displays: true };

/** Logs what runs and the widget's events in `seen`. */
const noted = (body: string): [head: string, body: string] => [note, body + scripts];

/** A page that asks different questions in different places. */
export const placed = (widget: Pick<Widget<Stack>, 'add' | 'tag'>) => {
  const [head, body] = noted('<h1>A page</h1>');
  return (path: string, more = '', given: object = {}) => {
    const settings = config({ ...settingsOfPlaces, ...given });
    return widget.add(path, head + more + settings + widget.tag(), body);
  };
};

export const places = {
  Berlin: { 'x-country': 'DE' },
  London: { 'x-country': 'GB' },
  'Los Angeles': { 'x-country': 'US', 'x-region': 'CA' },
  Montreal: { 'x-country': 'CA', 'x-region': 'QC' },
  Singapore: { 'x-country': 'SG' },
  nowhere: {},
};
/** A proxy adds them: what a browser itself sent across origins would be refused. */
export async function go(context: BrowserContext, place: keyof typeof places): Promise<void> {
  await context.unrouteAll();
  await context.route('**/v1/consent/**', (route) =>
    route.continue({ headers: { ...route.request().headers(), ...places[place] } }),
  );
}

export const googles = (page: Page) =>
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
export const notice = (page: Page) => page.getByText('You can opt out of those that are not necessary');
export const honored = (page: Page) => page.getByRole('status').filter({ hasText: 'Opt-out request honored' });
export const choices = (page: Page) => page.getByRole('button', { name: 'Your Privacy Choices' });
/** What is on the page, once the place is known. */
export async function shownOn(page: Page): Promise<string[]> {
  await page.waitForFunction(() => window.seen?.includes('necessary'));
  const all = {
    dialog: page.getByRole('dialog'),
    notice: notice(page),
    honored: honored(page),
    button: page.locator('.reopen'),
  };
  const shown: string[] = [];
  for (const [name, each] of Object.entries(all)) if (await each.isVisible()) shown.push(name);
  return shown;
}
