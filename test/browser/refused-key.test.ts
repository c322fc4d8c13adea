/** What sends the widget's decisions is the record client, so pages here have it alone: without a banner, they cost less. */
import type { BrowserContext, Page, Route } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import { afterwards, step, stopClock } from '../support/browser/browser.ts';
import { clientTag } from '../support/browser/site.ts';
import { decide, kept, useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('a decision whose key the service refuses', () => {
  const widget = useWidget(useStack);
  let bare = '';

  /** The page has a key that was revoked. */
  beforeEach(async () => {
    bare = widget.add('/bare', clientTag(widget.stack));
    await createAdministration(widget.stack.db, 'test').revokeKey(widget.stack.domainId, widget.stack.apiKey);
  });

  const putRight = async () => {
    const { apiKey } = await createAdministration(widget.stack.db, 'test').createKey(widget.stack.domainId);
    return widget.add('/put-right', clientTag({ ...widget.stack, apiKey }));
  };
  /** As after a restored backup: the key is there as if it had never been revoked. */
  const restore = async () => {
    const { db, domainId, apiKey, client } = widget.stack;
    await db.run((sql) => sql`update api_keys set revoked_at = null where domain_id = ${domainId}`);
    // the API remembers for a moment that it did not know the key; with a good one it looks at the body
    await eventually(async () => expect((await client.record(domainId, apiKey, '{')).status).toBe(400));
  };

  const refused = (page: Page) => page.waitForResponse((response) => response.status() === 401);
  /** The refusal has reached the page. */
  const noted = (page: Page, wait: number) =>
    eventually(async () => expect(await kept(page, '.refused.')).toEqual([expect.stringMatching(` ${wait}$`)]));

  /** A visitor whose decision was refused, its id, and the records sent and the status of each answer so far. */
  const refusedVisitor = async (prepare = async (_: BrowserContext): Promise<void> => {}) => {
    const visitor = await widget.visit();
    const { page, context } = visitor;
    const responses: number[] = [];
    const sent: string[] = [];
    context.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    context.on('response', (response) => {
      if (response.request().method() === 'POST') responses.push(response.status());
    });
    await prepare(context);
    await page.goto(bare);
    const [, id] = await Promise.all([refused(page), decide(page, 'accept_all')]);
    await noted(page, hour);
    return { ...visitor, sent, answers: responses, id };
  };
  const installClock = (context: BrowserContext) => context.clock.install();

  it('arrives exactly once, by the first page that has a new key, while a tab with the old one still waits', async () => {
    const { page, context, sent, answers, id } = await refusedVisitor();
    const other = await context.newPage();
    await other.goto(await putRight());
    expect(await widget.records(1)).toMatchObject([{ id, decision: 'accept_all' }]);
    // nothing is left of the refusal, nor is anything sent again
    for (const part of ['.queue.', '.refused.'])
      await eventually(async () => expect(await kept(page, part)).toEqual([]));
    await expect.poll(() => answers).toEqual([401, 202]);
    await page.reload();
    await afterwards(page);
    expect(sent).toHaveLength(2);
    await widget.records(1);
  });

  it('is not asked about again before an hour has passed, then two, and so on', async () => {
    const start = Date.now();
    const { page, context, messages, sent } = await refusedVisitor(({ clock }) => clock.setFixedTime(start));
    let now = start;
    let asked = 1;
    for (const wait of [hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, day, day]) {
      if (wait === hour || wait === day) {
        await context.clock.setFixedTime(now + wait - 1_000);
        await page.reload();
        await afterwards(page);
        expect({ wait, asked: sent.length }).toEqual({ wait, asked });
      }
      now += wait;
      asked += 1;
      // a page that is open might ask just before it is loaded again
      await page.goto('about:blank');
      await context.clock.setFixedTime(now);
      await Promise.all([refused(page), page.goto(bare)]);
      await noted(page, Math.min(wait * 2, day));
    }
    expect(sent.length).toBe(asked);
    expect(await kept(page, '.queue.')).toHaveLength(1);
    // of the last two waits, which are as long, the page may have noted only the first
    await expect.poll(() => warningsIn(messages)).toHaveLength(asked);
    expect(warningsIn(messages)[0]).toMatch(/x-api-key.*wait/);
  });

  it('is sent after the wait by a page that stays open', async () => {
    const { context } = await refusedVisitor(installClock);
    await restore();
    await context.clock.fastForward(1.5 * hour + 1_000);
    await widget.records(1);
  });

  it('goes at once with the next decision, should the key be accepted again', async () => {
    const { page, context, messages, answers } = await refusedVisitor(installClock);
    // one that is refused too does not lengthen the wait
    await Promise.all([refused(page), decide(page, 'withdraw')]);
    // which precedes what it would note
    await expect.poll(() => warningsIn(messages)).toHaveLength(2);
    await noted(page, hour);
    await restore();
    await stopClock(context);
    await decide(page, 'custom');
    const records = await widget.records(3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw', 'custom']);
    // from here on a failure is retried as soon as any other
    await eventually(() => expect(answers.filter((status) => status === 202)).toHaveLength(3));
    let isBlocked = true;
    await context.route('**/record', (route) => (isBlocked ? route.abort() : route.continue()));
    await Promise.all([page.waitForEvent('requestfailed'), decide(page, 'withdraw')]);
    isBlocked = false;
    await eventually(async () => {
      await context.clock.runFor(2_000);
      expect(await kept(page, '.queue.')).toEqual([]);
    });
    await widget.records(4);
  });

  it('in two tabs at once is one refusal', async () => {
    const { page, context, messages } = await widget.visit();
    const other = await context.newPage();
    await page.goto(bare);
    await context.setOffline(true);
    await decide(page, 'accept_all');
    // each asks as it loads, not when it hears of the network
    await page.goto('about:blank');
    await context.setOffline(false);
    // neither knows of the other's refusal when it asks
    const held = new Map<Page, Route>();
    await context.route('**/record', async (route) => {
      if (held.size === 2) return route.continue();
      held.set(route.request().frame().page(), route);
      if (held.size === 2) await Promise.all([...held.values()].map((each) => each.continue()));
    });
    const both = Promise.all([refused(page), refused(other)]);
    await Promise.all([page.goto(bare), other.goto(bare)]);
    await both;
    await eventually(() => expect(warningsIn(messages)).toHaveLength(2));
    await noted(page, hour);
  });

  it('is dropped once it is over 30 days old, with one warning', async () => {
    const start = Date.now();
    const { page, context, messages } = await refusedVisitor(({ clock }) => clock.setFixedTime(start - 31 * day));
    await context.clock.setFixedTime(start - 2 * day);
    await Promise.all([refused(page), page.reload()]);
    await noted(page, 2 * hour);
    expect(await kept(page, '.queue.')).toHaveLength(1);
    await context.clock.setFixedTime(start);
    await Promise.all([refused(page), page.reload()]);
    await eventually(async () => expect(await kept(page, '.queue.')).toEqual([]));
    expect(messages.filter((message) => message.includes('dropped'))).toEqual([
      expect.stringContaining('its time is out of range'),
    ]);
  });

  it('waits after some refusals, and is dropped with a warning after those that are its own fault', async () => {
    const { page, messages } = await widget.visit.again();
    let status = 0;
    const headers = { 'access-control-allow-origin': '*' };
    const json = { code: 'refused', detail: 'no' };
    await page.route('**/record', (route) => route.fulfill({ status, headers, json }));
    await page.goto(bare);
    for (status of [403, 404, 405, 400, 413, 415])
      await step(String(status), async () => {
        messages.length = 0;
        await decide(page, 'accept_all');
        await eventually(() => expect(warningsIn(messages)).toHaveLength(1));
        const waits = status >= 403 && status <= 405;
        expect(warningsIn(messages)[0]?.includes('dropped')).toBe(!waits);
        expect(await kept(page, '.queue.')).toHaveLength(waits ? 1 : 0);
        expect(await kept(page, '.refused.')).toHaveLength(waits ? 1 : 0);
        await page.evaluate(() => localStorage.clear());
      });
  });

  it('of which the service says that it can never accept it is dropped', async () => {
    const { page, messages } = await widget.visit.again();
    await page.goto(await putRight());
    await page.evaluate(() => window.client?.record({ decision: 'custom', preferences: { 'a/b': true } }));
    await eventually(async () => expect(await kept(page, '.queue.')).toEqual([]));
    expect(warningsIn(messages)).toEqual([expect.stringContaining('dropped: ')]);
  });
});
