import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/base/terms/calendar';
import type { FullRecord } from '#libs/record/contract';
import { hold, step } from '../support/browser/browser.ts';
import { follow, go, queryOf, useDashboard } from '../support/browser/dashboard.ts';
import { violations } from '../support/browser/look.ts';
import { readCsv } from '../support/csv.ts';
import { recordAt } from '../support/records.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** On the first of a month, a minute ago may lie in the month before. */
const now = Date.now();

const dashboard = useDashboard();

const customer = await dashboard.customer({ domains: ['shop.example'] });
const domainId = at(customer.domains, 0).domainId;
const whole = recordAt(now - 1_000, {
  domainId,
  decision: 'custom',
  visitorId: 'v-whole',
  preferences: { analytics: true, marketing: false },
  source: 'preferences',
  bannerVersion: '3.1',
  policyVersion: '2026-09',
  variant: 'wording:short',
  language: 'de-CH',
  pageUrl: 'https://shop.example/tents',
  country: 'CH',
  ip: '203.0.113.0',
  userAgent: 'Mozilla/5.0 Firefox/144.0',
  tcString: 'CPzzzz',
  gppString: 'DBAA',
  gpc: true,
  metadata: { shop: 'north', step: 2 },
});
await dashboard.store([
  whole,
  ...Array.from({ length: 120 }, (_, index) =>
    recordAt(now - 60_000 - index * 1_000, {
      domainId,
      decision: index % 3 === 0 ? 'reject_all' : 'accept_all',
      visitorId: `v-${index}`,
      bot: index % 40 === 7,
    }),
  ),
  recordAt(startOf(addDays(dayOf(now), -10)) + 1, { domainId, decision: 'withdraw', visitorId: 'v-0' }),
  // what would turn the text around it, and what cannot be seen
  recordAt(startOf(addDays(dayOf(now), -11)) + 1, { domainId, visitorId: 'a\u202Eb\u0007c' }),
]);

