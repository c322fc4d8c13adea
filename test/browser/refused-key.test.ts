import type { BrowserContext, Page, Route } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/tenants/administration';
import { afterwards, click, stopClock } from '../support/browser/browser.ts';
import { tag } from '../support/browser/site.ts';
import { consentIn, kept, useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('a decision whose key the service refuses', () => {
  const widget = useWidget(useStack);

  /** The page has a key that was revoked. */
  beforeEach(() => createAdministration(widget.stack.db, 'test').revokeKey(widget.stack.domainId, widget.stack.apiKey));

  const putRight = async () => {
    const { apiKey } = await createAdministration(widget.stack.db, 'test').createKey(widget.stack.domainId);
    return widget.add('/put-right', tag({ ...widget.stack, apiKey }));
  };
  /** As after a restored backup: the key is there as if it had never been revoked. */
  const restore = async () => {
    const { db, domainId, apiKey, client } = widget.stack;
    await db.run((sql) => sql`update api_keys set revoked_at = null where domain_id = ${domainId}`);
    // the API remembers for a moment that it did not know the key; with a good one it looks at the body
    await eventually(async () => expect((await client.record(domainId, apiKey, '{')).status).toBe(400));
  };

  const refused = (page: Page) => page.waitForResponse((response) => response.status() === 401);
  /** The refusal has reached the widget. */
  const noted = (page: Page, wait: number) =>
    eventually(async () => expect(await kept(page, '.refused.')).toEqual([expect.stringMatching(` ${wait}$`)]));
  /** What a page sends when it loads has gone before this, if it sends anything. */
  const settled = async (page: Page) => {
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    await afterwards(page);
  };

  /** A visitor whose decision was refused, and the status of each answer to a record so far. */
  const refusedVisitor = async (prepare = async (_: BrowserContext): Promise<void> => {}) => {
    const visitor = await widget.visit();
    const { page, context } = visitor;
    const answers: number[] = [];
    context.on('response', (response) => {
      if (response.request().method() === 'POST') answers.push(response.status());
    });
    await prepare(context);
    await page.goto(widget.address);
    await Promise.all([refused(page), click(page, 'Accept all')]);
    await noted(page, hour);
    return { ...visitor, answers };
  };
  const installClock = (context: BrowserContext) => context.clock.install();

  it('arrives exactly once, by the first page that has a new key, while a tab with the old one still waits', async () => {
    const { page, context, answers } = await refusedVisitor();
    const { id } = (await consentIn(page)) ?? {};
    const other = await context.newPage();
    await other.goto(await putRight());
    expect(await widget.records(1)).toMatchObject([{ id, decision: 'accept_all' }]);
    // nothing is left of the refusal, nor is anything sent again
    for (const part of ['.queue.', '.refused.'])
      await eventually(async () => expect(await kept(page, part)).toEqual([]));
    await expect.poll(() => answers).toEqual([401, 202]);
    await page.reload();
    await settled(page);
    expect(answers).toEqual([401, 202]);
    await widget.records(1);
  });

  it('is not asked about again before an hour has passed, then two, and so on', async () => {
    const start = Date.now();
    const { page, context, messages, answers } = await refusedVisitor(({ clock }) => clock.setFixedTime(start));
    let now = start;
    let asked = 1;
    for (const wait of [hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, day, day]) {
      if (wait === hour || wait === day) {
        await context.clock.setFixedTime(now + wait - 1_000);
        await page.reload();
        await settled(page);
        expect({ wait, asked: answers.length }).toEqual({ wait, asked });
      }
      now += wait;
      asked += 1;
      // a page that is open might ask just before it is loaded again
      await page.goto('about:blank');
      await context.clock.setFixedTime(now);
      await Promise.all([refused(page), page.goto(widget.address)]);
      await noted(page, Math.min(wait * 2, day));
    }
    expect(answers.length).toBe(asked);
    expect(await kept(page, '.queue.')).toHaveLength(1);
    const warnings = warningsIn(messages);
    expect(warnings).toHaveLength(asked);
    expect(warnings[0]).toMatch(/x-api-key.*wait/);
  });

  it('is sent after the wait by a page that stays open', async () => {
    const { context } = await refusedVisitor(installClock);
    await restore();
    await context.clock.fastForward(1.5 * hour + 1_000);
    await widget.records(1);
  });

  it('goes at once with the next decision, should the key be accepted again', async () => {
    const { page, context, answers } = await refusedVisitor(installClock);
    // one that is refused too does not lengthen the wait
    await Promise.all([refused(page), page.evaluate(() => window.assent?.withdraw())]);
    await settled(page);
    await noted(page, hour);
    await restore();
    await stopClock(context);
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    const records = await widget.records(3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'withdraw', 'accept_all']);
    // from here on a failure is retried as soon as any other
    await eventually(() => expect(answers.filter((status) => status === 202)).toHaveLength(3));
    let isBlocked = true;
    await context.route('**/record', (route) => (isBlocked ? route.abort() : route.continue()));
    await Promise.all([page.waitForEvent('requestfailed'), page.evaluate(() => window.assent?.withdraw())]);
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
    await page.goto(widget.address);
    await other.goto(widget.address);
    await context.setOffline(true);
    await click(page, 'Accept all');
    // each asks as it loads, not when it hears of the network
    await Promise.all([page.goto('about:blank'), other.goto('about:blank')]);
    await context.setOffline(false);
    // neither knows of the other's refusal when it asks
    const held = new Map<Page, Route>();
    await context.route('**/record', async (route) => {
      if (held.size === 2) return route.continue();
      held.set(route.request().frame().page(), route);
      if (held.size === 2) await Promise.all([...held.values()].map((each) => each.continue()));
    });
    const both = Promise.all([refused(page), refused(other)]);
    await Promise.all([page.goto(widget.address), other.goto(widget.address)]);
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
      expect.stringContaining('not within the last 30 days'),
    ]);
  });

  it.each([
    ['waits', [403, 404, 405]],
    ['is dropped', [400, 413, 415]],
  ])('%s after a refusal with any of %j', async (what, statuses) => {
    const { page, context, messages } = await widget.visit();
    const told = (part: string) => messages.filter((message) => message.includes(part)).length;
    for (const [at, status] of statuses.entries()) {
      const json = { code: 'refused', detail: 'no' };
      await context.route('**/record', (route) =>
        route.fulfill({ status, headers: { 'access-control-allow-origin': '*' }, json }),
      );
      await page.goto(widget.address);
      await click(page, 'Accept all');
      await eventually(() => expect(told('warning: assent')).toBe(at + 1));
      expect(told('dropped')).toBe(what === 'waits' ? 0 : at + 1);
      expect(await kept(page, '.queue.')).toHaveLength(what === 'waits' ? 1 : 0);
      expect(await kept(page, '.refused.')).toHaveLength(what === 'waits' ? 1 : 0);
      await page.evaluate(() => localStorage.clear());
      await context.unroute('**/record');
    }
  });
});
