/** An organization as it may look after some months, and the dashboard opened on it. */
import { randomBytes } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import type { Decision } from '#libs/base/terms/terms';
import type { NewRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import type { DomainStats } from '#libs/stats/contract';
import { createAdministration } from '#libs/tenants/administration';
import { type Client, createClient, tokenFor } from '../client.ts';
import { recordAt } from '../records.ts';
import { closeOpenEpoch, deriveFacets } from '../sealing.ts';
import type { Addresses } from '../service.ts';
import { sharedStack } from '../shared.ts';
import { type Stores, useStores } from '../stack.ts';
import { eventually } from '../wait.ts';
import { useBrowser, type Visit, type Visitor } from './browser.ts';
import { seeded } from './seeded.ts';

export interface Customer {
  organizationId: string;
  name: string;
  plan: string;
  token: string;
  domains: { domainId: string; name: string; apiKey: string }[];
}

interface CustomerOptions {
  name?: string;
  domains?: string[];
  consentLog?: boolean;
  monthlyRecordLimit?: number | null;
  plan?: string;
}

async function makeCustomer(db: Database, options: CustomerOptions = {}): Promise<Customer> {
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
  // for as long as a file may take
  const token = tokenFor(organizationId, { exp: Math.floor(Date.now() / 1_000) + 3_600 });
  return { organizationId, name, plan, token, domains: made };
}

/** `site-1.example` and so on, which have no keys. */
export const addSites = (db: Database, { organizationId }: Customer, count: number): Promise<unknown> =>
  db.run(
    (sql) => sql`
      insert into domains (id, organization_id, name, origins)
      select ${`${organizationId}-`} || each, ${organizationId}, 'site-' || each || '.example', '{}'
      from generate_series(1, ${count}::int) as each`,
  );

const pages = ['/', '/jackets', '/tents/two-person', '/checkout', '/guides/packing', '/sale'];
/** a computer's and a phone's, and another computer's */
export const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
] as const;

