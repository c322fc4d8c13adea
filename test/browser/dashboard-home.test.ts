import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/contract/calendar';
import { createAdministration } from '#libs/store/tenants/administration';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  figure,
  history,
  makeCustomer,
  open,
  type Running,
  storeCounted,
  useService,
} from '../support/browser/dashboard.ts';
import { createClient } from '../support/client.ts';
import { recordAt } from '../support/records.ts';
import { eventually } from '../support/wait.ts';

const count = (value: number) => new Intl.NumberFormat('en-GB').format(value);
const share = (value: number) =>
  new Intl.NumberFormat('en-GB', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(
    value,
  );

describe('the home page of the dashboard', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, {
      domains: Array.from({ length: 200 }, (_, index) => `site-${index}.example`),
      monthlyRecordLimit: 100_000,
    });
    await storeCounted(running, customer, history(customer, 40, 80));
  }, 120_000);

  const home = async (who: Customer = customer) => {
    const visitor = await open(visit.again, running, who);
    await visitor.page.getByRole('heading', { name: 'Overview' }).waitFor();
    return visitor;
  };
  const stats = async () => (await createClient(running.api.baseUrl, customer).orgStats('limit=1')).body;
  const reader = (page: Page) => page.getByRole('slider', { name: /read one day/ });

  it('has the figures that the endpoints have', async () => {
    const { page } = await home();
    const { total, breakdown, daily } = await stats();
    expect(await figure(page, 'Decisions').textContent()).toBe(count(total));
    expect(await figure(page, 'Withdrawals').textContent()).toBe(count(breakdown.withdraw));
    const asked = total - breakdown.withdraw;
    expect(await figure(page, 'Opt-in rate').textContent()).toBe(
      share((breakdown.accept_all + breakdown.custom) / asked),
    );
    const row = page.getByRole('row', { name: /Rejected all/ });
    expect(await row.textContent()).toContain(count(breakdown.reject_all) + share(breakdown.reject_all / total));

    const rate = (days: typeof daily) => {
      const sum = (name: 'accept_all' | 'custom' | 'reject_all') => days.reduce((all, each) => all + each[name], 0);
      const allowed = sum('accept_all') + sum('custom');
      return allowed / (allowed + sum('reject_all'));
    };
    const change = (rate(daily.slice(-7)) - rate(daily.slice(-14, -7))) * 100;
    const words = new Intl.NumberFormat('en-GB', {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
      signDisplay: 'exceptZero',
    }).format(change);
    await page.getByText(`${words} points`).waitFor();
    await page.getByText('last 7 days against the 7 before').waitFor();

    const organization = (await createClient(running.api.baseUrl, customer).organization()).body;
    expect(await figure(page, /Usage/).textContent()).toBe(count(organization.usage.used));
    await page.getByText(/of 100,000 records/).waitFor();
  });

  it('the chart is read by keyboard, by pointer and as a table, and all say the same', async () => {
    const { page } = await home();
    const { daily } = await stats();
    const spoken = () => reader(page).getAttribute('aria-valuetext');
    await reader(page).focus();
    expect(await spoken()).toContain(`${count(daily.at(-1)?.total ?? -1)} decisions`);
    await page.keyboard.press('ArrowLeft');
    const yesterday = daily.at(-2);
    expect(await spoken()).toContain(`${count(yesterday?.total ?? -1)} decisions`);
    expect(await spoken()).toContain(`Rejected all ${count(yesterday?.reject_all ?? -1)}`);
    await page.keyboard.press('Home');
    expect(await spoken()).toContain(`${count(daily[0]?.total ?? -1)} decisions`);
    await page.locator('.tip').waitFor();
    await reader(page).blur();
    await page.locator('.tip').waitFor({ state: 'detached' });

    const box = await page.locator('.chart-plot').boundingBox();
    if (!box) throw new Error('no chart');
    await page.mouse.move(box.x + box.width * (10.5 / 30), box.y + 100);
    expect(await page.locator('.tip-sum dd').textContent()).toBe(count(daily[10]?.total ?? -1));

    await page.getByText('Show as a table').click();
    const rows = page.getByRole('table', { name: 'Decisions by day, last 30 days' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(30);
    expect(await rows.nth(1).textContent()).toContain(count(yesterday?.accept_all ?? -1));
  });

  it('on a phone the domains come before the stream that goes on, and a tap reads the chart', async () => {
    const { page } = await open(visit, running, customer, '/', {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const domains = await page.getByRole('navigation', { name: 'Domains' }).boundingBox();
    const stream = await page.locator('.stream').boundingBox();
    expect(domains?.y).toBeLessThan(stream?.y ?? 0);
    const { daily } = await stats();
    const plot = page.locator('.chart-plot');
    const width = (await plot.boundingBox())?.width ?? 0;
    await plot.tap({ position: { x: width * (10.5 / 30), y: 100 } });
    expect(await page.locator('.tip-sum dd').textContent()).toBe(count(daily[10]?.total ?? -1));
    await page.getByRole('heading', { name: 'Decisions by day' }).tap();
    await page.locator('.tip').waitFor({ state: 'detached' });
  });

  it('the chart sticks out of nothing while the screen has become narrower and it is not yet drawn anew', async () => {
    const { page } = await home();
    const tooWide = await page.locator('.chart-plot').evaluate((plot: HTMLElement) => {
      plot.style.width = `${plot.clientWidth / 2}px`;
      return plot.scrollWidth - plot.clientWidth;
    });
    expect(tooWide).toBe(0);
  });

  it('the stream goes on to the last record of the 7 days, each once', async () => {
    const { page } = await home();
    const { recordsTotal } = await stats();
    expect(recordsTotal).toBeGreaterThan(200);
    const rows = page.locator('.stream-row');
    await rows.first().waitFor();
    expect(await rows.count()).toBeLessThan(recordsTotal);
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, 20_000);
          return rows.count();
        },
        { timeout: 30_000 },
      )
      .toBe(recordsTotal);
    await page.getByText('No older records in the last 7 days.').waitFor();
    const times = await rows
      .locator('time')
      .evaluateAll((all) => all.map((each) => each.getAttribute('datetime') ?? ''));
    expect(times).toEqual([...times].sort().reverse());
    await rows
      .last()
      .getByRole('button', { name: /Details/ })
      .click();
    await page.getByRole('dialog').getByText('Policy version').waitFor();
  });

  it('one of 200 domains is found by a few letters, with the keyboard alone', async () => {
    const { page } = await home();
    await page.getByRole('button', { name: 'Domains' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('site-173');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'site-173.example' }).waitFor();
    await eventually(async () => expect(await page.evaluate(() => document.activeElement?.localName)).toBe('h1'));
    expect(await page.title()).toBe('site-173.example · Assent');
    expect(await page.getByRole('searchbox').count()).toBe(0);
    // Enter alone takes the first that is found
    await page.getByRole('button', { name: /site-173/ }).click();
    await page.keyboard.type('site-42', { delay: 60 });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'site-42.example' }).waitFor();
    expect(await page.getByRole('searchbox').count()).toBe(0);
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Domains' }).click();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').count()).toBe(0);
  });

  it('an organization without decisions shows what to paste, and the first decision without a reload', async () => {
    const empty = await makeCustomer(running.db, { domains: ['new.example'] });
    const [domain] = empty.domains;
    const { page } = await home(empty);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    await page.getByRole('link', { name: 'Set up the banner' }).waitFor();
    expect(await page.getByText('curl').isVisible()).toBe(false);
    await page.getByText('For developers').click();
    await page.getByText('curl').waitFor();
    expect(await page.getByLabel('The tag').last().textContent()).toContain(`data-domain="${domain?.domainId}"`);
    expect(await page.locator('section.figure').filter({ hasText: 'Decisions' }).count()).toBe(0);
    const curl = (await page.getByLabel('By hand').last().textContent()) ?? '';
    const address = /'(http[^']*)'/.exec(curl)?.[1] ?? '';
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': domain?.apiKey ?? '' },
      body: /-d '(.*)'/.exec(curl)?.[1] ?? '',
    });
    expect(response.status).toBe(202);
    await expect.poll(() => figure(page, 'Decisions').textContent()).toBe('1');
    await page.locator('.stream-row').getByText('Accepted all').waitFor();
  });

  it('an organization without domains shows how to make one, and the domain once it is there', async () => {
    const bare = await makeCustomer(running.db, { domains: [] });
    const { page } = await home(bare);
    await page.getByRole('heading', { name: 'Add the first domain' }).waitFor();
    expect(await page.getByLabel('Command line').last().textContent()).toContain(bare.organizationId);
    await createAdministration(running.db, 'test').createDomain(bare.organizationId, {
      name: 'first.example',
      origins: [],
    });
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
  });

  it('a limit that is reached is told beside the usage', async () => {
    const small = await makeCustomer(running.db, { monthlyRecordLimit: 3 });
    const domainId = small.domains[0]?.domainId ?? '';
    const now = Date.now();
    await storeCounted(
      running,
      small,
      [0, 1, 2, 3].map((index) => recordAt(now - index, { domainId, visitorId: 'v' })),
    );
    const { page } = await home(small);
    expect(await figure(page, /Usage/).textContent()).toBe('4');
    await page.getByText(/Limit reached: until 1 .* the log shows only its newest 10 records/).waitFor();
    // the stream has only what every plan may see
    await page.locator('.stream-row').first().waitFor();
    expect(await page.locator('.stream-row').getByRole('button').count()).toBe(0);
  });

  it('a plan without the log says so beside the stream, and promises none of the log at its limit', async () => {
    const basic = await makeCustomer(running.db, { consentLog: false, monthlyRecordLimit: 2 });
    const domainId = basic.domains[0]?.domainId ?? '';
    const now = Date.now();
    await storeCounted(
      running,
      basic,
      [0, 1, 2].map((index) => recordAt(now - index, { domainId, visitorId: 'v-hidden' })),
    );
    const { page } = await home(basic);
    await page.locator('.stream-row').first().waitFor();
    const stream = page.locator('.stream');
    await stream
      .getByText('Your plan does not include the log. Records show their time, decision and domain.')
      .waitFor();
    expect(await stream.getByRole('button').count()).toBe(0);
    expect(await stream.textContent()).not.toContain('v-hidden');
    const usage = page.locator('section.figure').filter({ has: page.getByRole('heading', { name: /Usage/ }) });
    expect(await usage.locator('.figure-note').last().textContent()).toBe('Limit reached. Recording continues.');
    expect(await page.getByText('newest 10 records').count()).toBe(0);
  });

  it('a period without opt-ins has no rate instead of a wrong zero', async () => {
    const only = await makeCustomer(running.db);
    const domainId = only.domains[0]?.domainId ?? '';
    const day = addDays(dayOf(Date.now()), -3);
    await storeCounted(running, only, [recordAt(startOf(day) + 1, { domainId, decision: 'withdraw' })]);
    const { page } = await home(only);
    expect(await figure(page, 'Opt-in rate').textContent()).toBe('–');
    await page.getByText('Nothing to compare with').waitFor();
  });

  it('writes numbers and dates as the visitor does', async () => {
    const { page } = await open(visit, running, customer, '/', { locale: 'de-DE' });
    const { total } = await stats();
    await figure(page, 'Decisions').waitFor();
    expect(await figure(page, 'Decisions').textContent()).toBe(new Intl.NumberFormat('de-DE').format(total));
    expect(await figure(page, 'Opt-in rate').textContent()).toMatch(/^\d\d,\d\s%$/);
  });
});
