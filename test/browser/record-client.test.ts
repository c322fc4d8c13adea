import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { click, useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite } from '../support/browser/site.ts';
import { recordsOf, type Stack, useStack, withOwnDomain } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

const require = createRequire(import.meta.url);
const script = { 'content-type': 'text/javascript; charset=utf-8' };

describe('the record client beside a banner that is there already', () => {
  const visit = useBrowser();
  let stack: Stack;
  let site: Site;

  beforeAll(async () => {
    stack = await useStack();
    site = await startSite();
    const cookieConsent = path.dirname(require.resolve('vanilla-cookieconsent'));
    for (const name of ['cookieconsent.umd.js'])
      site.add(`/${name}`, readFileSync(path.join(cookieConsent, name), 'utf8'), script);
    const klaro = path.dirname(require.resolve('klaro/dist/klaro.js'));
    site.add('/klaro.js', readFileSync(path.join(klaro, 'klaro.js'), 'utf8'), script);
  });

  beforeEach(async () => {
    stack = await withOwnDomain(stack);
  });

  /** The lines that the README has, with this domain's values. */
  const client = () => `
    import { createRecordClient } from '${stack.api.baseUrl}/record-client.js';
    const client = createRecordClient({
      api: '${stack.api.baseUrl}',
      domain: '${stack.domainId}',
      key: '${stack.apiKey}',
      onRecorded: (receipt, id) => console.log('recorded', id, receipt.id, receipt.status, receipt.ignored),
    });
    window.client = client;`;
  const decisions = async (count: number) => (await recordsOf(stack, count)).map(({ decision }) => decision);

  it('records whatever it is told, under the id that it gives back', async () => {
    const { page, messages } = await visit();
    await page.goto(site.add('/bare', html(`<script type="module">${client()}</script>`)));
    await page.waitForFunction(() => 'client' in window);
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
    const id = await page.evaluate(
      (given) => (window as unknown as { client: { record(report: object): string } }).client.record(given),
      report,
    );
    const [record] = await recordsOf(stack, 1);
    expect(record).toMatchObject({ id, ...report });
    await eventually(() => expect(messages).toContain(`log: recorded ${id} ${id} queued undefined`));
  });

  it('keeps at most 50 that wait: the oldest make room', async () => {
    const { page, context, messages } = await visit();
    await page.goto(site.add('/many', html(`<script type="module">${client()}</script>`)));
    await page.waitForFunction(() => 'client' in window);
    await context.setOffline(true);
    let failed = 0;
    page.on('requestfailed', () => {
      failed += 1;
    });
    await page.evaluate(() => {
      const { record } = (window as unknown as { client: { record(report: object): string } }).client;
      for (let step = 0; step < 53; step += 1) {
        record({ decision: 'custom', metadata: { step } });
        // ids of one millisecond have no order
        for (const before = Date.now(); Date.now() === before; );
      }
    });
    await eventually(() => expect(messages.filter((message) => message.includes('the queue is full')).length).toBe(3));
    // what is still on its way could arrive, although it made room
    await eventually(() => expect(failed).toBeGreaterThanOrEqual(53));
    await context.setOffline(false);
    const records = await recordsOf(stack, 50);
    const steps = records.map(({ metadata }) => Number(metadata?.step)).sort((one, other) => one - other);
    expect(steps).toEqual(Array.from({ length: 50 }, (_, index) => index + 3));
  });

  describe('vanilla-cookieconsent', () => {
    const banner = () =>
      html(`
        <script src="/cookieconsent.umd.js"></script>
        <script type="module">
          ${client()}
          import { recordCookieConsent } from '${stack.api.baseUrl}/record-cookieconsent.js';
          recordCookieConsent(client, CookieConsent);
          CookieConsent.run({
            hideFromBots: false,
            revision: 3,
            categories: { necessary: { enabled: true, readOnly: true }, analytics: {}, ads: {} },
            language: {
              default: 'en',
              translations: {
                en: {
                  consentModal: { title: 'Cookies', acceptAllBtn: 'Yes to all', acceptNecessaryBtn: 'No to all', showPreferencesBtn: 'Choose' },
                  preferencesModal: {
                    acceptAllBtn: 'Yes',
                    acceptNecessaryBtn: 'No',
                    savePreferencesBtn: 'Save these',
                    sections: [{ title: 'Counting', linkedCategory: 'analytics' }, { title: 'Ads', linkedCategory: 'ads' }],
                  },
                },
              },
            },
          });
        </script>`);

    it('tells of each decision, as what it is', async () => {
      const { page } = await visit();
      await page.goto(site.add('/cookieconsent', banner()));
      await click(page, 'Yes to all');
      expect(await recordsOf(stack, 1)).toMatchObject([
        {
          decision: 'accept_all',
          preferences: { necessary: true, analytics: true, ads: true },
          policyVersion: '3',
          language: 'en',
          pageUrl: `${site.origin}/cookieconsent`,
          visitorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      ]);
      await page.evaluate(() =>
        (
          window as unknown as { CookieConsent: { acceptCategory(names: string[]): void } }
        ).CookieConsent.acceptCategory(['ads']),
      );
      await page.evaluate(() =>
        (
          window as unknown as { CookieConsent: { acceptCategory(names: string[]): void } }
        ).CookieConsent.acceptCategory([]),
      );
      expect(await decisions(3)).toEqual(['accept_all', 'custom', 'withdraw']);
    });

    it('tells of a refusal, and of nothing on the next page', async () => {
      const { page } = await visit();
      const address = site.add('/cookieconsent', banner());
      await page.goto(address);
      await click(page, 'No to all');
      expect(await recordsOf(stack, 1)).toMatchObject([
        { decision: 'reject_all', preferences: { analytics: false, ads: false } },
      ]);
      await page.goto(address);
      await page.waitForFunction(() =>
        (window as unknown as { CookieConsent?: { validConsent(): boolean } }).CookieConsent?.validConsent(),
      );
      expect(await decisions(1)).toEqual(['reject_all']);
    });
  });

  describe('Klaro', () => {
    const banner = () =>
      html(`
        <script>
          klaroConfig = {
            acceptAll: true,
            lang: 'en',
            services: [
              { name: 'session', required: true, purposes: ['needed'] },
              { name: 'matomo', purposes: ['analytics'] },
              { name: 'my ads', purposes: ['ads'] },
            ],
          };
        </script>
        <script src="/klaro.js"></script>
        <script type="module">
          ${client()}
          import { recordKlaro } from '${stack.api.baseUrl}/record-klaro.js';
          recordKlaro(client, klaro.getManager());
        </script>`);

    it('tells of each decision, as what it is', async () => {
      const { page } = await visit();
      const address = site.add('/klaro', banner());
      await page.goto(address);
      await page.waitForFunction(() => 'client' in window);
      await page.locator('.cm-btn-success').click();
      expect(await recordsOf(stack, 1)).toMatchObject([
        { decision: 'accept_all', preferences: { session: true, matomo: true, my_ads: true }, language: 'en' },
      ]);
      await page.goto(address);
      await page.waitForFunction(() => 'client' in window);
      const save = (choice: Record<string, boolean>) =>
        page.evaluate((given) => {
          const manager = (
            window as unknown as {
              klaro: {
                getManager(): { updateConsent(name: string, value: boolean): void; saveAndApplyConsents(): void };
              };
            }
          ).klaro.getManager();
          for (const [name, value] of Object.entries(given)) manager.updateConsent(name, value);
          manager.saveAndApplyConsents();
        }, choice);
      await save({ 'my ads': false });
      await save({ matomo: false });
      expect(await decisions(3)).toEqual(['accept_all', 'custom', 'withdraw']);
    });

    it('tells of a refusal', async () => {
      const { page } = await visit();
      await page.goto(site.add('/klaro', banner()));
      await page.waitForFunction(() => 'client' in window);
      await page.locator('.cn-decline').click();
      expect(await recordsOf(stack, 1)).toMatchObject([
        { decision: 'reject_all', preferences: { session: true, matomo: false, my_ads: false } },
      ]);
    });
  });
});
