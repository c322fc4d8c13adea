import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { addDays, dayOf } from '#libs/base/terms/calendar';
import { pollLimit } from '../../apps/dashboard/home/stream.ts';
import { afterwards, hold, step, stopClock } from '../support/browser/browser.ts';
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

/** The dashboard on a page whose clock stands still, and what it asks for again and again. */
async function openStill() {
  const { page, context } = await dashboard.visit();
  await context.clock.install();
  await dashboard.enter(page, customer);
  await figure(page, 'Decisions').waitFor();
  await stopClock(context);
  const asked: Request[] = [];
  page.on('request', (request) => {
    // rates have a pace of their own, and older records are asked for once
    if (/\/v1\/consent\/\S*stats\?/.test(request.url()) && !/by=|cursor=/.test(request.url())) asked.push(request);
  });
  /** Whether it asks within these milliseconds. */
  const asksWithin = async (time: number) => {
    const before = asked.length;
    await page.clock.runFor(time);
    await afterwards(page);
    return asked.length > before;
  };
  /** The status of the last answer, once all that it has asked for is answered. */
  const answered = async () => {
    const responses = await Promise.all(asked.map((request) => request.response()));
    await afterwards(page);
    return responses.at(-1)?.status();
  };
  /** The same of its next answer: it asks for that a second after it asked before, and no sooner. */
  const poll = async () => {
    expect([await asksWithin(1_000 - tick), await asksWithin(tick)]).toEqual([false, true]);
    return answered();
  };
  /** Until it has just been answered, and asks next in a second. */
  const inStep = async () => {
    while (!(await asksWithin(tick)));
    await answered();
  };
  /** What needs the page's clock to be drawn. */
  const drawn = (check: () => Promise<void>) =>
    eventually(async () => {
      await page.clock.runFor(tick);
      await check();
    });
  await inStep();
  return { page, asksWithin, answered, poll, inStep, drawn };
}

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

  it('are asked for once a second, while somebody sees them and the service is not slow', async () => {
    const { page, asksWithin, answered, poll, inStep, drawn } = await openStill();
    const rows = page.locator('.stream-row');
    await step('a second after a decision, the record is on top of the stream', async () => {
      const [before, used] = [await numberIn(page, 'Decisions'), await numberIn(page, 'Usage')];
      await decide(1, { visitorId: 'live-1' });
      await poll();
      await eventually(async () => expect(await numberIn(page, 'Decisions')).toBe(before + 1));
      expect(await numberIn(page, 'Usage')).toBe(used + 1);
      const first = await rows.first().textContent();
      expect(first).toContain('live-1');
      expect(first).toContain('shop.example');
    });
    await step('none is missing in the stream where more arrive than one request asks for', async () => {
      expect(await rows.count()).toBe(10);
      await page.getByRole('button', { name: 'Older records' }).click();
      await drawn(async () => expect(await page.getByText('No older records').count()).toBe(1));
      await inStep();
      const before = await rows.count();
      await decide(2 * pollLimit, { visitorId: 'burst' });
      await poll();
      await poll();
      await eventually(async () => expect(await rows.filter({ hasText: 'burst' }).count()).toBe(2 * pollLimit));
      expect(await rows.count()).toBe(before + 2 * pollLimit);
    });
    await step('records come only when a total has moved', async () => {
      // what was recorded before may still be sealed, which records that came with a total show
      while ((await poll()) !== 304);
      await decide(1);
      expect(await poll()).toBe(200);
      while ((await poll()) !== 304);
    });
    await step('a tab that nobody sees asks for nothing, and at once when it is seen again', async () => {
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
      await answered();
    });
    await step('never two at once, and less often after a slow answer', async () => {
      const release = await hold(page, '**/v1/consent/org-stats?*');
      expect(await asksWithin(1_000)).toBe(true);
      expect(await asksWithin(3_000)).toBe(false);
      await page.getByText(/Waiting for the service: figures from/).waitFor();
      release();
      await answered();
      await page.getByText('Updates by itself', { exact: true }).waitFor();
      expect([await asksWithin(4 * 2_500), await asksWithin(4 * 1_000)]).toEqual([false, true]);
      await answered();
    });
    await step('on the page of a domain, where the period has today in it', async () => {
      // the chart of rates asks for more, at a pace of its own
      await go(page, `/domains/${domainId}?chart=counts`);
      await drawn(async () => expect(await figure(page, 'Withdrawals').count()).toBe(1));
      await inStep();
      const before = await numberIn(page, 'Withdrawals');
      await decide(1, { decision: 'withdraw' });
      await poll();
      await eventually(async () => expect(await numberIn(page, 'Withdrawals')).toBe(before + 1));
      const yesterday = addDays(dayOf(Date.now()), -1);
      await page.getByRole('link', { name: 'Yesterday' }).click();
      const of = (await client().stats(domainId, `from=${yesterday}&to=${yesterday}`)).body.total;
      await drawn(async () => {
        expect(await page.getByText('Final figures').count()).toBe(1);
        expect(await numberIn(page, 'Decisions')).toBe(of);
        expect(await page.locator('[aria-busy="true"]').count()).toBe(0);
      });
      expect(await asksWithin(10_000)).toBe(false);
    });
    await step('but not for the log of one visitor, whom no counter knows', async () => {
      await go(page, `/domains/${domainId}/log?visitorId=nobody`);
      await drawn(async () => expect(await page.getByRole('heading', { name: 'No matching records' }).count()).toBe(1));
      expect(await asksWithin(10_000)).toBe(false);
    });
  });
});
