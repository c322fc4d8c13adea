import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { WebhooksPage } from '#libs/webhooks/contract';
import { afterwards, click, hasFocus, hold, step } from '../support/browser/browser.ts';
import { follow, go, managerOf, useDashboard } from '../support/browser/dashboard.ts';
import { tokenFor } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const { db, sql, env: stores } = await openStores();
const env = { ...stores, ...sealSettings, WEBHOOK_ALLOW_PRIVATE: 'true' };
const [api] = await Promise.all([startApi(env), startWorker(env)]);
const dashboard = useDashboard({ db, sql, env, api });

const customer = await dashboard.customer({ domains: ['shop.example', 'blog.example'] });

describe('the page of webhooks', () => {
  const manager = () => managerOf(customer);
  const decide = (count: number) =>
    dashboard.store(
      Array.from({ length: count }, () => recordAt(Date.now(), { domainId: at(customer.domains, 0).domainId })),
    );
  const listed = async () => (await dashboard.manage<WebhooksPage>(customer, '/webhooks')).webhooks;
  const fillIn = async (page: Page, url: string) => {
    await page.getByRole('textbox', { name: 'URL' }).fill(url);
    await click(page, 'Create webhook');
  };
  /** On its page, once it is made there. */
  const make = async (page: Page, { url }: Pick<Receiver, 'url'>) => {
    await go(page, '/webhooks/new');
    await fillIn(page, url);
    await page.waitForURL(/\/webhooks\/wh_/);
    await page.getByRole('button', { name: 'Send test' }).waitFor();
  };
  const rows = (page: Page) => page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
  const row = (page: Page, text: string | RegExp) => rows(page).filter({ hasText: text });

  it('makes a webhook, tests it, shows what fails and why, replays and deletes', async () => {
    const receiver = await startReceiver();
    const { page, context, messages } = await dashboard.visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    // which goes by itself until the end
    await context.clock.install();
    await page.route(/assets\/webhooks/, (route) => route.abort());
    await dashboard.enter(page, manager());
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await step('says so where its code cannot be loaded, and loads it with the page', async () => {
      await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
      await page.unroute(/assets\/webhooks/);
      await click(page, 'Reload');
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      messages.length = 0;
    });
    await page.getByRole('link', { name: 'New webhook' }).click();

    // only new entries of one domain
    await page.getByRole('checkbox', { name: /New entries/ }).waitFor();
    await page.getByRole('radio', { name: 'Only these' }).check();
    await page.getByRole('checkbox', { name: 'shop.example' }).check();
    const headers = 'Authorization: Bearer of-the-receiver\nx-shop: north: 1\n';
    await page.getByRole('textbox', { name: 'Headers, one per line' }).fill(headers);
    await fillIn(page, receiver.url);
    const secret = page.getByRole('region', { name: /Copy the secret now/ });
    await secret.getByRole('button', { name: 'Copy Secret' }).click();
    await secret.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secret.getByText(copied).count()).toBe(1);
    expect(page.url()).not.toContain('whsec');
    expect(await listed()).toMatchObject([
      { url: receiver.url, types: ['records.sealed'], domains: [at(customer.domains, 0).domainId], decisions: null },
    ]);
    await secret.getByRole('button', { name: 'Done' }).click();
    await secret.waitFor({ state: 'detached' });

    await click(page, 'Send test');
    await page.getByText(/The test was delivered in/).waitFor();
    expect(receiver.received.map(({ message }) => message.type)).toEqual(['webhook.test']);
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: 'Bearer of-the-receiver',
      'x-shop': 'north: 1',
    });
    expect(await page.getByRole('definition').filter({ hasText: 'authorization, x-shop' }).count()).toBe(1);
    expect(await page.content()).not.toContain('of-the-receiver');
    await row(page, /Test.*Delivered HTTP 204/).waitFor();

    await decide(3);
    await row(page, /New entries shop\.example, entries 0–2.*Delivered HTTP 204/).waitFor();

    // it is not tried again by itself while this looks
    receiver.answerWith((response) => void response.writeHead(500, { 'retry-after': '600' }).end());
    await decide(1);
    const failed = row(page, /entry 3/).first();
    await failed.getByText('HTTP 500').waitFor();
    await page.getByRole('heading', { name: /^Failing since/ }).waitFor();
    await click(page, 'Send test');
    await page.getByText('The test failed: HTTP 500.').waitFor();

    await step('tries now what waits, and shows each try of the message', async () => {
      await click(page, 'Try now');
      await eventually(async () => expect(await row(page, /entry 3/).count()).toBe(2));
      await row(page, /entry 3/)
        .first()
        .getByRole('button', { name: /^Details/ })
        .click();
      const details = page.getByRole('dialog', { name: 'New entries' });
      const tries = details.getByRole('table', { name: /^Tries of this message/ }).locator('tbody tr');
      expect(await tries.allTextContents()).toEqual([
        expect.stringMatching(/HTTP 500.*ms/),
        expect.stringContaining('HTTP 500'),
      ]);
      const facts = await details.getByRole('definition').allTextContents();
      expect(facts).toEqual([
        'shop.example',
        'entry 3',
        expect.stringContaining('UTC'),
        expect.stringMatching(/^msg_/),
      ]);
    });

    // from that entry on, at once
    receiver.answerWith();
    const before = receiver.received.length;
    await click(page, 'Replay from here…');
    const dialog = page.getByRole('dialog', { name: 'Replay entries' });
    expect(await dialog.getByRole('textbox', { name: 'From entry' }).inputValue()).toBe('3');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await dialog.getByText('1 entry of shop.example will be sent again.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const replayed = (await receiver.until(before + 1)).slice(before);
    expect(replayed.map(({ message }) => message.data)).toMatchObject([{ first: 3, size: 4 }]);
    await page.getByRole('heading', { name: /^Failing since/ }).waitFor({ state: 'detached' });
    // the list is read beside the webhook, and may be that of a moment before
    await eventually(async () => expect(await row(page, /entry 3.*Delivered HTTP 204/).count()).toBe(1));

    expect(messages).toEqual([]);

    await step('asks nothing about a webhook while it is deleted, and goes on where that fails', async () => {
      const asked: string[] = [];
      page.on('request', (request) => {
        if (/webhooks\/wh_\w+(\/deliveries.*)?$/.test(request.url())) asked.push(request.method());
      });
      const address = '**/v1/organization/webhooks/wh_*';
      await page.route(address, (route) => (route.request().method() === 'DELETE' ? route.abort() : route.continue()));
      await click(page, 'Delete…');
      const remove = page.getByRole('button', { name: 'Delete this webhook' });
      await remove.click();
      await page.getByRole('dialog').getByRole('alert').waitFor();
      await page.waitForResponse(/\/deliveries/);
      asked.length = 0;
      await page.unroute(address);
      const release = await hold(page, address);
      await remove.click();
      await eventually(() => expect(asked).toContain('DELETE'));
      await context.clock.runFor(5_000);
      await afterwards(page);
      release();
      await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
      expect(asked.slice(asked.indexOf('DELETE'))).toEqual(['DELETE']);
    });
    await hasFocus(page.getByRole('heading', { name: 'Webhooks', exact: true }));
    expect(await listed()).toEqual([]);
  });

  it('changes, pauses and resumes a webhook, and makes a new secret', async () => {
    const receiver = await startReceiver();
    const { page } = await dashboard.open(manager(), '/webhooks');
    await make(page, receiver);
    const first = await page.locator('.snippet-code').textContent();
    await click(page, 'Change…');
    await hasFocus(page.getByRole('textbox', { name: 'URL' }));
    await page.getByRole('checkbox', { name: /Erasures/ }).check();
    for (const name of ['Accepted all', 'Chose some', 'Rejected all'])
      await page.getByRole('checkbox', { name }).uncheck();
    await click(page, 'Save changes');
    await page.getByRole('definition').filter({ hasText: 'New entries, Erasures' }).waitFor();
    await hasFocus(page.getByRole('button', { name: 'Change…' }));
    const [webhook] = await listed();
    expect(webhook).toMatchObject({ types: ['records.sealed', 'visitor.erased'], decisions: ['withdraw'] });

    await step('gives it headers and a size, and takes the headers away', async () => {
      const field = page.getByRole('textbox', { name: 'Headers, one per line' });
      const size = page.getByRole('textbox', { name: 'Largest message, in bytes' });
      const saved = async () => {
        await click(page, 'Save changes');
        await page.getByRole('button', { name: 'Change…' }).waitFor();
        return (await listed())[0];
      };
      await click(page, 'Change…');
      await field.fill('authorization: Bearer one');
      await size.fill('100');
      await click(page, 'Save changes');
      await page.getByRole('alert').getByText('Must be at least 16384.').waitFor();
      await size.fill('20000');
      expect(await saved()).toMatchObject({ headers: ['authorization'], maxBytes: 20_000 });
      await page.getByRole('definition').filter({ hasText: '20,000 bytes' }).waitFor();
      await click(page, 'Change…');
      expect(await page.getByRole('radio', { name: 'Keep authorization' }).isChecked()).toBe(true);
      await page.getByRole('textbox', { name: 'URL' }).fill('https://elsewhere.example/');
      await page.getByText('these headers will be deleted').waitFor();
      await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/other`);
      await page.getByRole('radio', { name: 'Replace them' }).check();
      expect(await saved()).toMatchObject({ headers: [], url: `${receiver.url}/other` });
    });

    await click(page, 'Pause');
    await page.getByRole('heading', { name: 'This webhook is paused' }).waitFor();
    expect((await listed())[0]?.enabled).toBe(false);
    await hasFocus(page.getByRole('button', { name: 'Resume' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'This webhook is paused' }).waitFor({ state: 'detached' });
    expect((await listed())[0]?.enabled).toBe(true);

    let lost: unknown;
    const loseAnswer = async (route: Route) => {
      lost = (await (await route.fetch()).json()).secret;
      await route.abort();
    };
    await page.route('**/secret', loseAnswer, { times: 1 });
    await click(page, 'New secret…');
    await page.getByRole('button', { name: 'Create a new secret' }).click();
    await page.getByText('The service did not answer.').waitFor();
    await page.getByRole('button', { name: 'Create a new secret' }).click();
    await page.getByText(/messages are also signed with the previous secret/).waitFor();
    const second = await page.locator('.snippet-code').textContent();
    expect(second).toMatch(/^whsec_/);
    // not a third one, with which the receiver's own would be gone
    expect(second).toBe(lost);
    expect(second).not.toBe(first);
    // it is told once
    await page.reload();
    await page.getByRole('button', { name: 'Send test' }).waitFor();
    expect(await page.getByText('whsec_').count()).toBe(0);

    await step('keeps what somebody else has changed meanwhile', async () => {
      await click(page, 'Change…');
      const target = new URL(page.url()).pathname;
      await dashboard.manage(customer, target, { method: 'PATCH', body: JSON.stringify({ decisions: ['custom'] }) });
      await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
      await click(page, 'Save changes');
      await page.getByRole('alert').getByText('Somebody else changed it in the meantime').waitFor();
      expect(await dashboard.manage(customer, target)).toMatchObject({ decisions: ['custom'] });
      expect(await dashboard.manage(customer, target)).not.toMatchObject({ url: receiver.url });
    });
  });

  it('says what is wrong, with a field next to it, and what was sent', async () => {
    const receiver = await startReceiver();
    const { page } = await dashboard.open(manager(), '/webhooks/new');
    const url = page.getByRole('textbox', { name: 'URL' });
    await click(page, 'Create webhook');
    await page.getByText('Enter the address of your receiver.').waitFor();
    await hasFocus(url);
    // of the service
    await fillIn(page, 'ftp://receiver.example');
    await page.getByRole('alert').getByText('Must begin with https://.').waitFor();
    expect(await url.getAttribute('aria-invalid')).toBe('true');
    const headers = page.getByRole('textbox', { name: 'Headers, one per line' });
    await headers.fill('host: elsewhere.example');
    await fillIn(page, receiver.url);
    await page.getByRole('alert').getByText('host is set by the service.').waitFor();
    await hasFocus(headers);
    await headers.fill('');
    await make(page, receiver);
    await click(page, 'Replay…');
    const dialog = page.getByRole('dialog', { name: 'Replay entries' });
    await dialog.getByRole('textbox', { name: 'From entry' }).fill('999999');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await dialog.getByRole('alert').getByText("Must be at most the log's size.").waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await hasFocus(page.getByRole('button', { name: 'Replay…', exact: true }));
    await step('loads older deliveries, and newer ones go on coming in front', async () => {
      const { pathname } = new URL(page.url());
      await dashboard.db.run(
        (sql) => sql`
          insert into webhook_deliveries (webhook, message_id, type, attempt, at, milliseconds, status)
          select webhooks.number, 'msg_' || each, 'limit.reached', 1, now() - each * interval '1 minute', each, 204
          from webhooks, generate_series(60, 1, -1) as each where id = ${pathname.split('/').at(-1) ?? ''}`,
      );
      await go(page, '/webhooks/wh_nobody');
      await page.getByRole('heading', { name: 'Webhook not found' }).waitFor();
      await go(page, pathname);
      await eventually(async () => expect(await rows(page).count()).toBe(50));
      await click(page, 'Older deliveries');
      await eventually(async () => expect(await rows(page).count()).toBe(60));
      await click(page, 'Send test');
      await row(page, 'Test').waitFor();
      expect(await rows(page).count()).toBe(61);
      expect(await rows(page).first().textContent()).toContain('Test');
    });
    await step('that the service gave it up, and why', async () => {
      receiver.answerWith((response) => void response.writeHead(410).end());
      await decide(1);
      await page.getByRole('heading', { name: 'The service paused this webhook' }).waitFor();
      await page.getByText('The last try failed: HTTP 410 (gone).').waitFor();
    });
  });

  it('is reached with a token that may do nothing else, offers entries only to who may read them, and needs a key', async () => {
    const { page } = await dashboard.open({ token: tokenFor(customer.organizationId, { scope: 'manage' }) });
    await page.getByText('Statistics and the log need the scope read').waitFor();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('link', { name: 'New webhook' }).click();
    const entries = page.getByRole('checkbox', { name: /New entries/ });
    await entries.waitFor();
    expect(await entries.isDisabled()).toBe(true);
    await page.getByText('New entries need a token with the scope “read” too.').waitFor();
    const without = await dashboard.customer({ consentLog: false });
    await follow(page, managerOf(without).token);
    await page.getByText('New entries need a plan that includes the log.').waitFor();
    const bare = await startApi({ ...dashboard.env, SECRETS_KEY: '' });
    await page.goto(`${bare.baseUrl}/webhooks#token=${manager().token}`);
    await page.getByText(/This installation has no SECRETS_KEY/).waitFor();
  });
});
