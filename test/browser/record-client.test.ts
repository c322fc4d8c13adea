import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { click } from '../support/browser/browser.ts';
import { useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const require = createRequire(import.meta.url);
const banners = {
  '/cookieconsent.js': 'vanilla-cookieconsent/dist/cookieconsent.umd.js',
  '/klaro.js': 'klaro/dist/klaro.js',
};

describe('the record client beside a banner that is there already', () => {
  const widget = useWidget(useStack);

  beforeAll(() => {
    for (const [address, file] of Object.entries(banners))
      widget.site.add(address, readFileSync(require.resolve(file), 'utf8'), {
        'content-type': 'text/javascript; charset=utf-8',
      });
  });

  /** The lines that docs/widget.md has, with this domain's values. */
  const client = () => `
    import { createRecordClient } from '${widget.stack.api.baseUrl}/record-client.js';
    const client = createRecordClient({
      api: '${widget.stack.api.baseUrl}',
      domain: '${widget.stack.domainId}',
      key: '${widget.stack.apiKey}',
      onRecorded: (receipt, id) => console.log('recorded', id, receipt.id, receipt.status, receipt.ignored),
    });
    window.client = client;`;
  const open = async (page: Page, body: string) => {
    await page.goto(widget.add('/', body));
    await page.waitForFunction(() => 'client' in window);
  };
  const bare = () => `<script type="module">${client()}</script>`;

  it('records whatever it is told, under the id that it gives back', async () => {
    const { page, messages } = await widget.visit.again();
    await open(page, bare());
    const report = {
      decision: 'custom',
      preferences: { maps: true },
      source: 'preferences',
      visitorId: 'v-1',
      bannerVersion: '3',
      policyVersion: '4',
      language: 'de-CH',
      gpc: true,
      metadata: { variant: 'b', step: 2, known: true },
    };
    const id = await page.evaluate((given) => window.client?.record(given), report);
    expect(await widget.records(1)).toMatchObject([{ id, ...report }]);
    // where Redis is slow, it is in Postgres already
    const receipt = expect.stringMatching(`^log: recorded ${id} ${id} (queued|persisted) undefined$`);
    await eventually(() => expect(messages).toContainEqual(receipt));
  });

  it('keeps at most 50 that wait: the oldest make room', async () => {
    const { page, context, messages } = await widget.visit.again();
    await open(page, bare());
    await context.setOffline(true);
    let failed = 0;
    page.on('requestfailed', () => {
      failed += 1;
    });
    await page.evaluate(() => {
      for (let step = 0; step < 53; step += 1) {
        window.client?.record({ decision: 'custom', metadata: { step } });
        // ids of one millisecond have no order
        for (const before = Date.now(); Date.now() === before; );
      }
    });
    await eventually(() => expect(messages.filter((message) => message.includes('the queue is full')).length).toBe(3));
    // what is still on its way could arrive, although it made room
    await eventually(() => expect(failed).toBeGreaterThanOrEqual(53));
    await context.setOffline(false);
    const records = await widget.records(50);
    const steps = records.map(({ metadata }) => Number(metadata?.step)).sort((one, other) => one - other);
    expect(steps).toEqual(Array.from({ length: 50 }, (_, index) => index + 3));
  });

  const cookieConsent = () => `
    <script src="/cookieconsent.js"></script>
    <script type="module">
      ${client()}
      import { recordCookieConsent } from '${widget.stack.api.baseUrl}/record-cookieconsent.js';
      recordCookieConsent(client, CookieConsent);
      CookieConsent.run({
        hideFromBots: false,
        revision: 3,
        categories: { necessary: { enabled: true, readOnly: true }, analytics: {}, ads: {} },
        language: { default: 'en', translations: { en: {
          consentModal: { title: 'Cookies', acceptAllBtn: 'Yes to all', acceptNecessaryBtn: 'No to all' },
          preferencesModal: { sections: [] },
        } } },
      });
    </script>`;
  const klaro = () => `
    <script>
      klaroConfig = { acceptAll: true, lang: 'en', services: [
        { name: 'session', required: true, purposes: ['needed'] },
        { name: 'matomo', purposes: ['analytics'] },
        { name: 'my ads', purposes: ['ads'] },
      ] };
    </script>
    <script src="/klaro.js"></script>
    <script type="module">
      ${client()}
      import { recordKlaro } from '${widget.stack.api.baseUrl}/record-klaro.js';
      const manager = klaro.getManager();
      recordKlaro(client, manager);
      window.choose = (name) => { manager.updateConsent(name, false); manager.saveAndApplyConsents(); };
    </script>`;

  it('tells of each decision in vanilla-cookieconsent, as what it is, and of nothing on the next page', async () => {
    const { page } = await widget.visit();
    await open(page, cookieConsent());
    await click(page, 'Yes to all');
    expect(await widget.records(1)).toMatchObject([
      {
        decision: 'accept_all',
        preferences: { necessary: true, analytics: true, ads: true },
        policyVersion: '3',
        language: 'en',
        pageUrl: `${widget.site.origin}/`,
        visitorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
    await page.reload();
    await page.waitForFunction('window.CookieConsent?.validConsent()');
    await page.evaluate("CookieConsent.acceptCategory(['ads'])");
    // ids of one millisecond have no order
    await widget.records(2);
    await page.evaluate('CookieConsent.acceptCategory([])');
    const records = await widget.records(3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'custom', 'withdraw']);
  });

  it('tells of each decision in Klaro, as what it is, and of nothing on the next page', async () => {
    const { page } = await widget.visit();
    await open(page, klaro());
    await page.locator('.cm-btn-success').click();
    expect(await widget.records(1)).toMatchObject([
      { decision: 'accept_all', preferences: { session: true, matomo: true, my_ads: true }, language: 'en' },
    ]);
    await open(page, klaro());
    await page.evaluate("choose('my ads')");
    // ids of one millisecond have no order
    await widget.records(2);
    await page.evaluate("choose('matomo')");
    const records = await widget.records(3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'custom', 'withdraw']);
  });

  it.each([
    ['vanilla-cookieconsent', cookieConsent, 'text="No to all"', { analytics: false, ads: false }],
    ['Klaro', klaro, '.cn-decline', { session: true, matomo: false, my_ads: false }],
  ])('tells of a refusal in %s', async (_, banner, button, preferences) => {
    const { page } = await widget.visit();
    await open(page, banner());
    await page.locator(button).click();
    expect(await widget.records(1)).toMatchObject([{ decision: 'reject_all', preferences }]);
  });
});
