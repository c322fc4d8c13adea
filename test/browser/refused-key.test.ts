import type { BrowserContext, Page, Route } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAdministration } from '#libs/store/tenants/administration';
import { click, stopClock, useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { recordsOf, type Stack, useStack, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('a decision whose key the service refuses', () => {
  const visit = useBrowser();
  let stack: Stack;
  let site: Site;
  let address: string;

  beforeAll(async () => {
    stack = await useStack();
    site = await startSite();
  });

  /** The page has a key that was revoked. */
  beforeEach(async () => {
    stack = await withOwnDomain(stack);
    await createAdministration(stack.db, 'test').revokeKey(stack.domainId, stack.apiKey);
    address = site.add('/', html(tag(stack)));
  });

  const putRight = async () => {
    const { apiKey } = await createAdministration(stack.db, 'test').createKey(stack.domainId);
    return site.add('/put-right', html(tag({ ...stack, apiKey })));
  };
  /** As after a restored backup: the key is there as if it had never been revoked. */
  const restore = async () => {
    const { db, domainId, apiKey, client } = stack;
    await db.run((sql) => sql`update api_keys set revoked_at = null where domain_id = ${domainId}`);
    // the API remembers for a moment that it did not know the key; with a good one it looks at the body
    await eventually(async () => expect((await client.record(domainId, apiKey, '{')).status).toBe(400));
  };

  /** The status of each answer to a record so far. */
  const answersIn = (context: BrowserContext): number[] => {
    const answers: number[] = [];
    context.on('response', (response) => {
      if (response.request().method() === 'POST') answers.push(response.status());
    });
    return answers;
  };
  const refused = (page: Page) => page.waitForResponse((response) => response.status() === 401);
  const decide = (page: Page) => Promise.all([refused(page), click(page, 'Accept all')]);
  /** What the browser keeps under a name like this. */
  const kept = (page: Page, part: string) =>
    page.evaluate(
      (wanted) => Object.entries(localStorage).flatMap(([name, text]) => (name.includes(wanted) ? [text] : [])),
      part,
    );
  /** The refusal has reached the widget. */
  const noted = (page: Page, wait: number) =>
    eventually(async () => expect(await kept(page, '.refused.')).toEqual([expect.stringMatching(` ${wait}$`)]));
  /** What a page sends when it loads has gone before this, if it sends anything. */
  const settled = async (page: Page) => {
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    await page.evaluate(() => fetch('/after').then((response) => response.text()));
  };

  it('arrives exactly once, by the first page that has a new key', async () => {
    const { page, context } = await visit();
    const answers = answersIn(context);
    await page.goto(address);
    await decide(page);
    await noted(page, hour);
    const id = await page.evaluate(() => window.assent?.getConsent()?.id);
    await page.goto(await putRight());
    expect(await recordsOf(stack, 1)).toMatchObject([{ id, decision: 'accept_all' }]);
    await eventually(async () => expect(await kept(page, '.queue.')).toEqual([]));
    expect(answers).toEqual([401, 202]);
    // nothing is left of the refusal, nor is anything sent again
    expect(await kept(page, '.refused.')).toEqual([]);
    await page.reload();
    await settled(page);
    expect(answers).toEqual([401, 202]);
    await recordsOf(stack, 1);
  });

  it('arrives by another tab with a new key, while a tab with the old one still waits', async () => {
    const { page, context } = await visit();
    const answers = answersIn(context);
    await page.goto(address);
    await decide(page);
    const other = await context.newPage();
    await other.goto(await putRight());
    await recordsOf(stack, 1);
    await eventually(() => expect(answers).toEqual([401, 202]));
  });

  it('is not asked about again before an hour has passed, then two, and so on', async () => {
    const { page, context, messages } = await visit();
    const start = Date.now();
    await context.clock.setFixedTime(start);
    const answers = answersIn(context);
    await page.goto(address);
    await decide(page);
    await noted(page, hour);
    let now = start;
    let asked = 1;
    for (const wait of [hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, day, day]) {
      await context.clock.setFixedTime(now + wait - 1_000);
      await page.reload();
      await settled(page);
      expect({ wait, asked: answers.length }).toEqual({ wait, asked });
      now += wait;
      asked += 1;
      await context.clock.setFixedTime(now);
      await Promise.all([refused(page), page.reload()]);
      await noted(page, Math.min(wait * 2, day));
    }
    expect(answers.length).toBe(asked);
    expect(await kept(page, '.queue.')).toHaveLength(1);
    const warnings = messages.filter((message) => message.startsWith('warning: assent'));
    expect(warnings).toHaveLength(asked);
    expect(warnings[0]).toMatch(/x-api-key.*wait/);
  });

  it('is sent after the wait by a page that stays open', async () => {
    const { page, context } = await visit();
    await context.clock.install();
    await page.goto(address);
    await decide(page);
    await noted(page, hour);
    await restore();
    await context.clock.fastForward(1.5 * hour + 1_000);
    await recordsOf(stack, 1);
  });

  it('goes at once with the next decision, should the key be accepted again', async () => {
    const { page, context } = await visit();
    await context.clock.install();
    const answers = answersIn(context);
    await page.goto(address);
    await decide(page);
    await noted(page, hour);
    // one that is refused too does not lengthen the wait
    await Promise.all([refused(page), page.evaluate(() => window.assent?.withdraw())]);
    await settled(page);
    await noted(page, hour);
    await restore();
    await stopClock(context);
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    const records = await recordsOf(stack, 3);
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
    await recordsOf(stack, 4);
  });

  it('in two tabs at once is one refusal', async () => {
    const { page, context, messages } = await visit();
    const other = await context.newPage();
    await page.goto(address);
    await other.goto(address);
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
    await Promise.all([page.goto(address), other.goto(address)]);
    await both;
    await eventually(() => expect(messages.filter((message) => message.startsWith('warning: assent'))).toHaveLength(2));
    await noted(page, hour);
  });

  it('is dropped once it is over 30 days old, with one warning', async () => {
    const { page, context, messages } = await visit();
    const start = Date.now();
    await context.clock.setFixedTime(start - 31 * day);
    await page.goto(address);
    await decide(page);
    await noted(page, hour);
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
    ['waits', 403, 'origin_not_allowed'],
    ['waits', 404, 'not_found'],
    ['waits', 405, 'method_not_allowed'],
    ['is dropped', 400, 'invalid_request'],
    ['is dropped', 413, 'payload_too_large'],
    ['is dropped', 415, 'unsupported_media_type'],
  ])('%s after a %i %s', async (what, status, code) => {
    const { page, context, messages } = await visit();
    await context.route('**/record', (route) =>
      route.fulfill({ status, headers: { 'access-control-allow-origin': '*' }, json: { code, detail: 'no' } }),
    );
    await page.goto(address);
    await click(page, 'Accept all');
    const told = (part: string) => messages.filter((message) => message.includes(part)).length;
    await eventually(() => expect(told('warning: assent')).toBe(1));
    expect(told('dropped')).toBe(what === 'waits' ? 0 : 1);
    expect(await kept(page, '.queue.')).toHaveLength(what === 'waits' ? 1 : 0);
    expect(await kept(page, '.refused.')).toHaveLength(what === 'waits' ? 1 : 0);
  });

  it('is sent at once by a record client with another key', async () => {
    const { page } = await visit();
    const clientFor = (apiKey: string) => `
      import { createRecordClient } from '${stack.api.baseUrl}/record-client.js';
      createRecordClient({ api: '${stack.api.baseUrl}', domain: '${stack.domainId}', key: '${apiKey}' })`;
    const module = (script: string) => html(`<script type="module">${script}</script>`);
    const record = `${clientFor(stack.apiKey)}.record({ decision: 'reject_all', source: 'api' });`;
    await Promise.all([refused(page), page.goto(site.add('/client', module(record)))]);
    await noted(page, hour);
    const { apiKey } = await createAdministration(stack.db, 'test').createKey(stack.domainId);
    await page.goto(site.add('/client-put-right', module(`${clientFor(apiKey)};`)));
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'reject_all', source: 'api' }]);
  });
});
