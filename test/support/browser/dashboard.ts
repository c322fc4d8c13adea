/** An organization as it may look after some months, and the dashboard opened on it. */
import { randomBytes } from 'node:crypto';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { addDays, dayOf, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { Decision } from '#libs/contract/terms';
import { persist } from '#libs/store/records/persist';
import type { Database } from '#libs/store/sql';
import { createAdministration } from '#libs/store/tenants/administration';
import { tokenFor } from '../client.ts';
import { recordAt } from '../records.ts';
import type { Addresses } from '../service.ts';
import { sharedStack } from '../shared.ts';
import { type Stores, useStores } from '../stack.ts';
import { eventually } from '../wait.ts';
import type { Visitor } from './browser.ts';

export interface Running extends Stores {
  api: Addresses;
}

/** The worker's shared stack: each file makes customers of its own. */
export const useService = (): Running => ({ ...useStores(), api: sharedStack().api });

export interface Customer {
  organizationId: string;
  name: string;
  plan: string;
  token: string;
  domains: { domainId: string; name: string; apiKey: string }[];
}

export async function makeCustomer(
  db: Database,
  options: {
    name?: string;
    domains?: string[];
    consentLog?: boolean;
    monthlyRecordLimit?: number | null;
    plan?: string;
  } = {},
): Promise<Customer> {
  const { name = 'Northwind Outdoor', domains = ['shop.northwind.example'], consentLog = true } = options;
  const admin = createAdministration(db, 'test');
  const plan = options.plan ?? `plan-${randomBytes(4).toString('hex')}`;
  await admin.setPlan(plan, { consentLog, monthlyRecordLimit: options.monthlyRecordLimit ?? null });
  const { organizationId } = await admin.createOrganization(name, plan);
  const made: Customer['domains'] = [];
  for (const domain of domains) {
    const { domainId } = await admin.createDomain(organizationId, { name: domain, origins: [] });
    made.push({ domainId, name: domain, apiKey: (await admin.createKey(domainId)).apiKey });
  }
  return { organizationId, name, plan, token: tokenFor(organizationId), domains: made };
}

const pages = ['/', '/jackets', '/tents/two-person', '/checkout', '/guides/packing', '/sale'];
const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
];

/** The same for the same seed, so that two runs show the same. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const choose = (chance: number): Decision =>
  chance < 0.46 ? 'accept_all' : chance < 0.63 ? 'custom' : chance < 0.96 ? 'reject_all' : 'withdraw';

/** Records of `days` days including today up to now: fewer at weekends, and a little more each week. */
export function history(customer: Customer, days: number, perDay: number): NewRecord[] {
  const chance = seeded(7);
  const now = Date.now();
  const today = dayOf(now);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  return Array.from({ length: days }, (_, index) => addDays(today, index + 1 - days)).flatMap((day, index) => {
    const start = startOf(day);
    const isWeekend = [0, 6].includes(new Date(start).getUTCDay());
    const many = Math.round(perDay * (isWeekend ? 0.62 : 1) * (0.85 + 0.3 * chance()) * (0.75 + (0.5 * index) / days));
    return Array.from({ length: many }, () => start + Math.floor(chance() * 86_400_000))
      .filter((time) => time < now - 1_000)
      .map((time) => {
        const decision = choose(chance());
        const isOn = decision === 'accept_all';
        // more on the first domain than on the last
        const { domainId, name } =
          customer.domains[Math.floor(customer.domains.length * chance() ** 1.7)] ?? pick(customer.domains);
        return recordAt(time, {
          domainId,
          decision,
          visitorId: `v-${Math.floor(chance() * 9e9).toString(36)}`,
          preferences: { analytics: isOn || decision === 'custom', marketing: isOn },
          source: decision === 'withdraw' ? 'preferences' : 'banner',
          bannerVersion: '0.1.0',
          policyVersion: '2026-09',
          language: pick(['en-GB', 'de-DE', 'fr-FR', 'es-ES']),
          pageUrl: `https://${name}${pick(pages)}`,
          country: pick(['DE', 'GB', 'FR', 'ES']),
          ip: `203.0.${Math.floor(chance() * 250)}.0`,
          userAgent: pick(agents),
        });
      });
  });
}

export async function store(db: Database, records: NewRecord[]): Promise<void> {
  for (let at = 0; at < records.length; at += 1_000) {
    await persist(db, records.slice(at, at + 1_000), { owe: true });
  }
}

/** Until the counters in Redis hold all `records`, which are of one customer and at most 30 days old where counted. */
export async function storeCounted(running: Running, customer: Customer, records: NewRecord[]): Promise<void> {
  await store(running.db, records);
  const oldest = addDays(dayOf(Date.now()), -29);
  const recent = records.filter(({ receivedAt }) => receivedAt >= oldest).length;
  await eventually(
    async () => {
      const response = await fetch(`${running.api.baseUrl}/v1/consent/org-stats?limit=1`, {
        headers: { authorization: `Bearer ${customer.token}` },
      });
      const { total }: { total: number } = await response.json();
      const source = response.headers.get('x-stats-source');
      if (source !== 'redis' || total < recent) throw new Error(`${total} of ${recent} from ${source}`);
    },
    { within: 30_000 },
  );
}

/** Opens a page of the dashboard, signed in by the link that a host product would give. Nothing moves that need not. */
export async function open(
  visit: (options?: BrowserContextOptions) => Promise<Visitor>,
  running: Running,
  customer: Pick<Customer, 'token'>,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const visitor = await visit({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options });
  await enter(visitor.page, running, customer, path);
  return visitor;
}

/** Loads the page anew, wherever the tab has been. */
export async function enter(
  page: Page,
  { api }: Pick<Running, 'api'>,
  { token }: Pick<Customer, 'token'>,
  path = '/',
): Promise<void> {
  const isHere = page.url().startsWith(api.baseUrl);
  if (isHere && (await page.evaluate(() => sessionStorage.getItem('assent-token'))) === token) {
    await page.goto(api.baseUrl + path);
    return;
  }
  // with another fragment alone the page would stay as it is
  if (isHere) await page.goto('about:blank');
  await page.goto(`${api.baseUrl}${path}#token=${token}`);
}

/** The large number of a card. */
export const figure = (page: Page, name: string | RegExp) =>
  page
    .locator('section.figure')
    .filter({ has: page.getByRole('heading', { name }) })
    .locator('.figure-value');
