import { createHash } from 'node:crypto';
import type { Page, Request } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import assent from '../../package.json' with { type: 'json' };
import { click, hostName, useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { tokenFor } from '../support/client.ts';
import { recordsOf, type StackWithApi, useStackWithApi, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('what the visitor was shown', () => {
  const visit = useBrowser();
  let stack: StackWithApi;
  let site: Site;
  let address: string;

  beforeAll(async () => {
    // an API of its own: new notices of an address are bounded, and other files send some too
    stack = await useStackWithApi();
    site = await startSite();
  });

  beforeEach(async () => {
    stack = await withOwnDomain(stack);
    address = site.add('/', html(tag(stack, { 'data-policy-version': '7', 'data-lang': 'de' })));
  });

  /** The documents that pages of this context send. */
  const watchPuts = (page: Page) => {
    const puts: Request[] = [];
    page.context().on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request);
    });
    return puts;
  };
  /** The notices that the service holds of the domain. */
  const held = async () => {
    const { body } = await stack.client.get<{ notices: { notice: string; language: string; version: string }[] }>(
      `/v1/consent/${stack.domainId}/notices`,
    );
    return body.notices;
  };
  const documentOf = async (hash: string) => {
    const response = await fetch(`${stack.api.baseUrl}/v1/consent/${stack.domainId}/notices/${hash}`, {
      headers: { authorization: `Bearer ${tokenFor(stack.tenant.organizationId)}` },
    });
    return response.ok ? response.text() : undefined;
  };

  it('is named by each record, and sent once, byte for byte, by the first who saw it', async () => {
    const { page } = await visit();
    const puts = watchPuts(page);
    await page.goto(address);
    await click(page, 'Alle akzeptieren');
    const [record] = await recordsOf(stack, 1);
    const notice = record?.notice ?? '';
    const document = await eventually(async () => {
      const found = await documentOf(notice);
      expect(found).toBeDefined();
      return found ?? '';
    });
    expect(sha256(document)).toBe(notice);
    expect(JSON.parse(document)).toMatchObject({
      title: 'Ihre Daten, Ihre Entscheidung',
      buttons: ['Alle akzeptieren', 'Alle ablehnen', 'Anpassen'],
      settings: { categories: [{ id: 'necessary' }, { id: 'analytics' }, { id: 'marketing' }] },
      language: 'de',
      policyVersion: '7',
    });
    expect(await held()).toMatchObject([{ notice, language: 'de', version: assent.version }]);

    const { page: other } = await visit();
    const others = watchPuts(other);
    await other.goto(address);
    await click(other, 'Alle ablehnen');
    const records = await recordsOf(stack, 2);
    expect(records.map((each) => each.notice)).toEqual([notice, notice]);
    await eventually(async () => expect(await waiting(other)).toBe(0));
    expect([puts.length, others.length]).toEqual([1, 0]);
  });

  const waiting = (page: Page) =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('.queue.')).length);

  it('has the withdrawal where that is offered, and is absent where the page’s own code decides', async () => {
    const { page } = await visit();
    await page.goto(address);
    await click(page, 'Alle akzeptieren');
    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Einwilligung widerrufen');
    const records = await recordsOf(stack, 2);
    expect(new Set(records.map(({ notice }) => notice)).size).toBe(2);
    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Alle akzeptieren');
    await page.evaluate(() => window.assent?.withdraw());
    const all = await recordsOf(stack, 4);
    expect(all[2]?.notice).toBe(records[0]?.notice);
    expect(all[3]?.notice).toBeNull();
  });

  it('waits with the record, and is sent although the site shows something else by then', async () => {
    const { page, context } = await visit();
    await page.goto(address);
    await context.setOffline(true);
    await click(page, 'Alle akzeptieren');
    expect(await waiting(page)).toBe(1);
    await page.close();
    await context.setOffline(false);
    const later = await context.newPage();
    await later.goto(site.add('/later', html(tag(stack, { 'data-lang': 'fr' }))));
    const [record] = await recordsOf(stack, 1);
    await eventually(async () => expect(await documentOf(record?.notice ?? '')).toContain('Alle akzeptieren'));
  });

  it('is sent again with a later decision where that failed, without a word on the page', async () => {
    const { page, context, messages } = await visit();
    let refused = 0;
    await context.route('**/notices/*', (route) => {
      refused += 1;
      return route.abort();
    });
    await page.goto(address);
    await click(page, 'Alle akzeptieren');
    await eventually(() => expect(refused).toBe(1));
    const [record] = await recordsOf(stack, 1);
    await context.unroute('**/notices/*');
    await page.evaluate(() => {
      localStorage.clear();
    });
    await page.reload();
    await click(page, 'Alle ablehnen');
    await recordsOf(stack, 2);
    await eventually(async () => expect(await documentOf(record?.notice ?? '')).toBeDefined());
    expect(messages.filter((message) => /^(warning|uncaught)/.test(message))).toEqual([]);
  });

  it('is not named on a page without TLS, where browsers do not hash, or where it is over 16 KiB', async () => {
    const plain = address.replace('localhost', `plain.${hostName}`);
    const large = site.add('/large', html(tag(stack, { 'data-lang': 'de', 'data-text-intro': 'x'.repeat(16_384) })));
    for (const page of [plain, large]) {
      const { page: opened } = await visit();
      await opened.goto(page);
      await click(opened, 'Alle akzeptieren');
      await opened.getByRole('button', { name: 'Datenschutzeinstellungen' }).click();
      await opened.getByText('Ihre letzte Entscheidung').waitFor();
    }
    const records = await recordsOf(stack, 2);
    expect(records.map(({ notice }) => notice)).toEqual([null, null]);
    expect(await held()).toEqual([]);
  });

  it('is in the receipt that the visitor can open and copy by keyboard', async () => {
    const { page, context } = await visit();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(address);
    await click(page, 'Anpassen');
    await page.getByRole('switch', { name: 'Statistik' }).check();
    await click(page, 'Auswahl speichern');
    const [record] = await recordsOf(stack, 1);
    // also on a later page
    await page.reload();
    await click(page, 'Datenschutzeinstellungen');
    const copy = page.getByRole('button', { name: 'Kopieren' });
    expect(await copy.isVisible()).toBe(false);
    await page.getByText('Ihre letzte Entscheidung').focus();
    await page.keyboard.press('Enter');
    await copy.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Kopieren ✓' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const lines = [`ID ${record?.id}`, record?.decidedAt, 'Auswahl speichern', '✓ Statistik', '✗ Marketing'];
    for (const line of [...lines, 'Ihre Daten, Ihre Entscheidung', 'Alle ablehnen', 'Datenschutzeinstellungen'])
      expect(copied.split('\n')).toContain(line);
  });

  it('is what a site with another banner says, through the record client', async () => {
    const { page } = await visit();
    const script = `
      import { createRecordClient } from '${stack.api.baseUrl}/record-client.js';
      window.client = createRecordClient({
        api: '${stack.api.baseUrl}', domain: '${stack.domainId}', key: '${stack.apiKey}',
      });
      client.show({ language: 'en', title: 'Biscuits?', buttons: ['Yes', 'No'] });`;
    await page.goto(site.add('/own', html(`<script type="module">${script}</script>`)));
    await page.waitForFunction(() => 'client' in window);
    // the hash is there before anybody can click
    await page.evaluate(() => crypto.subtle.digest('SHA-256', new Uint8Array(1)));
    const record = (report: object) =>
      page.evaluate(
        (given) => (window as unknown as { client: { record(report: object): string } }).client.record(given),
        report,
      );
    await record({ decision: 'accept_all' });
    await recordsOf(stack, 1);
    await record({ decision: 'withdraw', source: 'api' });
    const records = await recordsOf(stack, 2);
    const text = '{"language":"en","title":"Biscuits?","buttons":["Yes","No"]}';
    expect(records.map(({ notice }) => notice)).toEqual([sha256(text), null]);
    await eventually(async () => expect(await documentOf(sha256(text))).toBe(text));
  });
});
