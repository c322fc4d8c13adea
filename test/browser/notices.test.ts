import { createHash } from 'node:crypto';
import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { checkSettings } from '#libs/widget/check-settings';
import { publishedNotices } from '#libs/widget/published-notices';
import assent from '../../package.json' with { type: 'json' };
import { click, hostName } from '../support/browser/browser.ts';
import { clientTag } from '../support/browser/site.ts';
import { decide, kept, documentOf as textOf, useWidget } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('what the visitor was shown', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi, { 'data-policy-version': '7', 'data-lang': 'de' });

  /** The documents that pages of this context send. */
  const watchPuts = (page: Page) => {
    const puts: Request[] = [];
    page.context().on('request', (request) => {
      if (request.method() === 'PUT') puts.push(request);
    });
    return puts;
  };
  const path = () => `/v1/consent/${widget.stack.domainId}/notices`;
  /** The notices that the service holds of the domain. */
  const held = async () =>
    (await widget.stack.client.get<{ notices: { notice: string; language: string; version: string }[] }>(path())).body
      .notices;
  const documentOf = (hash = '') => textOf(widget.stack, hash);
  /** The hash of what a page's own code shows is there before anybody can click. */
  const hashed = async (page: Page) => {
    await page.waitForFunction(() => 'client' in window);
    await page.evaluate(() => crypto.subtle.digest('SHA-256', new Uint8Array(1)));
  };
  const waiting = async (page: Page) => (await kept(page, '.queue.')).length;

  it('is named by each record, sent once, byte for byte, by the first who saw it, and another one where it has the withdrawal', async () => {
    const { page } = await widget.visit.again();
    const puts = watchPuts(page);
    await page.goto(widget.address);
    await click(page, 'Alle akzeptieren');
    const [record] = await widget.records(1);
    const notice = record?.notice ?? '';
    const document = await documentOf(notice);
    expect(sha256(document)).toBe(notice);
    expect(JSON.parse(document)).toMatchObject({
      title: 'Ihre Daten, Ihre Entscheidung',
      buttons: ['Alle akzeptieren', 'Alle ablehnen', 'Anpassen'],
      settings: { categories: [{ id: 'necessary' }, { id: 'analytics' }, { id: 'marketing' }] },
      language: 'de',
      policyVersion: '7',
    });
    expect(await held()).toMatchObject([{ notice, language: 'de', version: assent.version }]);

    // another visitor
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await click(page, 'Alle ablehnen');
    const records = await widget.records(2);
    expect(records.map((each) => each.notice)).toEqual([notice, notice]);
    await eventually(async () => expect(await waiting(page)).toBe(0));
    expect(puts).toHaveLength(1);

    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Alle akzeptieren');
    await click(page, 'Datenschutzeinstellungen');
    await click(page, 'Einwilligung widerrufen');
    expect((await widget.records(4))[3]).toMatchObject({
      decision: 'withdraw',
      notice: expect.not.stringMatching(notice),
    });
  });

  it('waits with the record, and is sent although the site shows something else by then', async () => {
    const { page, context } = await widget.visit.again();
    await page.goto(widget.add('/own', clientTag(widget.stack, "client.show({ title: 'Biscuits?' });")));
    await hashed(page);
    await context.setOffline(true);
    await decide(page, 'accept_all');
    expect(await waiting(page)).toBe(1);
    await page.goto('about:blank');
    await context.setOffline(false);
    await page.goto(widget.add('/later', clientTag(widget.stack, "client.show({ title: 'Kekse?' });")));
    const [record] = await widget.records(1);
    expect(await documentOf(record?.notice ?? '')).toBe('{"title":"Biscuits?"}');
  });

  it('is sent again with a later decision where that failed, without a word on the page', async () => {
    const { page, messages } = await widget.visit.again();
    let refused = 0;
    await page.route('**/notices/*', (route) => {
      refused += 1;
      return route.abort();
    });
    await page.goto(widget.address);
    await click(page, 'Alle akzeptieren');
    await eventually(() => expect(refused).toBe(1));
    const [record] = await widget.records(1);
    await page.unroute('**/notices/*');
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await click(page, 'Alle ablehnen');
    await widget.records(2);
    await documentOf(record?.notice ?? '');
    expect(messages.filter((message) => /^(warning|uncaught)/.test(message))).toEqual([]);
  });

  it('is not named on a page without TLS, where browsers do not hash, or where it is over 16 KiB', async () => {
    const plain = widget.address.replace('localhost', `plain.${hostName}`);
    const large = widget.add('/large', widget.tag({ 'data-lang': 'de', 'data-text-intro': 'x'.repeat(16_384) }));
    const { page } = await widget.visit.again();
    for (const address of [plain, large]) {
      await page.goto(address);
      await click(page, 'Alle akzeptieren');
      await click(page, 'Datenschutzeinstellungen');
      await page.getByText('Ihre letzte Entscheidung').waitFor();
    }
    const records = await widget.records(2);
    expect(records.map(({ notice }) => notice)).toEqual([null, null]);
    expect(await held()).toEqual([]);
  });

  const published = {
    company: 'Example Ltd',
    policyUrl: '/privacy',
    policyVersion: 3,
    links: [{ label: 'Legal notice', href: 'https://a.example/legal' }],
    categories: [
      'analytics',
      {
        id: 'maps',
        label: 'Maps </script> \u2028',
        services: [{ cookies: [{ path: '/', name: '_m*' }], purpose: 'Shows maps.', name: 'Map', policyUrl: '/map' }],
      },
    ],
  };
  const short = { name: 'short', settings: { texts: { title: 'In short', ca: { title: 'En breu' } } } };
  it.each<[Record<string, unknown>, boolean]>([
    [{ lang: 'de' }, false],
    [{ lang: 'pt_br', texts: { title: 'Biscuits?', 'pt-BR': { title: 'Biscoitos?' } } }, true],
    [{ lang: 'ca', texts: { ca: { intro: 'Galetes?' } }, experiment: { id: 'autumn', variants: [short] } }, true],
  ])('is known before anybody has seen it, from the settings %j, with the signal: %s', async (own, gpc) => {
    const settings = { ...published, ...own };
    expect(checkSettings(settings)).toEqual([]);
    const setup = `<script>assentConfig = ${JSON.stringify(settings).replaceAll('<', '\\u003c')}</script>`;
    const { page } = await widget.visit.again();
    const signal = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })";
    if (gpc) await page.addInitScript(signal);
    await page.goto(widget.add('/published', setup + widget.tag({ 'data-banner-version': '12' })));
    await page.locator('assent-widget dialog button').first().click();
    const [record] = await widget.records(1);
    const seen = [...publishedNotices(settings, '12')].filter(({ text }) => sha256(text) === record?.notice);
    expect(seen).toMatchObject([{ language: record?.language, variant: record?.variant ?? null, gpc }]);
  });

  it('is in the receipt that the visitor can read, with an id to copy, by keyboard', async () => {
    const { page, context } = await widget.open();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await click(page, 'Anpassen');
    await page.getByRole('switch', { name: 'Statistik' }).check();
    await click(page, 'Auswahl speichern');
    const [record] = await widget.records(1);
    // also on a later page
    await page.reload();
    await click(page, 'Datenschutzeinstellungen');
    const today = new Intl.DateTimeFormat('de', { dateStyle: 'long' }).format(new Date(record?.decidedAt ?? ''));
    await page.getByText(`Sie haben am ${today} erlaubt: Statistik\nNicht erlaubt: Marketing`).waitFor();
    await page.getByRole('button', { name: 'Kopieren' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Kopieren ✓' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(record?.id);
    const seen = page.locator('.receipt details p');
    expect(await seen.isVisible()).toBe(false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await seen.waitFor();
    expect((await seen.innerText()).split('\n')).toEqual(
      expect.arrayContaining(['Ihre Daten, Ihre Entscheidung', 'Alle ablehnen', 'Datenschutzeinstellungen']),
    );
  });

  it('is what a site with another banner says, through the record client', async () => {
    const own = clientTag(widget.stack, "client.show({ language: 'en', title: 'Biscuits?', buttons: ['Yes', 'No'] });");
    const { page } = await widget.open(widget.add('/own', own));
    await hashed(page);
    const record = (report: object) => page.evaluate((given) => window.client?.record(given), report);
    await record({ decision: 'accept_all' });
    await widget.records(1);
    await record({ decision: 'withdraw', source: 'api' });
    const records = await widget.records(2);
    const text = '{"language":"en","title":"Biscuits?","buttons":["Yes","No"]}';
    expect(records.map(({ notice }) => notice)).toEqual([sha256(text), null]);
    expect(await documentOf(sha256(text))).toBe(text);
  });
});
