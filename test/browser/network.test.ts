import type { Page, Request, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { afterwards, click, stopClock } from '../support/browser/browser.ts';
import { tag } from '../support/browser/site.ts';
import { consentIn, kept, useWidget, warningsIn } from '../support/browser/widget.ts';
import { openGate } from '../support/gate.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const day = 86_400_000;

describe('a decision on a bad network', () => {
  const widget = useWidget(useStack);

  const waiting = async (page: Page) => (await kept(page, '.queue.')).length;
  const emptied = (page: Page) => eventually(async () => expect(await waiting(page)).toBe(0));

  it('is recorded once the browser is online again, with the time at which it was made', async () => {
    const { page, context } = await widget.visit();
    const onTheirWay = new Set<Request>();
    const hasEnded = (request: Request) => onTheirWay.delete(request);
    page.on('request', (request) => onTheirWay.add(request));
    page.on('requestfinished', hasEnded).on('requestfailed', hasEnded);
    await context.clock.install();
    await page.goto(widget.address);
    await context.setOffline(true);
    await click(page, 'Accept all');
    const made = await consentIn(page);
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    expect(await waiting(page)).toBe(2);
    // from here on nothing comes of waiting, and nothing is on its way that could fail after the network is back
    await stopClock(context);
    await eventually(() => expect(onTheirWay.size).toBe(0));
    await context.setOffline(false);
    const records = await widget.records(2);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
    expect(records[0]?.decidedAt).toBe(made?.decidedAt);
    await emptied(page);
  });

  /** Decides offline, so many days ago, and comes again today. */
  const decideBefore = async (days: number) => {
    const { page, context, messages } = await widget.visit();
    const now = Date.now();
    await context.clock.setFixedTime(now - days * day);
    await page.goto(widget.address);
    await context.setOffline(true);
    await click(page, 'Accept all');
    await page.close();
    await context.setOffline(false);
    await context.clock.setFixedTime(now);
    const later = await context.newPage();
    await later.goto(widget.address);
    await emptied(later);
    return { messages, time: now - days * day };
  };

  it('is recorded by a later page, days after', async () => {
    const { time } = await decideBefore(10);
    const [record] = await widget.records(1);
    expect(Date.parse(record?.decidedAt ?? '')).toBe(time);
  });

  it('that is over 30 days old by a right clock is dropped with one warning, not dated anew', async () => {
    const { messages } = await decideBefore(31);
    expect(warningsIn(messages)).toEqual([expect.stringContaining('not within the last 30 days')]);
    await widget.records(0);
  });

  it('is recorded by the same page once the service is up again', async () => {
    const { api } = widget.stack;
    const gate = await openGate(api.baseUrl);
    const behind = { ...widget.stack, api: { ...api, baseUrl: new URL(gate.url).origin } };
    const { page } = await widget.open(widget.add('/', tag(behind)));
    await page.getByRole('dialog').waitFor();
    gate.shut();
    const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/record'));
    await Promise.all([failed, click(page, 'Reject all')]);
    gate.open();
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all' }]);
    await emptied(page);
  });

  it('goes at once with the next one that arrives, however long it was to wait', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install();
    await page.goto(widget.address);
    let isBlocked = true;
    await context.route('**/record', (route) => (isBlocked ? route.abort() : route.continue()));
    await Promise.all([page.waitForEvent('requestfailed'), click(page, 'Accept all')]);
    await stopClock(context);
    isBlocked = false;
    await page.evaluate(() => window.assent?.withdraw());
    const records = await widget.records(2);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw']);
  });

  it('is tried again, too, where it fails while another one that waited with it arrives', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install();
    await stopClock(context);
    const asked: Route[] = [];
    await context.route('**/record', (route) => void asked.push(route));
    /** The request of this number, which goes nowhere. */
    const fail = async (index: number) => {
      await expect.poll(() => asked.length).toBeGreaterThan(index);
      await Promise.all([page.waitForEvent('requestfailed'), asked[index]?.abort()]);
    };
    await page.goto(widget.address);
    await click(page, 'Accept all');
    await fail(0);
    await page.evaluate(() => window.assent?.withdraw());
    await fail(1);
    // the first of them is on its way when the network comes back once more, so then the second one goes
    for (let times = 0; times < 2; times += 1) await page.evaluate(() => dispatchEvent(new Event('online')));
    await expect.poll(() => asked.length).toBe(4);
    await fail(2);
    await asked[3]?.continue();
    await eventually(async () => expect(await waiting(page)).toBe(1));
    await context.clock.runFor(1_500);
    await expect.poll(() => asked.length).toBe(5);
    await asked[4]?.continue();
    await widget.records(2);
  });

  it.each([429, 503])('waits as long as a %i asks, also on the next page', async (status) => {
    const { page, context } = await widget.visit();
    await context.clock.install();
    let asked = 0;
    const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
    await context.route('**/record', (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      return route.fulfill({ status, headers: { ...headers, 'retry-after': '3000' }, json: { code: 'rate_limited' } });
    });
    await page.goto(widget.address);
    await click(page, 'Accept all');
    // the answer has reached the widget
    await eventually(async () => expect(await kept(page, `${widget.stack.domainId}.wait`)).toHaveLength(1));
    await page.reload();
    // nor does the next decision go before
    await page.evaluate(() => window.assent?.withdraw());
    // less than that by more than a test takes
    await context.clock.fastForward(2_700_000);
    await afterwards(page);
    expect(asked).toBe(1);
    // half as long again at most, so that not all browsers come at once
    await context.clock.fastForward(1_900_000);
    await widget.records(2);
    expect(asked).toBe(3);
  });

  it.each([
    ['a year behind', -365],
    ['six minutes ahead', 6 / 1440],
  ])('is recorded at the right time by a clock that is %s', async (_, days) => {
    const { page, context, messages } = await widget.visit();
    const start = Date.now();
    await context.clock.install({ time: start + days * day });
    await page.goto(widget.address);
    await click(page, 'Accept all');
    const [{ id, decidedAt } = { id: '', decidedAt: '' }] = await widget.records(1);
    // too early by as long as the answer took, which says what the time is
    expect(Date.parse(decidedAt)).toBeGreaterThan(start - 60_000);
    expect(Date.parse(decidedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
    await emptied(page);
    // the choice holds by the device's own clock, under the record's own id
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await consentIn(page)).toMatchObject({ id, decidedAt });
    expect(warningsIn(messages)).toEqual([]);
  });

  it('under a wrong clock stays one record, though two tabs correct it', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install({ time: Date.now() + 365 * day });
    const other = await context.newPage();
    await page.goto(widget.address);
    await other.goto(widget.address);
    await context.setOffline(true);
    await click(page, 'Accept all');
    // both are told that the id's time is wrong before either can correct it
    const held = new Map<Page, Route>();
    let corrected = 0;
    await context.route('**/record', async (route) => {
      if (held.size === 2) {
        corrected += 1;
        return route.continue();
      }
      // a tab that has given up and asks again takes its own place
      held.set(route.request().frame().page(), route);
      if (held.size === 2) await Promise.all([...held.values()].map((each) => each.continue()));
    });
    await context.setOffline(false);
    // a page that loads asks at once, one that was offline when it is told
    await Promise.all([page.reload(), other.reload()]);
    await eventually(() => expect(corrected).toBeGreaterThan(0));
    await Promise.all([emptied(page), emptied(other)]);
    // whoever corrects holds this lock; the one who asks last gets it last
    const lock = `assent.${widget.stack.domainId}`;
    for (const tab of [page, other]) await tab.evaluate((name) => navigator.locks.request(name, () => {}), lock);
    await Promise.all([emptied(page), emptied(other)]);
    await widget.records(1);
  });

  it('that the service can never accept is dropped with one warning', async () => {
    const { page, messages } = await widget.open(widget.add('/', widget.tag({ 'data-categories': 'analytics a/b' })));
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await click(page, 'Save choice');
    await emptied(page);
    expect(warningsIn(messages).slice(1)).toEqual([expect.stringContaining('dropped: ')]);
    // the visitor's choice holds all the same
    expect(await consentIn(page)).toMatchObject({ decision: 'custom' });
  });

  it('is recorded though something between answers in place of the service', async () => {
    const { page, context } = await widget.visit.again();
    let times = 0;
    await context.route('**/record', (route) => {
      times += 1;
      const headers = { 'access-control-allow-origin': '*' };
      return times === 1 ? route.fulfill({ headers, body: '<h1>Hotel Wi-Fi: sign in</h1>' }) : route.continue();
    });
    await page.goto(widget.address);
    await click(page, 'Accept all');
    await widget.records(1);
  });

  it('is recorded where the browser stores nothing', async () => {
    const { page, context } = await widget.visit();
    await context.addInitScript(() => {
      Object.defineProperty(window, 'localStorage', {
        get: () => {
          throw new DOMException('denied', 'SecurityError');
        },
      });
    });
    await page.goto(widget.address);
    await click(page, 'Accept all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all' }]);
    expect(await consentIn(page)).toMatchObject({ decision: 'accept_all' });
  });

  it('is recorded though the visitor leaves in the same moment', async () => {
    const { page } = await widget.open();
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => {
      window.assent?.onChange(() => location.assign('about:blank'));
    });
    await click(page, 'Accept all');
    await page.waitForURL('about:blank');
    await widget.records(1);
  });
});
