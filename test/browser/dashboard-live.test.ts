import type { Page, Response } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { afterwards, hold, stopClock } from '../support/browser/browser.ts';
import { figure, go, history, useDashboard } from '../support/browser/dashboard.ts';
import { at } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

/** Milliseconds by which a page's clock is moved at a time. */
const tick = 50;

const dashboard = useDashboard();

const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });
const { domainId, apiKey } = at(customer.domains, 0);
// all of them are in the first answer, whatever the time of day is
await dashboard.storeCounted(customer, history(customer, 3, 8));

describe('figures that move, by the page’s own clock', () => {
  const client = () => dashboard.client(customer);
  const total = async () => (await client().orgStats('limit=1')).body.total;
  /** Until the service has counted them. */
  const decide = async (count: number, fields: object = {}) => {
    const before = await total();
    for (let index = 0; index < count; index += 1)
      expect((await client().record(domainId, apiKey, { decision: 'accept_all', ...fields })).status).toBe(202);
    await eventually(async () => expect(await total()).toBe(before + count));
  };
  const numberIn = async (page: Page, name: string) =>
    Number((await figure(page, name).textContent())?.replaceAll(',', ''));

  /** A page whose clock stands still, and what it asks for again and again. */
  const openStill = async (path = '/') => {
    const { page, context } = await dashboard.visit();
    await context.clock.install();
    await dashboard.enter(page, customer, path);
    await figure(page, 'Decisions').waitFor();
    await stopClock(context);
    let asked = 0;
    const answers: Response[] = [];
    // rates have a pace of their own
    const isPoll = (url: string) => /\/v1\/consent\/\S*stats\?/.test(url) && !url.includes('by=');
    page.on('request', (request) => {
      if (isPoll(request.url())) asked += 1;
    });
    page.on('response', (response) => {
      if (isPoll(response.url())) answers.push(response);
    });
    /** Milliseconds until the page asks. */
    const untilAsked = async () => {
      const before = asked;
      let waited = 0;
      for (; asked === before; waited += tick) await page.clock.runFor(tick);
      return waited;
    };
    /** The same, and then until it has the answer. */
    const poll = async () => {
      const before = answers.length;
      const waited = await untilAsked();
      await eventually(() => expect(answers.length).toBeGreaterThan(before));
      await afterwards(page);
      return waited;
    };
    /** Whether it asks within these milliseconds. */
    const asksWithin = async (time: number) => {
      const before = asked;
      await page.clock.runFor(time);
      await afterwards(page);
      return asked > before;
    };
    await poll();
    return { page, answers, poll, untilAsked, asksWithin };
  };

  it('on the home page a second after a decision, with the record on top of the stream', async () => {
    const { page, poll } = await openStill();
    const [before, used] = [await numberIn(page, 'Decisions'), await numberIn(page, 'Usage')];
    await decide(1, { visitorId: 'live-1' });
    expect(await poll()).toBeLessThanOrEqual(1_000 + tick);
    await eventually(async () => expect(await numberIn(page, 'Decisions')).toBe(before + 1));
    expect(await numberIn(page, 'Usage')).toBe(used + 1);
    const first = await page.locator('.stream-row').first().textContent();
    expect(first).toContain('live-1');
    expect(first).toContain('shop.example');
  });

  it('also when more arrive at once than one question asks for: none is missing in the stream', async () => {
    const { page, poll } = await openStill();
    const rows = await page.locator('.stream-row').count();
    await decide(30, { visitorId: 'burst' });
    await poll();
    await eventually(async () => {
      await page.clock.runFor(tick);
      expect(await page.locator('.stream-row').filter({ hasText: 'burst' }).count()).toBe(30);
    });
    expect(await page.locator('.stream-row').count()).toBe(rows + 30);
  });

  it('with one request a second, which brings records only when a total has moved', async () => {
    const { answers, poll } = await openStill();
    /** What was recorded before may still be sealed, which the records that came with a total show. */
    const untilStill = async () => {
      for (let still = 0; still < 3; ) {
        expect(await poll()).toBeGreaterThan(1_000 - 2 * tick);
        still = answers.at(-1)?.status() === 304 ? still + 1 : 0;
      }
    };
    await untilStill();
    await decide(1);
    await poll();
    expect(answers.at(-1)?.status()).toBe(200);
    await untilStill();
  });

  it('on the page of a domain, where the period has today in it', async () => {
    const { page, poll, asksWithin } = await openStill(`/domains/${domainId}`);
    const before = await numberIn(page, 'Withdrawals');
    await decide(1, { decision: 'withdraw' });
    await poll();
    await eventually(async () => expect(await numberIn(page, 'Withdrawals')).toBe(before + 1));
    const yesterday = addDays(dayOf(Date.now()), -1);
    await page.getByRole('link', { name: 'Yesterday' }).click();
    await page.getByText('Complete period').waitFor();
    const of = (await client().stats(domainId, `from=${yesterday}&to=${yesterday}`)).body.total;
    await eventually(async () => {
      await page.clock.runFor(tick);
      expect(await numberIn(page, 'Decisions')).toBe(of);
      expect(await page.locator('[aria-busy="true"]').count()).toBe(0);
    });
    expect(await asksWithin(10_000)).toBe(false);
    // nor for the log of one visitor, whom no counter knows
    await go(page, `/domains/${domainId}/log?visitorId=nobody`);
    await eventually(async () => {
      await page.clock.runFor(tick);
      expect(await page.getByRole('heading', { name: 'No matching records' }).count()).toBe(1);
    });
    expect(await asksWithin(10_000)).toBe(false);
  });

  it('not in a tab that nobody sees, and at once when it is seen again', async () => {
    const { page, asksWithin } = await openStill();
    /** As a browser tells a page whose tab is put away or shown. */
    const become = (state: string) =>
      page.evaluate((given) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => given });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await become('hidden');
    expect(await asksWithin(10_000)).toBe(false);
    await become('visible');
    expect(await asksWithin(1)).toBe(true);
  });

  it('while the slow answers of a busy service are asked for less often, and never two at once', async () => {
    const { page, poll, untilAsked, asksWithin } = await openStill();
    const release = await hold(page, '**/v1/consent/org-stats?*');
    await untilAsked();
    expect(await asksWithin(550)).toBe(false);
    expect(await asksWithin(1_450)).toBe(false);
    release();
    expect(await poll()).toBeGreaterThan(4 * 1_500);
  });
});