/** Records of `days` days, `perDay` on each, including today up to now. */
export function history(customer: Customer, days: number, perDay: number): NewRecord[] {
  const chance = seeded(7);
  const now = Date.now();
  const first = startOf(addDays(dayOf(now), 1 - days));
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  return Array.from(
    { length: days * perDay },
    (_, index) => first + (Math.floor(index / perDay) + chance()) * 86_400_000,
  )
    .filter((time) => time < now - 1_000)
    .map((time) => {
      const decision = pick<Decision>(['accept_all', 'accept_all', 'custom', 'reject_all', 'withdraw']);
      const isOn = decision === 'accept_all';
      const { domainId, name } = pick(customer.domains);
      return recordAt(Math.floor(time), {
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
}

async function store(db: Database, records: NewRecord[]): Promise<void> {
  for (let at = 0; at < records.length; at += 1_000) {
    await persist(db, records.slice(at, at + 1_000), { owe: true });
  }
}

type Who = Pick<Customer, 'token'>;

/** The dashboard of the file's stack, with customers of the file's own, for visitors of `visit`. */
export interface Dashboard extends Stores {
  visit: Visit;
  api: Addresses;
  customer(options?: CustomerOptions): Promise<Customer>;
  client(customer: Customer): Client;
  /** What another person who manages the customer asks of the service, below `/v1/organization`. */
  manage<Body>(customer: Customer, path: string, init?: RequestInit): Promise<Body>;
  store(records: NewRecord[]): Promise<void>;
  /** Until the counters in Redis hold all `records`, which are of one customer and at most 30 days old where counted. */
  storeCounted(customer: Customer, records: NewRecord[]): Promise<void>;
  /** Until groups and rates hold so many records of the customer, of the last year; the worker would take a minute. */
  grouped(customer: Customer, records: number): Promise<void>;
  /** The regular visitor, in whose tab nothing is loaded yet. */
  regular(options?: BrowserContextOptions): Promise<Visitor>;
  /** A page in that tab, signed in by the link that a host product would give. */
  open(who: Who, path?: string, options?: BrowserContextOptions): Promise<Visitor>;
  /** Reloads the page from any state of the tab. */
  enter(page: Page, who: Who, path?: string): Promise<void>;
}

/** Pages ask again twice as soon: tests wait for that. How soon they ask by their own clock, the tests with one say. */
const hasten = (context: BrowserContext) =>
  context.addInitScript(() => {
    const { setTimeout } = window;
    // what a page waits for is longer, what its movements take is shorter
    const hastened = (work: TimerHandler, delay = 0, ...given: unknown[]) =>
      setTimeout(work, delay >= 500 && delay <= 2_000 ? delay / 2 : delay, ...given);
    Object.assign(window, { setTimeout: hastened });
  });

/** Figures are those of UTC days: right before midnight a test would wait for figures of a day that is over. */
const isWithinOneDay = () =>
  eventually(() => expect(Date.now() % 86_400_000).toBeLessThan(86_400_000 - 30_000), { within: 60_000 });

/** `own`: what is not that of the worker's shared stack. */
export function useDashboard(own: Partial<Pick<Dashboard, 'db' | 'sql' | 'env' | 'api'>> = {}): Dashboard {
  const visit = useBrowser(hasten);
  beforeEach(isWithinOneDay);
  const desk = { viewport: { width: 1440, height: 900 } };
  const dashboard: Dashboard = {
    ...useStores(),
    api: sharedStack().api,
    ...own,
    visit,
    customer: (options) => makeCustomer(dashboard.db, options),
    client: (customer) => createClient(dashboard.api.baseUrl, customer),
    manage: async (customer, path, init) => {
      const { token } = managerOf(customer, { sub: 'noor@northwind.example' });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${dashboard.api.baseUrl}/v1/organization${path}`, { ...init, headers });
      return response.json();
    },
    store: (records) => store(dashboard.db, records),
    storeCounted: async (customer, records) => {
      await dashboard.store(records);
      await eventually(async () => {
        const oldest = addDays(dayOf(Date.now()), -29);
        const recent = records.filter(({ receivedAt }) => receivedAt >= oldest).length;
        const { headers, body } = await dashboard.client(customer).orgStats('limit=1');
        const source = headers.get('x-stats-source');
        if (source !== 'redis' || body.total < recent) throw new Error(`${body.total} of ${recent} from ${source}`);
      });
    },
    grouped: async (customer, records) => {
      await closeOpenEpoch(dashboard.db);
      const query = `from=${addDays(dayOf(Date.now()), -365)}&to=${dayOf(Date.now())}&by=source`;
      await eventually(async () => {
        await deriveFacets(dashboard.db);
        const { groups = [], bots = 0 } = await dashboard.manage<DomainStats>(customer, `/stats?${query}`);
        expect(groups.reduce((all, group) => all + ('total' in group ? group.total : 0), bots)).toBe(records);
      });
    },
    regular: (options) => visit.again({ ...desk, ...options }),
    open: async (who, path, options) => {
      const visitor = await dashboard.regular(options);
      await dashboard.enter(visitor.page, who, path);
      return visitor;
    },
    enter: async (page, { token }, path = '/') => {
      // with another fragment alone the page would stay as it is
      if (page.url().startsWith(dashboard.api.baseUrl)) await page.goto('about:blank');
      await page.goto(`${dashboard.api.baseUrl}${path}#token=${token}`);
    },
  };
  return dashboard;
}

/** Opens another address of the dashboard as a link in it would, without a reload. */
export const go = (page: Page, path: string): Promise<void> =>
  page.evaluate((address) => {
    window.history.pushState(null, '', address);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);

/** The card of a large number. */
export const figureCard = (page: Page, name: string | RegExp) =>
  page.locator('section.figure').filter({ has: page.getByRole('heading', { name }) });
/** The number itself. */
export const figure = (page: Page, name: string | RegExp) => figureCard(page, name).locator('.figure-value');

/** What somebody signs in with who may also manage the organization. */
export const managerOf = ({ organizationId }: Pick<Customer, 'organizationId'>, claims: object = {}): Who => ({
  token: tokenFor(organizationId, { scope: 'read manage', ...claims }),
});

/** As an English visitor reads them. */
export const count = (value: number): string => new Intl.NumberFormat('en-GB').format(value);
export const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;

export const queryOf = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams);

/** Follows a link with a token, in the page that is open. */
export const follow = (page: Page, token: string): Promise<void> =>
  page.evaluate((given) => {
    location.hash = `token=${given}`;
  }, token);
