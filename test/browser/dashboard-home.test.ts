import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf, startOf } from '#libs/base/terms/calendar';
import { createAdministration } from '#libs/tenants/administration';
import { crumb, hasFocus, step } from '../support/browser/browser.ts';
import {
  addSites,
  type Customer,
  count,
  figure,
  figureCard,
  follow,
  go,
  history,
  managerOf,
  oneDecimal,
  queryOf,
  useDashboard,
} from '../support/browser/dashboard.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';

const share = (value: number) => new Intl.NumberFormat('en-GB', { style: 'percent', ...oneDecimal }).format(value);

const dashboard = useDashboard();

const customer = await dashboard.customer({ monthlyRecordLimit: 100_000 });
await addSites(dashboard.db, customer, 200);
const records = history(customer, 30, 48);
/** Of a domain that is silent by now, and in no page of 20 by name. */
const fortyDaysAgo = startOf(addDays(dayOf(Date.now()), -40));
const silent = [1, 2, 3].map((second) =>
  recordAt(fortyDaysAgo + second * 1_000, { domainId: `${customer.organizationId}-173` }),
);
await dashboard.storeCounted(customer, [...records, ...silent]);
await dashboard.grouped(customer, records.length + silent.length);

describe('the home page of the dashboard', () => {
  const home = async (who: Pick<Customer, 'token'> = customer, options = {}) => {
    const visitor = await dashboard.open(who, '/', options);
    await visitor.page.getByRole('heading', { name: 'Overview' }).waitFor();
    return visitor;
  };
  const stats = async () => (await dashboard.client(customer).orgStats('limit=1')).body;

  it('has the figures that the endpoints have, and its chart and its stream are read to the end', async () => {
    const { page } = await home();
    const { total, breakdown, daily, recordsTotal } = await stats();
    expect(await figure(page, 'Decisions').textContent()).toBe(count(total));
    expect(await figure(page, 'Withdrawals').textContent()).toBe(count(breakdown.withdraw));
    const asked = total - breakdown.withdraw;
    const optInRate = share((breakdown.accept_all + breakdown.custom) / asked);
    await figure(page, 'Opt-in rate').getByText(optInRate, { exact: true }).waitFor();
    const row = page.getByRole('row', { name: /Rejected all/ });
    expect(await row.textContent()).toContain(count(breakdown.reject_all) + share(breakdown.reject_all / total));

    const rate = (days: typeof daily) => {
      const sum = (of: 'accept_all' | 'custom' | 'reject_all') => days.reduce((all, each) => all + each[of], 0);
      const allowed = sum('accept_all') + sum('custom');
      return allowed / (allowed + sum('reject_all'));
    };
    const change = (rate(daily.slice(-7)) - rate(daily.slice(-14, -7))) * 100;
    const words = new Intl.NumberFormat('en-GB', { signDisplay: 'exceptZero', ...oneDecimal }).format(change);
    await page.getByText(`${words.replace('-', '−')} points`).waitFor();
    await page.getByText('last 7 days vs. the 7 before').waitFor();

    const organization = (await dashboard.client(customer).organization()).body;
    expect(await figure(page, /Usage/).textContent()).toBe(count(organization.usage.used));
    await page.getByText(/of 100,000 records/).waitFor();
    const yesterday = daily.at(-2);
    await step('the chart, by keyboard', async () => {
      const reader = page.getByRole('slider', { name: /read one day/ });
      const spoken = () => reader.getAttribute('aria-valuetext');
      await reader.focus();
      expect(await spoken()).toContain(`Decisions ${count(daily.at(-1)?.total ?? -1)},`);
      await page.keyboard.press('ArrowLeft');
      expect(await spoken()).toContain(`Decisions ${count(yesterday?.total ?? -1)},`);
      expect(await spoken()).toContain(`Rejected all ${count(yesterday?.reject_all ?? -1)}`);
      await page.keyboard.press('Home');
      expect(await spoken()).toContain(`Decisions ${count(daily[0]?.total ?? -1)},`);
      await page.locator('.tip').waitFor();
      await reader.blur();
      await page.locator('.tip').waitFor({ state: 'detached' });
    });
    await step('by pointer', async () => {
      const box = await page.locator('.chart-plot').boundingBox();
      if (!box) throw new Error('no chart');
      await page.mouse.move(box.x + box.width * (10.5 / 30), box.y + 100);
      expect(await page.locator('.tip div', { hasText: 'Decisions' }).locator('dd').textContent()).toBe(
        count(daily[10]?.total ?? -1),
      );
    });
    await step('and as a table', async () => {
      await page.getByText('Show as a table').click();
      const rows = page.getByRole('table', { name: 'Decisions by day, last 30 days' }).locator('tbody tr');
      await expect.poll(() => rows.count()).toBe(30);
      expect(await rows.nth(1).textContent()).toContain(count(yesterday?.accept_all ?? -1));
    });
    await step('before it is drawn anew for a narrower screen, it sticks out of nothing', async () => {
      const tooWide = await page.locator('.chart-plot').evaluate((plot: HTMLElement) => {
        plot.style.width = `${plot.clientWidth / 2}px`;
        return plot.scrollWidth - plot.clientWidth;
      });
      expect(tooWide).toBe(0);
    });
    await step('the stream goes on to the last record of the 7 days, each once', async () => {
      expect(recordsTotal).toBeGreaterThan(200);
      const rows = page.locator('.stream-row');
      expect(await rows.count()).toBe(10);
      await page.getByRole('button', { name: 'Older records' }).click();
      await rows.nth(10).waitFor();
      expect(await rows.count()).toBeLessThan(recordsTotal);
      const end = page.getByText('No older records in the last 7 days.');
      while (!(await end.isVisible())) {
        const before = await rows.count();
        await page.mouse.wheel(0, 20_000);
        await rows.nth(before).or(end).first().waitFor();
      }
      expect(await rows.count()).toBe(recordsTotal);
      const shown = rows.locator('time');
      const times = await shown.evaluateAll((all: HTMLTimeElement[]) => all.map(({ dateTime }) => dateTime));
      expect(times).toEqual([...times].sort().reverse());
      await rows.last().getByRole('button').click();
      await page.getByRole('dialog').getByText('Policy version').waitFor();
      await page.keyboard.press('Escape');
    });
    await step('one of 200 domains is found by a few letters, with the keyboard alone', async () => {
      const search = page.getByRole('searchbox');
      await page.getByRole('button', { name: 'Domains' }).focus();
      await page.keyboard.press('Enter');
      await page.keyboard.type('site-173');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await crumb(page, 'site-173.example').waitFor();
      await hasFocus(page.getByRole('heading', { name: 'Statistics', level: 1 }));
      expect(await page.title()).toBe('Statistics of site-173.example · Assent');
      expect(await search.count()).toBe(0);
      // Enter alone takes the first that is found
      await page.getByRole('button', { name: /site-173/ }).click();
      await page.keyboard.type('site-42');
      await page.getByText('1 domain', { exact: true }).waitFor({ state: 'attached' });
      await page.keyboard.press('Enter');
      await crumb(page, 'site-42.example').waitFor();
      await page.getByRole('button', { name: /site-42/ }).click();
      await search.waitFor();
      await page.keyboard.press('Escape');
      expect(await search.count()).toBe(0);
    });
  });

  it('ranks all domains by their decisions, in any period, and tells which of them have stopped', async () => {
    const { page } = await home();
    const list = page.getByRole('navigation', { name: 'Domains' });
    const names = list.getByRole('rowheader');
    const { total } = await stats();
    await list
      .getByRole('row')
      .filter({ hasText: `shop.northwind.example${count(total)}` })
      .waitFor();
    expect(await names.count()).toBe(20);
    expect(await names.first().textContent()).toBe('shop.northwind.example');
    await list.getByRole('button', { name: 'Show 181 more' }).click();
    await expect.poll(() => names.count()).toBe(201);
    await page.getByText('No decisions from site-173.example for 40 days.').waitFor();

    const from = dayOf(fortyDaysAgo);
    await page.getByLabel('From', { exact: true }).fill(from);
    await page.getByLabel('to', { exact: true }).fill(from);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await figure(page, 'Decisions').getByText('3', { exact: true }).waitFor();
    await figure(page, 'Opt-in rate').getByText('100.0%', { exact: true }).waitFor();
    await list.getByRole('row').filter({ hasText: 'site-173.example3100.0%' }).waitFor();
    expect(await names.first().textContent()).toBe('site-173.example');
    expect(queryOf(page)).toEqual({ from, to: from });
    // a domain opens in the same period, and the last 30 days have none in their address
    await names.first().getByRole('link').click();
    await crumb(page, 'site-173.example').waitFor();
    await expect.poll(() => queryOf(page)).toMatchObject({ from, to: from });
    await page.goBack();
    await page.getByRole('link', { name: '30 days' }).click();
    await figure(page, 'Decisions').getByText(count(total), { exact: true }).waitFor();
    expect(queryOf(page)).toEqual({});
    await page.getByRole('link', { name: '12 months' }).click();
    await page.getByRole('heading', { name: 'Decisions by month' }).waitFor();
    await figure(page, 'Decisions')
      .getByText(count(total + silent.length), { exact: true })
      .waitFor();
    await go(page, '/?from=2020-01-01&to=2026-01-01');
    await list.getByText('Figures by domain cover at most 366 days.').waitFor();
  });

  it('tells who manages the organization of a webhook that fails, on its tab and on the overview', async () => {
    const own = await dashboard.customer();
    const body = JSON.stringify({ url: 'https://receiver.example/in', types: ['limit.reached'] });
    const { webhookId } = await dashboard.manage<{ webhookId: string }>(own, '/webhooks', { method: 'POST', body });
    const fail = () =>
      dashboard.db.run((sql) => sql`update webhooks set failing_since = now() where id = ${webhookId}`);
    const tab = (page: Page) => page.getByRole('link', { name: /^Webhooks/ });
    const { page } = await home(managerOf(own));
    await page.getByText('Waiting for the first decision').waitFor();
    expect(await tab(page).textContent()).toBe('Webhooks');
    await fail();
    await page.getByRole('link', { name: 'Activity' }).click();
    await tab(page).getByText('1 failing').waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    const told = page.getByText(/^The webhook to .* has been failing since/);
    await told.getByRole('link', { name: 'https://receiver.example/in' }).click();
    await page.getByText('Failing since').waitFor();
    // nobody else is told, and nothing is asked for in vain
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await follow(page, own.token);
    await go(page, '/');
    await page.getByText('Waiting for the first decision').waitFor();
    expect([await told.count(), requests.filter((each) => each.includes('webhooks'))]).toEqual([0, []]);
  });

  it('on a phone the domains come before the stream that goes on, and a tap reads the chart', async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page } = await home(customer, phone);
    const domains = await page.getByRole('navigation', { name: 'Domains' }).boundingBox();
    const stream = await page.locator('.stream').boundingBox();
    expect(domains?.y).toBeLessThan(stream?.y ?? 0);
    const { daily } = await stats();
    const plot = page.locator('.chart-plot');
    const width = (await plot.boundingBox())?.width ?? 0;
    await plot.tap({ position: { x: width * (10.5 / 30), y: 100 } });
    expect(await page.locator('.tip div', { hasText: 'Decisions' }).locator('dd').textContent()).toBe(
      count(daily[10]?.total ?? -1),
    );
    await page.getByRole('heading', { name: 'Decisions by day' }).tap();
    await page.locator('.tip').waitFor({ state: 'detached' });
  });

  it('an organization without domains or decisions shows the next step, and the first decision without a reload', async () => {
    const empty = await dashboard.customer({ domains: [] });
    const admin = createAdministration(dashboard.db, 'test');
    const { page } = await home(empty);
    await page.getByRole('heading', { name: 'Add the first domain' }).waitFor();
    expect(await page.getByLabel('Command line').last().textContent()).toContain(empty.organizationId);
    const { domainId } = await admin.createDomain(empty.organizationId, { name: 'first.example', origins: [] });
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    await page.getByRole('link', { name: 'Set up the banner' }).waitFor();
    expect(await page.getByText('curl').isVisible()).toBe(false);
    await page.getByText('For developers').click();
    await page.getByText('curl').waitFor();
    expect(await page.getByLabel('The tag').last().textContent()).toContain(`/w/${domainId}.js" defer></script>`);
    expect(await figureCard(page, 'Decisions').count()).toBe(0);
    const curl = (await page.getByLabel('By hand').last().textContent()) ?? '';
    const response = await fetch(/'(http[^']*)'/.exec(curl)?.[1] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': (await admin.createKey(domainId)).apiKey },
      body: /-d '(.*)'/.exec(curl)?.[1] ?? '',
    });
    expect(response.status).toBe(202);
    await figure(page, 'Decisions').getByText('1', { exact: true }).waitFor();
    await page.locator('.stream-row').getByText('Accepted all').waitFor();
  });

  it('tells a limit that is reached beside the usage, and a plan without the log beside the stream', async () => {
    const small = await dashboard.customer({ monthlyRecordLimit: 1 });
    const { domainId } = at(small.domains, 0);
    await dashboard.storeCounted(
      small,
      [0, 1].map((index) => recordAt(Date.now() - index, { domainId, visitorId: 'v' })),
    );
    const { page } = await home(small);
    expect(await figure(page, /Usage/).textContent()).toBe('2');
    await page.getByText(/Limit reached: until 1 .* the log shows only its newest 10 records/).waitFor();
    // the stream has only what every plan may see
    await page.locator('.stream-row').first().waitFor();
    expect(await page.locator('.stream-row').getByRole('button').count()).toBe(0);

    const basic = await dashboard.customer({ consentLog: false, monthlyRecordLimit: 1 });
    const day = addDays(dayOf(Date.now()), -3);
    const hidden = { domainId: at(basic.domains, 0).domainId, visitorId: 'v-hidden' };
    const times = [Date.now() - 1, Date.now(), startOf(day) + 1];
    await dashboard.storeCounted(
      basic,
      times.map((time) => recordAt(time, { ...hidden, decision: 'withdraw' })),
    );
    await dashboard.grouped(basic, times.length);
    await follow(page, basic.token);
    const stream = page.locator('.stream');
    await stream.locator('.stream-row').first().waitFor();
    await stream.getByText('Your plan does not include the log. Records show their time,').waitFor();
    expect(await stream.getByRole('button').count()).toBe(0);
    expect(await stream.textContent()).not.toContain('v-hidden');
    const usage = figureCard(page, /Usage/).locator('.figure-note').last();
    expect(await usage.textContent()).toBe('Limit reached. Recording continues.');
    expect(await page.getByText('newest 10 records').count()).toBe(0);
    // without choices there is no rate, instead of a wrong zero
    await figureCard(page, 'Opt-in rate').getByText('no choices yet').waitFor();
    expect(await figure(page, 'Opt-in rate').textContent()).toBe('–');
    await page.getByText('too few choices to compare with the 7 days before').waitFor();
  });

  it('writes numbers and dates in English, like its sentences, whatever the browser speaks', async () => {
    const { page } = await home(customer, { locale: 'fa-IR' });
    const { total } = await stats();
    await figure(page, 'Decisions').getByText(new Intl.NumberFormat('en-GB').format(total), { exact: true }).waitFor();
    await figure(page, 'Opt-in rate')
      .getByText(/^\d+\.\d%$/)
      .waitFor();
    const { month } = (await dashboard.client(customer).organization()).body.usage;
    const options = { timeZone: 'UTC', month: 'long', year: 'numeric' } as const;
    const name = new Intl.DateTimeFormat('en-GB', options).format(startOf(`${month}-01`));
    await page.getByText(`Usage in ${name}`).waitFor();
  });
});
