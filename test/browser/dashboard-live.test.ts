import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/contract/calendar';
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
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** Milliseconds between a poll and the next, and what a busy machine may take beside them. */
const second = 1_000;
const busy = 2_000;

describe('figures that move', () => {
  const visit = useBrowser();
  let running: Running;
  let customer: Customer;
  let domainId: string;
  let apiKey: string;

  beforeAll(async () => {
    running = useService();
    customer = await makeCustomer(running.db, { domains: ['shop.example', 'blog.example'] });
    ({ domainId, apiKey } = at(customer.domains, 0));
    await storeCounted(running, customer, history(customer, 20, 20));
  });

  const somebodyElse = (options?: BrowserContextOptions) => visit.again(options, 'somebody else');
  const client = () => createClient(running.api.baseUrl, customer);
  const decide = async (fields: object = {}) => {
    expect((await client().record(domainId, apiKey, { decision: 'accept_all', ...fields })).status).toBe(202);
  };
  const numberIn = async (page: Page, name: string) =>
    Number((await figure(page, name).textContent())?.replaceAll(',', ''));
  /** When each question was asked, in milliseconds. */
  const watchRequests = (page: Page) => {
    const asked: number[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) asked.push(performance.now());
    });
    return asked;
  };
  /** As a browser tells a page whose tab is put away or shown. */
  const setVisible = (page: Page, isVisible: boolean) =>
    page.evaluate(
      (state) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
        document.dispatchEvent(new Event('visibilitychange'));
      },
      isVisible ? 'visible' : 'hidden',
    );

  it('on the home page within about a second of a decision, with the record on top of the stream', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    const took: number[] = [];
    for (const visitorId of ['live-1', 'live-2', 'live-3', 'live-4']) {
      const before = await numberIn(page, 'Decisions');
      const used = await numberIn(page, 'Usage');
      const start = performance.now();
      await decide({ visitorId });
      await expect.poll(() => numberIn(page, 'Decisions'), { interval: 10 }).toBe(before + 1);
      took.push(performance.now() - start);
      expect(await numberIn(page, 'Usage')).toBe(used + 1);
      const first = page.locator('.stream-row').first();
      expect(await first.textContent()).toContain(visitorId);
      expect(await first.textContent()).toContain('shop.example');
    }
    console.log(`counters moved after ${took.map((each) => Math.round(each)).join(', ')} ms`);
    expect(Math.min(...took)).toBeLessThan(second + busy);
  });

  it('on the page of a domain, where the period has today in it', async () => {
    const { page } = await open(visit.again, running, customer, `/domains/${domainId}`);
    await figure(page, 'Decisions').waitFor();
    const before = await numberIn(page, 'Withdrawals');
    await decide({ decision: 'withdraw' });
    await expect.poll(() => numberIn(page, 'Withdrawals')).toBe(before + 1);
    const asked = watchRequests(page);
    const yesterday = addDays(dayOf(Date.now()), -1);
    await page.getByRole('link', { name: 'Yesterday' }).click();
    await page.getByText('Complete period').waitFor();
    // until its answers are there, the page may still ask
    const { total } = (await client().stats(domainId, `from=${yesterday}&to=${yesterday}`)).body;
    await expect.poll(() => numberIn(page, 'Decisions')).toBe(total);
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    const atRest = asked.length;
    const other = await open(somebodyElse, running, customer, `/domains/${domainId}`);
    await figure(other.page, 'Decisions').waitFor();
    await decide();
    // long enough for another page to be told
    await other.page.waitForResponse((response) => response.url().includes('/stats?'));
    await other.page.waitForResponse((response) => response.url().includes('/stats?'));
    expect(asked.length).toBe(atRest);
    expect(new URL(page.url()).searchParams.get('from')).toBe(yesterday);
  });

  it('with at most one request a second', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    // by the page's own clock: here each is heard of as late as a busy machine will have it
    const read = () =>
      page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .flatMap(({ name, startTime }) => (name.includes('limit=5') ? [startTime] : [])),
      );
    await eventually(async () => expect((await read()).length).toBeGreaterThanOrEqual(5), { within: 30_000 });
    const asked = await read();
    const pauses = asked.slice(1).map((time, index) => time - (asked[index] ?? 0));
    // one that goes out late makes the next pause shorter, but not all of them
    expect(((asked.at(-1) ?? 0) - (asked[0] ?? 0)) / pauses.length).toBeGreaterThan(second * 0.98);
    expect(Math.min(...pauses)).toBeGreaterThan(second * 0.8);
  });

  it('and asks for records only when a total has moved', async () => {
    const own = await makeCustomer(running.db);
    await storeCounted(running, own, history(own, 3, 20));
    const { page } = await open(visit.again, running, own);
    await figure(page, 'Decisions').waitFor();
    const answers: number[] = [];
    let sent = 0;
    page.on('response', (response) => {
      if (!response.url().includes('/org-stats')) return;
      answers.push(response.status());
      // an answer without a body cannot have records
      if (response.status() === 200) sent += 1;
    });
    const polls = (count: number) =>
      eventually(() => expect(answers.length).toBeGreaterThanOrEqual(count), { within: 30_000 });
    // the first poll has nothing to compare with
    await polls(6);
    expect(sent).toBeLessThanOrEqual(1);
    expect(answers.slice(1)).toEqual(answers.slice(1).map(() => 304));
    const before = await numberIn(page, 'Decisions');
    const [domain] = own.domains;
    const client = createClient(running.api.baseUrl, own);
    await client.record(domain?.domainId ?? '', domain?.apiKey ?? '', { decision: 'custom', visitorId: 'moved' });
    await expect.poll(() => numberIn(page, 'Decisions')).toBe(before + 1);
    expect(await page.locator('.stream-row').first().textContent()).toContain('moved');
    const moved = sent;
    await polls(answers.length + 4);
    expect(sent).toBe(moved);
  });

  it('not in a tab that nobody sees, and at once when it is seen again', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    await page.waitForResponse((response) => response.url().includes('org-stats?limit=5'));
    const other = await open(somebodyElse, running, customer);
    await setVisible(page, false);
    const asked = watchRequests(page);
    const before = await numberIn(page, 'Decisions');
    await decide();
    // another tab, which is seen, has it
    await expect.poll(() => numberIn(other.page, 'Decisions')).toBe(before + 1);
    await other.page.waitForResponse((response) => response.url().includes('org-stats'));
    expect(asked).toEqual([]);
    expect(await numberIn(page, 'Decisions')).toBe(before);
    const start = performance.now();
    await setVisible(page, true);
    await expect.poll(() => numberIn(page, 'Decisions'), { interval: 10 }).toBe(before + 1);
    expect((asked[0] ?? Number.POSITIVE_INFINITY) - start).toBeLessThan(second);
  });

  it('also when more arrive at once than one question asks for: none is missing in the stream', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    const before = await numberIn(page, 'Decisions');
    const many = Array.from({ length: 30 }, (_, index) => `burst-${index}`);
    await Promise.all(many.map((visitorId) => decide({ visitorId })));
    await expect.poll(() => numberIn(page, 'Decisions')).toBe(before + many.length);
    await expect
      .poll(async () => {
        const texts = await page.locator('.stream-visitor bdi').allTextContents();
        return texts.filter((text) => text.startsWith('burst-')).sort();
      })
      .toEqual([...many].sort());
  });

  it('also when many are the first ones ever', async () => {
    const fresh = await makeCustomer(running.db);
    const { domainId: id, apiKey: key } = at(fresh.domains, 0);
    const { page } = await open(visit.again, running, fresh);
    await page.getByRole('heading', { name: 'Waiting for the first decision' }).waitFor();
    const client = createClient(running.api.baseUrl, fresh);
    await Promise.all(Array.from({ length: 20 }, () => client.record(id, key, { decision: 'custom' })));
    await expect.poll(() => numberIn(page, 'Decisions')).toBe(20);
    await expect.poll(() => page.locator('.stream-row').count()).toBe(20);
  });

  it('while the slow answers of a busy service are asked for less often, and never two at once', async () => {
    const { page } = await open(visit.again, running, customer);
    await figure(page, 'Decisions').waitFor();
    let open_ = 0;
    let most = 0;
    const asked: number[] = [];
    await page.route('**/v1/consent/org-stats?*', async (route) => {
      asked.push(performance.now());
      open_ += 1;
      most = Math.max(most, open_);
      await new Promise((resolve) => setTimeout(resolve, 550));
      open_ -= 1;
      await route.continue().catch(() => {});
    });
    await eventually(() => expect(asked.length).toBeGreaterThanOrEqual(3), { within: 30_000 });
    const pauses = asked.slice(1).map((time, index) => time - (asked[index] ?? 0));
    expect(most).toBe(1);
    expect(Math.min(...pauses)).toBeGreaterThan(2 * second);
  });
});
