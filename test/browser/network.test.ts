/** What sends the widget's decisions is the record client, so most pages here have it alone: without a banner, they cost less. */
import type { Page, Request, Route } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { afterwards, click, step, stopClock } from '../support/browser/browser.ts';
import { clientTag } from '../support/browser/site.ts';
import { consentIn, decide, kept, useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const day = 86_400_000;

describe('a decision on a bad network', () => {
  const widget = useWidget(useStack);
  let bare = '';
  beforeEach(() => {
    bare = widget.add('/bare', clientTag(widget.stack));
  });

  const waiting = async (page: Page) => (await kept(page, '.queue.')).length;
  const emptied = (page: Page) => eventually(async () => expect(await waiting(page)).toBe(0));
  const decisions = async (count: number) => (await widget.records(count)).map(({ decision }) => decision);
  /** One whose clock stands still once the test stops it. */
  const clocked = async () => {
    const visitor = await widget.visit();
    await visitor.context.clock.install();
    await visitor.page.goto(bare);
    return visitor;
  };

  it('is recorded once the browser is online again, as what it was and when it was', async () => {
    const { page, context } = await widget.visit();
    const onTheirWay = new Set<Request>();
    const hasEnded = (request: Request) => onTheirWay.delete(request);
    page.on('request', (request) => onTheirWay.add(request));
    page.on('requestfinished', hasEnded).on('requestfailed', hasEnded);
    await context.clock.install();
    await page.goto(bare);
    await context.setOffline(true);
    // an id has the time
    const ids = [await decide(page, 'accept_all'), await decide(page, 'withdraw')];
    expect(await waiting(page)).toBe(2);
    // from here on nothing comes of waiting, and nothing is on its way that could fail after the network is back
    await stopClock(context);
    await eventually(() => expect(onTheirWay.size).toBe(0));
    await context.setOffline(false);
    const records = await widget.records(2);
    expect(records.map(({ id, decision }) => [id, decision])).toEqual([
      [ids[0], 'accept_all'],
      [ids[1], 'withdraw'],
    ]);
    await emptied(page);
  });

  it('is recorded by a later page, and dropped with one warning, not dated anew, where it is over 30 days old', async () => {
    const { page, context, messages } = await widget.visit();
    const now = Date.now();
    await context.clock.setFixedTime(now - 31 * day);
    await page.goto(bare);
    await context.setOffline(true);
    await decide(page, 'accept_all');
    await context.clock.setFixedTime(now - 10 * day);
    await decide(page, 'reject_all');
    await page.close();
    await context.setOffline(false);
    await context.clock.setFixedTime(now);
    const later = await context.newPage();
    await later.goto(bare);
    await emptied(later);
    const [record] = await widget.records(1);
    expect(record?.decision).toBe('reject_all');
    expect(Date.parse(record?.decidedAt ?? '')).toBe(now - 10 * day);
    expect(warningsIn(messages)).toEqual([expect.stringContaining('its time is out of range')]);
  });

  it('is sent again by the same page, also after something between has answered in place of the service', async () => {
    const { page, context } = await clocked();
    const headers = { 'access-control-allow-origin': '*' };
    const former = await decide(page, 'accept_all');
    await emptied(page);
    const responses = [
      (route: Route) => route.abort('connectionrefused'),
      (route: Route) => route.fulfill({ headers, body: '<h1>Hotel Wi-Fi: sign in</h1>' }),
      // as a service worker of the page may keep it
      (route: Route) => route.fulfill({ headers, json: { id: former, status: 'known' } }),
    ];
    await context.route('**/record', (route) => (responses.shift() ?? ((last) => last.continue()))(route));
    await decide(page, 'reject_all');
    await eventually(async () => {
      await context.clock.runFor(1_500);
      expect(await waiting(page)).toBe(0);
    });
    expect(responses).toEqual([]);
    expect(await decisions(2)).toEqual(['accept_all', 'reject_all']);
  });

  it('goes at once with the next one that arrives, however long it was to wait', async () => {
    const { page, context } = await clocked();
    let isBlocked = true;
    await context.route('**/record', (route) => (isBlocked ? route.abort() : route.continue()));
    await Promise.all([page.waitForEvent('requestfailed'), decide(page, 'accept_all')]);
    await stopClock(context);
    isBlocked = false;
    await decide(page, 'withdraw');
    expect(await decisions(2)).toEqual(['accept_all', 'withdraw']);
  });

  it('is tried again, too, where it fails while another one that waited with it arrives', async () => {
    const { page, context } = await clocked();
    await stopClock(context);
    const asked: Route[] = [];
    await context.route('**/record', (route) => void asked.push(route));
    /** The request of this number, which goes nowhere. */
    const fail = async (index: number) => {
      await expect.poll(() => asked.length).toBeGreaterThan(index);
      await Promise.all([page.waitForEvent('requestfailed'), asked[index]?.abort()]);
    };
    await decide(page, 'accept_all');
    await fail(0);
    await decide(page, 'withdraw');
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

  it.each([
    [429, 'in seconds'],
    [503, 'by a date'],
  ])('waits as long as a %i asks %s, also on the next page', async (status, form) => {
    const { page, context } = await clocked();
    const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
    const after = form === 'in seconds' ? '3000' : new Date(Date.now() + 3_000_000).toUTCString();
    let asked = 0;
    await context.route('**/record', (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      return route.fulfill({ status, headers: { ...headers, 'retry-after': after }, json: { code: 'rate_limited' } });
    });
    await decide(page, 'accept_all');
    // the answer has reached the page
    await eventually(async () => expect(await kept(page, `${widget.stack.domainId}.wait`)).toHaveLength(1));
    await page.reload();
    // nor does the next decision go before
    await decide(page, 'withdraw');
    // less than that by more than a test takes
    await context.clock.fastForward(2_700_000);
    await afterwards(page);
    expect(asked).toBe(1);
    // half as long again at most, so that not all browsers come at once
    await context.clock.fastForward(1_900_000);
    await widget.records(2);
    expect(asked).toBe(3);
  });

  it('is recorded at the right time by a clock that is a year behind, or six minutes ahead', async () => {
    const { page, context, messages } = await widget.visit();
    let count = 0;
    for (const days of [-365, 6 / 1440])
      await step(`by ${days} days`, async () => {
        const start = Date.now();
        await context.clock.setFixedTime(start + days * day);
        await page.goto(widget.address);
        await click(page, 'Accept all');
        count += 1;
        const { id, decidedAt = '' } = (await widget.records(count)).at(-1) ?? {};
        // too early by as long as the answer took, which says what the time is
        expect(Date.parse(decidedAt)).toBeGreaterThan(start - 60_000);
        expect(Date.parse(decidedAt)).toBeLessThanOrEqual(Date.now() + 1_000);
        await emptied(page);
        // the choice holds by the device's own clock, under the record's own id
        await page.reload();
        await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
        expect(await consentIn(page)).toMatchObject({ id, decidedAt });
        await page.evaluate(() => localStorage.clear());
      });
    expect(warningsIn(messages)).toEqual([]);
  });

  it('under a wrong clock stays one record, though two tabs correct it', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install({ time: Date.now() + 365 * day });
    const other = await context.newPage();
    await page.goto(bare);
    await other.goto(bare);
    await context.setOffline(true);
    await decide(page, 'accept_all');
    // both are told that the id's time is wrong before either can correct it
    const held = new Map<Page, Route>();
    let corrected = 0;
    const underWay = new Set<Request>();
    context.on('request', (request) => request.method() === 'POST' && underWay.add(request));
    const ended = (request: Request) => underWay.delete(request);
    context.on('requestfinished', ended).on('requestfailed', ended);
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
    // whatever was sent is stored before another decision
    await eventually(() => expect(underWay.size).toBe(0));
    await decide(page, 'withdraw');
    await widget.records(2);
  });

  it('is recorded where the browser stores nothing', async () => {
    const denied = `<script>
      const get = () => { throw new DOMException('denied', 'SecurityError'); };
      Object.defineProperty(window, 'localStorage', { get });
    </script>`;
    const { page } = await widget.open(widget.add('/', denied + widget.tag()));
    await click(page, 'Accept all');
    expect(await decisions(1)).toEqual(['accept_all']);
    expect(await consentIn(page)).toMatchObject({ decision: 'accept_all' });
  });

  it('is recorded at the right time, too, where the browser refuses locks as it does storage', async () => {
    const denied = `<script>
      navigator.locks.request = async () => { throw new DOMException('denied', 'SecurityError'); };
    </script>`;
    const { page, context } = await widget.visit();
    await context.clock.setFixedTime(Date.now() - 365 * day);
    await page.goto(widget.add('/', denied + widget.tag()));
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    expect(Date.now() - Date.parse(record?.decidedAt ?? '')).toBeLessThan(day);
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