describe('the log of a domain', () => {
  const records = async (query: string) => (await dashboard.client(customer).records(domainId, query)).body;
  const log = async (query = '', who = customer, domain = domainId) => {
    const { page } = await dashboard.open(who, `/domains/${domain}/log${query}`);
    await page.locator('.card').first().waitFor();
    return page;
  };
  const rows = (page: Page) => page.getByRole('table').locator('tbody tr');
  /** The rows that a screen does not hold are drawn a moment after the others. */
  const isWhole = (page: Page) => expect.poll(() => rows(page).count()).toBe(50);
  const times = (page: Page) =>
    rows(page)
      .locator('time')
      .evaluateAll((all: HTMLTimeElement[]) => all.map(({ dateTime }) => dateTime));
  const shows = (page: Page, expected: FullRecord[]) =>
    expect.poll(() => times(page)).toEqual(expected.map(({ decidedAt }) => decidedAt));

  it('is read page by page, in the size that one likes', async () => {
    const page = await log();
    await shows(page, (await records('limit=50')).records);
    await page.getByText('1 to 50 of 123 records').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await shows(page, (await records('limit=50&page=2')).records);
    await page.getByRole('link', { name: 'Last' }).click();
    await page.getByText('101 to 123 of 123 records').waitFor();
    expect(queryOf(page)).toEqual({ page: '3' });
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('25');
    await shows(page, (await records('limit=25')).records);
    expect(queryOf(page)).toEqual({ limit: '25' });
    await page.goBack();
    await page.getByText('101 to 123 of 123 records').waitFor();
    await step('a page past the end, and an address with nonsense, lead on', async () => {
      await go(page, `/domains/${domainId}/log?page=99&decision=reject_all`);
      await page.getByRole('link', { name: 'Go to the first page' }).click();
      await page.getByText('1 to 40 of 40 records').waitFor();
      expect(queryOf(page)).toEqual({ decision: 'reject_all' });
      await go(page, `/domains/${domainId}/log?page=0&limit=25&decision=maybe&from=2026-99-99&bot=perhaps`);
      await page.getByText('1 to 25 of 123 records').waitFor();
    });
  });

  it('the next page is read from its first row, and the way back leads to where one was', async () => {
    const page = await log();
    const next = page.getByRole('link', { name: 'Next' });
    await isWhole(page);
    await next.scrollIntoViewIfNeeded();
    const place = () => page.evaluate(() => scrollY);
    // the page remembers its place a moment after it has come to rest
    const isKept = () => page.waitForFunction(() => scrollY > 500 && history.state?.scroll === scrollY);
    await isKept();
    const before = await place();
    await next.click();
    await page.getByText('51 to 100 of 123 records').waitFor();
    await expect.poll(place).toBeLessThan(500);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Records');
    // while these rows take the place of those it is never lower, or the browser would scroll it elsewhere
    const fewest = await rows(page)
      .first()
      .locator('xpath=..')
      .evaluateHandle((body) => {
        const count = { rows: body.childElementCount };
        const look = () => Object.assign(count, { rows: Math.min(count.rows, body.childElementCount) });
        new MutationObserver(look).observe(body, { childList: true });
        return count;
      });
    await page.goBack();
    await page.getByText('1 to 50 of 123 records').waitFor();
    await isWhole(page);
    expect(await fewest.jsonValue()).toEqual({ rows: 50 });
    // while its rows are drawn it may rest on the way there
    await expect.poll(place).toBe(before);
    await isKept();
    // Playwright's own click may scroll, although the header stays in view, and so change the place
    await page.getByRole('link', { name: /^Assent, overview of/ }).evaluate((link: HTMLElement) => link.click());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(place).toBe(0);
    await page.goBack();
    await expect.poll(place).toBe(before);
  });

  it('is filtered by visitor, decision, sender and period, as its address says', async () => {
    const page = await log('?limit=50');
    const day = (back: number) => addDays(dayOf(now), -back);
    const found = async (filter: string, total: number) => {
      await shows(page, (await records(`limit=50&${filter}`)).records);
      await page.getByText(`of ${total} records`).waitFor();
      expect(queryOf(page)).toEqual(Object.fromEntries(new URLSearchParams(filter)));
    };
    const clear = async () => {
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByText('of 123 records').waitFor();
    };
    const nothing = page.getByRole('heading', { name: 'No matching records' });
    await step('by visitor, whose id no server sees in the address of the page', async () => {
      await page.getByLabel('Visitor').fill('v-0');
      await page.keyboard.press('Enter');
      await shows(page, (await records('visitorId=v-0')).records);
      await page.getByText('of 2 records').waitFor();
      expect(page.url()).toMatch(/\/log#visitor=v-0$/);
      await page.getByLabel('Decision').selectOption('Withdrew');
      await page.getByText('1 to 1 of 1 record').waitFor();
      expect(page.url()).toMatch(/\/log\?decision=withdraw#visitor=v-0$/);
      await page.getByLabel('Visitor').fill('nobody');
      await page.getByRole('button', { name: 'Find' }).click();
      await nothing.waitFor();
      await clear();
      await go(page, `/domains/${domainId}/log?visitorId=v-0&bot=false`);
      await page.getByText('of 2 records').waitFor();
      expect(page.url()).toMatch(/\/log\?bot=false#visitor=v-0$/);
      await clear();
    });
    await step('by decision and sender', async () => {
      await page.getByLabel('Decision').selectOption('Rejected all');
      await found('decision=reject_all', 40);
      await page.getByLabel('Sent by').selectOption('Browsers');
      await found('decision=reject_all&bot=false', 39);
      await page.getByLabel('Decision').selectOption('All decisions');
      await page.getByLabel('Sent by').selectOption('Bots and programs');
      await found('bot=true', 3);
      await clear();
    });
    const find = async (from: string, to: string) => {
      await page.getByLabel('From (UTC)').fill(from);
      await page.getByLabel('To (UTC)').fill(to);
      await page.getByRole('button', { name: 'Find' }).click();
    };
    await step('by period, also one without records', async () => {
      await find(day(11), day(10));
      await found(`from=${day(11)}&to=${day(10)}`, 2);
      await find('2020-01-01', '2020-01-02');
      await nothing.waitFor();
    });
    await step('days in the wrong order are told once', async () => {
      await go(page, `/domains/${domainId}/log?from=2026-02-02&to=2026-02-01`);
      await page.getByText('From must not be after To.').waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      expect(await page.getByRole('alert').count()).toBe(1);
      await find('2026-02-01', '2026-02-01');
      await nothing.waitFor();
    });
    await step('an id that turns or hides text is shown letter by letter', async () => {
      await go(page, `/domains/${domainId}/log#visitor=${encodeURIComponent('a\u202Eb\u0007c')}`);
      await rows(page).getByText('a\\u{202e}b\\u{7}c').first().waitFor();
    });
    await step('what they show is exported as a file, and what fails is told', async () => {
      await go(page, `/domains/${domainId}/log?decision=reject_all`);
      const exporting = page.getByRole('region', { name: 'Export' });
      await exporting.getByText('Export the 40 records that match, oldest first').waitFor();
      const all = (await records('decision=reject_all&limit=200')).records.reverse();
      const button = (name: string) => exporting.getByRole('button', { name, exact: true });
      const save = async (format: string) => {
        const downloading = page.waitForEvent('download');
        await button(format).click();
        const download = await downloading;
        await exporting.getByText(`Saved as ${download.suggestedFilename()}`).waitFor();
        return readFileSync(await download.path(), 'utf8');
      };
      const lines = (await save('NDJSON')).trimEnd().split('\n');
      expect(lines.map((line): unknown => JSON.parse(line))).toEqual([...all, { end: true, count: all.length }]);
      expect(readCsv(await save('CSV')).map(({ cells }) => cells[0])).toEqual(['id', ...all.map(({ id }) => id)]);
      await page.route('**/export?*', (route) => route.abort());
      await button('CSV').click();
      await exporting.getByText('The export failed: The service did not answer.').waitFor();
      await page.unroute('**/export?*');
      const release = await hold(page, '**/export?*');
      await button('CSV').click();
      await exporting.getByText('Exporting…').waitFor();
      expect(await button('CSV').isDisabled()).toBe(true);
      await button('Cancel').click();
      expect(await button('CSV').isDisabled()).toBe(false);
      release();
    });
  });

  it('finds a record by its id, whose address is a link to it, and back closes it', async () => {
    const { id } = at((await records('visitorId=v-whole')).records, 0);
    const page = await log('?page=2');
    const dialog = page.getByRole('dialog', { name: 'Chose some' });
    const find = async (text: string) => {
      await page.getByLabel('Visitor or record id').fill(text);
      await page.getByRole('button', { name: 'Find' }).click();
    };
    await find(` ${id.toUpperCase()}`);
    await dialog.getByText(id).waitFor();
    // what one was looking at stays
    expect(queryOf(page)).toEqual({ page: '2', record: id });
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    expect(queryOf(page)).toEqual({ page: '2' });
    await page.goForward();
    await dialog.getByText(id).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => queryOf(page)).toEqual({ page: '2' });
    await step('a link opens it, and closes to the log', async () => {
      await page.goto('about:blank');
      await page.goto(`${dashboard.api.baseUrl}/domains/${domainId}/log?record=${id}`);
      await dialog.getByText(id).waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(queryOf(page)).toEqual({});
      await page.getByText('1 to 50 of 123 records').waitFor();
    });
    await step('an id of no record is looked for among visitors, and its address says that there is none', async () => {
      const other = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      await find(other);
      await page.getByText(`“${other}”`).waitFor();
      expect(page.url()).toMatch(/#visitor=/);
      await go(page, `/domains/${domainId}/log?record=${other}`);
      await page.getByRole('dialog', { name: 'Record not found' }).getByRole('button', { name: 'Close' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(queryOf(page)).toEqual({});
      await page.route('**/records/*', (route) => route.abort());
      await find(id);
      await page.getByRole('alert').getByText('The service did not answer.').waitFor();
    });
  });

  it('shows everything that was stored, and copies it as JSON', async () => {
    const page = await log('?visitorId=v-whole');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: /Details/ }).click();
    const dialogs = page.getByRole('dialog');
    const dialog = page.getByRole('dialog', { name: 'Chose some' });
    await dialog.getByText('Record id').waitFor();
    const text = (await dialog.textContent()) ?? '';
    const stored = at((await records('visitorId=v-whole')).records, 0);
    const fields = 'v-whole|analytics: allowed|marketing: refused|the settings|3.1|2026-09|de-CH|CH|CPzzzz|DBAA';
    const others = ['https://shop.example/tents', 'Mozilla/5.0 Firefox/144.0', 'shop: north', 'step: 2', '203.0.113.0'];
    for (const value of [...fields.split('|'), ...others, 'wording:short', stored.id]) expect(text).toContain(value);
    await dialog.getByRole('button', { name: 'Copy as JSON' }).click();
    await dialog.getByText('Copied.').waitFor();
    expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(stored);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(queryOf(page)).toEqual({});
    // the keyboard is where it was
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Details');
    await step('what is absent is folded, and leads nowhere', async () => {
      await go(page, `/domains/${domainId}/log?limit=25#visitor=v-5`);
      await rows(page).getByText('v-5').waitFor();
      await page.getByRole('button', { name: /Details/ }).click();
      await dialogs.getByText('Record id').waitFor();
      expect(await dialogs.locator('dt').allTextContents()).not.toContain('TC string');
      await dialogs.getByText(/^\d+ fields without a value$/).click();
      await dialogs.getByText(/Page, .*TC string, GPP string/).waitFor();
      await dialogs.getByText('What was shown was not recorded.').waitFor();
      await dialogs.getByRole('link', { name: 'All records of this visitor' }).click();
      await dialogs.waitFor({ state: 'detached' });
      expect(page.url()).toMatch(/\/log#visitor=v-5$/);
    });
  });

  it('says what the plan withholds: all of the log, or over the monthly limit all but the newest 10, until when', async () => {
    const without = await dashboard.customer({ consentLog: false, plan: 'Basic' });
    const page = await log('', without, at(without.domains, 0).domainId);
    await page.getByRole('heading', { name: 'Your plan does not include the log' }).waitFor();
    await page.getByText('The plan “Basic” counts decisions').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    expect(await page.getByLabel('Visitor').count()).toBe(0);
    await page.getByRole('link', { name: 'Go to the statistics' }).click();
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();

    const small = await dashboard.customer({ monthlyRecordLimit: 12 });
    const domain = at(small.domains, 0).domainId;
    await dashboard.store(
      Array.from({ length: 14 }, (_, index) => recordAt(now - index, { domainId: domain, visitorId: `v-${index}` })),
    );
    await follow(page, small.token);
    await go(page, `/domains/${domain}/log?visitorId=v-3&page=2`);
    await page.getByRole('heading', { name: /^Monthly limit reached: the log shows only its newest 10/ }).waitFor();
    const text = (await page.locator('.plan-notice').textContent()) ?? '';
    const resets = startOf(firstDay(addMonths(monthOf(now), 1)));
    const until = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' });
    expect(text).toContain('Your plan includes 12 records a month, and 14 were recorded.');
    expect(text).toContain(`Until ${until.format(resets)} UTC`);
    expect(text).toContain('shows 10 of 14 records');
    await page.getByText('The newest consent records of this domain').waitFor();
    expect(await rows(page).count()).toBe(10);
    expect(await page.getByLabel('Visitor').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Pages of the log' }).count()).toBe(0);
    // nothing else is withheld
    const export_ = page.getByRole('region', { name: 'Export' });
    await export_.getByText('Export all 14 records, oldest first').waitFor();
    await page.getByRole('button', { name: 'NDJSON' }).click();
    await export_.getByText('Saved as').waitFor();
  });

  it('says that more was decided since the list was read, and leaves the rows where they are', async () => {
    const busy = await dashboard.customer();
    const { domainId: id, apiKey } = at(busy.domains, 0);
    const client = dashboard.client(busy);
    const day = dayOf(Date.now());
    const decide = async (visitorId: string, total: number) => {
      await client.record(id, apiKey, { decision: 'custom', visitorId });
      await eventually(async () => {
        expect((await client.records(id)).body.total).toBe(total);
        expect((await client.stats(id, `from=${addDays(day, -1)}&to=${day}`)).body.total).toBe(total);
      });
    };
    await decide('first', 1);
    const { page } = await dashboard.regular();
    const counters = () => page.waitForResponse((response) => response.url().includes(`/${id}/stats?`));
    const before = counters();
    await page.route(
      '**/records?*',
      async (route) => {
        const response = await route.fetch();
        // the page asks for both at once
        await before;
        await decide('second', 2);
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await dashboard.enter(page, busy, `/domains/${id}/log`);
    await rows(page).first().waitFor();
    await page.getByText('1 new decision.').waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Show' }).click();
    await rows(page).getByText('second').waitFor();
    expect(await page.getByText('new decision').count()).toBe(0);
    await step('but not of what the filters leave out', async () => {
      await go(page, `/domains/${id}/log?decision=reject_all`);
      await counters();
      await decide('third', 3);
      for (let turn = 0; turn < 2; turn += 1) await counters();
      expect(await page.getByText('new decision').count()).toBe(0);
    });
  });
});
