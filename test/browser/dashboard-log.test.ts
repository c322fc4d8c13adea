import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, addMonths, dayOf, firstDay, monthOf, startOf } from '#libs/contract/calendar';
import type { NewRecord } from '#libs/contract/record';
import type { FullRecord } from '#libs/contract/responses';
import { useBrowser } from '../support/browser/browser.ts';
import {
  type Customer,
  enter,
  makeCustomer,
  open,
  type Running,
  store,
  useService,
} from '../support/browser/dashboard.ts';
import { createClient } from '../support/client.ts';
import { readCsv } from '../support/csv.ts';
import { recordAt } from '../support/records.ts';
import { runCli } from '../support/run-cli.ts';
import { at } from '../support/stack.ts';

/** On the first of a month, a minute ago may lie in the month before. */
const now = Date.now();

describe('the log of a domain', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let domainId: string;
  let whole: NewRecord;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, { domains: ['shop.example'] });
    domainId = at(customer.domains, 0).domainId;
    whole = recordAt(now - 1_000, {
      domainId,
      decision: 'custom',
      visitorId: 'v-whole',
      preferences: { analytics: true, marketing: false },
      source: 'preferences',
      bannerVersion: '3.1',
      policyVersion: '2026-09',
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
    await store(running.db, [
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
  });

  const records = async (query: string) =>
    (await createClient(running.api.baseUrl, customer).records(domainId, query)).body;
  const log = async (query = '', who: Pick<Customer, 'token'> = customer, domain = domainId, name = '') => {
    const again = (options?: BrowserContextOptions) => visit.again(options, name);
    const visitor = await open(again, running, who, `/domains/${domain}/log${query}`);
    await visitor.page.locator('.card').first().waitFor();
    return visitor.page;
  };
  const rows = (page: Page) => page.getByRole('table').locator('tbody tr');
  /** The rows that a screen does not hold are drawn a moment after the others. */
  const isWhole = (page: Page) => expect.poll(() => rows(page).count()).toBe(50);
  const times = (page: Page) =>
    rows(page)
      .locator('time')
      .evaluateAll((all) => all.map((each) => each.getAttribute('datetime')));
  const shows = (page: Page, expected: FullRecord[]) =>
    expect.poll(() => times(page)).toEqual(expected.map(({ decidedAt }) => decidedAt));
  const query = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

  it('is read page by page, in the size that one likes', async () => {
    const page = await log();
    await shows(page, (await records('limit=50')).records);
    await page.getByText('1 to 50 of 123 records').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await shows(page, (await records('limit=50&page=2')).records);
    await page.getByRole('link', { name: 'Last' }).click();
    await page.getByText('101 to 123 of 123 records').waitFor();
    expect(query(page)).toEqual({ page: '3' });
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('25');
    await shows(page, (await records('limit=25')).records);
    expect(query(page)).toEqual({ limit: '25' });
    await page.goBack();
    await page.getByText('101 to 123 of 123 records').waitFor();
  });

  it('what the filters show is exported as a file, and what fails is told', async () => {
    const page = await log('?decision=reject_all');
    const exporting = page.getByRole('region', { name: 'Export' });
    await exporting.getByText('Export the 40 records that match, oldest first').waitFor();
    const all = (await records('decision=reject_all&limit=200')).records.reverse();
    const save = async (format: string) => {
      const downloading = page.waitForEvent('download');
      await exporting.getByRole('button', { name: format, exact: true }).click();
      const download = await downloading;
      await exporting.getByText(`Saved as ${download.suggestedFilename()}`).waitFor();
      return readFileSync(await download.path(), 'utf8');
    };
    const lines = (await save('NDJSON'))
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual([...all, { end: true, count: all.length }]);
    expect(readCsv(await save('CSV')).map(({ cells }) => cells[0])).toEqual(['id', ...all.map(({ id }) => id)]);
    await page.route('**/export?*', (route) => route.abort());
    await exporting.getByRole('button', { name: 'CSV', exact: true }).click();
    await exporting.getByText('The export failed: The service did not answer.').waitFor();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.unroute('**/export?*');
    await page.route('**/export?*', (route) => released.then(() => route.continue()));
    await exporting.getByRole('button', { name: 'CSV', exact: true }).click();
    await exporting.getByText('Exporting…').waitFor();
    expect(await exporting.getByRole('button', { name: 'CSV', exact: true }).isDisabled()).toBe(true);
    await exporting.getByRole('button', { name: 'Cancel' }).click();
    expect(await exporting.getByRole('button', { name: 'CSV', exact: true }).isDisabled()).toBe(false);
    release();
  });

  it('a 12-hour clock leaves a gap between the time and the mark of the decision', async () => {
    const { page } = await open(visit.again, running, customer, `/domains/${domainId}/log`, {
      locale: 'en-US',
      viewport: { width: 1280, height: 900 },
    });
    await isWhole(page);
    const found = await rows(page).evaluateAll((all) =>
      all.map((row) => {
        const time = row.querySelector('time');
        const mark = row.querySelector('.swatch');
        return {
          text: time?.textContent ?? '',
          gap: (mark?.getBoundingClientRect().left ?? 0) - (time?.getBoundingClientRect().right ?? 0),
        };
      }),
    );
    expect(found.filter(({ text }) => !/\d [AP]M$/.test(text.replaceAll('\u202f', ' ')))).toEqual([]);
    expect(Math.min(...found.map(({ gap }) => gap))).toBeGreaterThanOrEqual(12);
  });

  it('the next page is read from its first row, and the way back leads to where one was', async () => {
    const page = await log();
    const next = page.getByRole('link', { name: 'Next' });
    await isWhole(page);
    await next.scrollIntoViewIfNeeded();
    const place = () => page.evaluate(() => scrollY);
    await expect.poll(() => page.evaluate(() => history.state?.scroll ?? 0)).toBeGreaterThan(500);
    const before = await place();
    await next.click();
    await page.getByText('51 to 100 of 123 records').waitFor();
    await expect.poll(place).toBeLessThan(500);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Records');
    await page.goBack();
    await expect.poll(place).toBe(before);
    // in the header, which stays in view: to reach it moves nothing
    await page.getByRole('link', { name: /^Assent, overview of/ }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(place).toBe(0);
    await page.goBack();
    await expect.poll(place).toBe(before);
  });

  it('finds the records of one visitor', async () => {
    const page = await log();
    await page.getByLabel('Visitor').fill('v-0');
    await page.keyboard.press('Enter');
    await shows(page, (await records('visitorId=v-0')).records);
    expect(await rows(page).count()).toBe(2);
    expect(query(page)).toEqual({ visitorId: 'v-0' });
    await page.getByLabel('Visitor').fill('nobody');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'No matching records' }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('1 to 50 of 123 records').waitFor();
    expect(query(page)).toEqual({});
  });

  it.each([
    ['Decision', 'Rejected all', 'decision=reject_all', 40],
    ['Sent by', 'Bots and programs', 'bot=true', 3],
    ['Sent by', 'Browsers', 'bot=false', 120],
  ])('is filtered by %s: %s', async (field, choice, filter, total) => {
    const page = await log('?limit=200');
    await rows(page).first().waitFor();
    await page.getByLabel(field).selectOption(choice);
    await shows(page, (await records(`limit=200&${filter}`)).records);
    expect(await rows(page).count()).toBe(total);
    const other = await log(new URL(page.url()).search);
    await shows(other, (await records(`limit=200&${filter}`)).records);
  });

  it('is filtered by period, also one without records', async () => {
    const page = await log();
    const [from, to] = [addDays(dayOf(now), -11), addDays(dayOf(now), -10)];
    await page.getByLabel('From (UTC)').fill(from);
    await page.getByLabel('To (UTC)').fill(to);
    await page.getByRole('button', { name: 'Find' }).click();
    await shows(page, (await records(`from=${from}&to=${to}`)).records);
    expect(await rows(page).count()).toBe(2);
    await page.getByLabel('From (UTC)').fill('2020-01-01');
    await page.getByLabel('To (UTC)').fill('2020-01-02');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'No matching records' }).waitFor();
  });

  it('days in the wrong order are told once, in words', async () => {
    const page = await log('?from=2026-02-02&to=2026-02-01');
    await page.getByText('From must not be after To.').waitFor();
    await page.locator('.skeleton').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.getByLabel('From (UTC)').fill('2026-02-01');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'No matching records' }).waitFor();
  });

  it('shows everything that was stored, and copies it as JSON', async () => {
    const page = await log('?visitorId=v-whole');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: /Details/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Chose some' });
    const text = (await dialog.textContent()) ?? '';
    const stored = at((await records('visitorId=v-whole')).records, 0);
    for (const value of [
      'v-whole',
      'analytics: allowed',
      'marketing: refused',
      'the settings',
      '3.1',
      '2026-09',
      'de-CH',
      'https://shop.example/tents',
      'CH',
      stored.ip ?? 'no address',
      'Mozilla/5.0 Firefox/144.0',
      'CPzzzz',
      'DBAA',
      'shop: north',
      'step: 2',
      stored.id,
    ])
      expect(text).toContain(value);
    await dialog.getByRole('button', { name: 'Copy as JSON' }).click();
    await dialog.getByText('Copied.').waitFor();
    expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(stored);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    // the keyboard is where it was
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Details');
  });

  it('what is absent is called so, and leads nowhere', async () => {
    const page = await log('?visitorId=v-5');
    await page.getByRole('button', { name: /Details/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('not stored').first().waitFor();
    expect(await dialog.getByText('not stored').count()).toBeGreaterThan(8);
    await dialog.getByRole('link', { name: 'All records of this visitor' }).click();
    expect(query(page)).toEqual({ visitorId: 'v-5' });
  });

  it('a visitor’s id that turns or hides text is shown letter by letter', async () => {
    const page = await log(`?visitorId=${encodeURIComponent('a\u202Eb\u0007c')}`);
    expect(await rows(page).textContent()).toContain('a\\u{202e}b\\u{7}c');
  });

  it('a page past the end, and an address with nonsense, lead on', async () => {
    const page = await log('?page=99');
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByText('1 to 50 of 123 records').waitFor();
    const odd = await log('?page=0&limit=7&decision=maybe&from=2026-99-99&bot=perhaps');
    await odd.getByText('1 to 50 of 123 records').waitFor();
  });

  it('without the log in the plan it says so, and what is kept all the same', async () => {
    const without = await makeCustomer(running.db, { consentLog: false, plan: 'Basic' });
    const page = await log('', without, at(without.domains, 0).domainId);
    await page.getByRole('heading', { name: 'Your plan does not include the log' }).waitFor();
    await page.getByText('The plan “Basic” counts decisions').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    expect(await page.getByLabel('Visitor').count()).toBe(0);
    await page.getByRole('link', { name: 'Go to the statistics' }).click();
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    // a plan that has it counts from the next look
    expect((await runCli(running.env, 'plan', 'set', 'Basic', '--consent-log', 'true')).code).toBe(0);
    await expect
      .poll(
        async () => {
          await page.goto(`${running.api.baseUrl}/domains/${at(without.domains, 0).domainId}/log`);
          await page.locator('.plan-notice, .log-card').first().waitFor();
          return page.getByRole('heading', { name: 'No records yet' }).count();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
  });

  it('over the monthly limit it says so, until when, and shows the newest 10 without filters', async () => {
    const small = await makeCustomer(running.db, { monthlyRecordLimit: 12 });
    const domain = at(small.domains, 0).domainId;
    await store(
      running.db,
      Array.from({ length: 14 }, (_, index) => recordAt(now - index, { domainId: domain, visitorId: `v-${index}` })),
    );
    const page = await log('?visitorId=v-3&page=2', small, domain);
    await page
      .getByRole('heading', { name: 'Monthly limit reached: the log shows only its newest 10 records' })
      .waitFor();
    const text = (await page.locator('.plan-notice').textContent()) ?? '';
    const resets = new Date(startOf(firstDay(addMonths(monthOf(now), 1))));
    const until = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' }).format(
      resets,
    );
    expect(text).toContain('Your plan includes 12 records a month, and 14 were recorded.');
    expect(text).toContain(`Until ${until} UTC`);
    expect(text).toContain('shows 10 of 14 records');
    await page.getByText('The newest consent records of this domain').waitFor();
    expect(await rows(page).count()).toBe(10);
    expect(await page.getByLabel('Visitor').count()).toBe(0);
    expect(await page.getByRole('navigation', { name: 'Pages of the log' }).count()).toBe(0);
  });

  /** A log with one record, of a visitor called `first`. */
  const oneRecord = async () => {
    const busy = await makeCustomer(running.db);
    const { domainId: id, apiKey } = at(busy.domains, 0);
    const client = createClient(running.api.baseUrl, busy);
    const day = dayOf(Date.now());
    const decide = async (visitorId: string, decision: 'custom' | 'reject_all', total: number) => {
      await client.record(id, apiKey, { decision, visitorId });
      const counted = async () => (await client.stats(id, `from=${addDays(day, -1)}&to=${day}`)).body.total;
      await expect.poll(async () => (await client.records(id)).body.total).toBe(total);
      await expect.poll(counted).toBe(total);
    };
    await decide('first', 'custom', 1);
    return { busy, id, decide };
  };
  /** The counters of this domain, as the page is told them. */
  const counters = (page: Page, id: string) =>
    page.waitForResponse((response) => response.url().includes(`/${id}/stats?`));

  it('says that more was decided meanwhile, and leaves the rows where they are', async () => {
    const { busy, id, decide } = await oneRecord();
    const page = await log('', busy, id);
    await rows(page).first().waitFor();
    await counters(page, id);
    await decide('second', 'custom', 2);
    await page.getByText('1 new decision.').waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Show' }).click();
    await rows(page).getByText('second').waitFor();
    expect(await page.getByText('new decision').count()).toBe(0);
  });

  it('also of what was decided between reading the list and the first look at the counters', async () => {
    const { busy, id, decide } = await oneRecord();
    const { page } = await visit.again();
    const before = counters(page, id);
    await page.route(
      '**/records?*',
      async (route) => {
        const response = await route.fetch();
        // the page asks for both at once
        await before;
        await decide('second', 'custom', 2);
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await enter(page, running, busy, `/domains/${id}/log`);
    await rows(page).first().waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByText('1 new decision.').waitFor();
    await page.getByRole('button', { name: 'Find' }).click();
    await rows(page).getByText('second').waitFor();
    expect(await page.getByText('new decision').count()).toBe(0);
  });

  it('but not of what the filters leave out', async () => {
    const { busy, id, decide } = await oneRecord();
    const ofVisitor = await log('?visitorId=first', busy, id);
    const ofDecision = await log('?decision=custom', busy, id, 'second');
    const ofOther = await log('?decision=reject_all', busy, id, 'third');
    await rows(ofVisitor).first().waitFor();
    await rows(ofDecision).first().waitFor();
    await ofOther.getByRole('heading', { name: 'No matching records' }).waitFor();
    await decide('second', 'reject_all', 2);
    await ofOther.getByText('1 new decision.').waitFor();
    await counters(ofDecision, id);
    await counters(ofDecision, id);
    expect(await ofDecision.getByText('new decision').count()).toBe(0);
    expect(await ofVisitor.getByText('new decision').count()).toBe(0);
  });
});
