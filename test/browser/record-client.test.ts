import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientTag } from '../support/browser/site.ts';
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

  const open = async (page: Page, body = clientTag(widget.stack)) => {
    await page.goto(widget.add('/', body));
    await page.waitForFunction(() => 'client' in window);
  };

  it('records whatever it is told, under the id that it gives back', async () => {
    const { page, messages } = await widget.visit.again();
    await open(page);
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
    await open(page);
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
    ${clientTag(
      widget.stack,
      `
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
      });`,
    )}`;
  const klaro = () => `
    <script>
      klaroConfig = { acceptAll: true, lang: 'en', services: [
        { name: 'session', required: true, purposes: ['needed'] },
        { name: 'matomo', purposes: ['analytics'] },
        { name: 'my ads', purposes: ['ads'] },
      ] };
    </script>
    <script src="/klaro.js"></script>
    ${clientTag(
      widget.stack,
      `
      import { recordKlaro } from '${widget.stack.api.baseUrl}/record-klaro.js';
      const manager = klaro.getManager();
      recordKlaro(client, manager);
      window.choose = (name) => { manager.updateConsent(name, false); manager.saveAndApplyConsents(); };`,
    )}`;

  it.each([
    {
      name: 'vanilla-cookieconsent',
      banner: cookieConsent,
      accept: 'text="Yes to all"',
      accepted: {
        preferences: { necessary: true, analytics: true, ads: true },
        policyVersion: '3',
        visitorId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
      isThere: 'window.CookieConsent?.validConsent()',
      chooseSome: "CookieConsent.acceptCategory(['ads'])",
      chooseNone: 'CookieConsent.acceptCategory([])',
      reject: 'text="No to all"',
      rejected: { analytics: false, ads: false },
    },
    {
      name: 'Klaro',
      banner: klaro,
      accept: '.cm-btn-success',
      accepted: { preferences: { session: true, matomo: true, my_ads: true } },
      isThere: 'window.choose',
      chooseSome: "choose('my ads')",
      chooseNone: "choose('matomo')",
      reject: '.cn-decline',
      rejected: { session: true, matomo: false, my_ads: false },
    },
  ])('tells of each decision in $name, as what it is, and of nothing on the next page', async (given) => {
    const { page, context } = await widget.visit.again();
    await open(page, given.banner());
    await page.locator(given.accept).click();
    const known = { language: 'en', pageUrl: `${widget.site.origin}/` };
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all', ...known, ...given.accepted }]);
    await page.reload();
    await page.waitForFunction(given.isThere);
    await page.evaluate(given.chooseSome);
    // ids of one millisecond have no order
    await widget.records(2);
    await page.evaluate(given.chooseNone);
    const records = await widget.records(3);
    expect(records.map(({ decision }) => decision)).toEqual(['accept_all', 'custom', 'withdraw']);

    // another visitor
    await context.clearCookies();
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.locator(given.reject).click();
    expect((await widget.records(4))[3]).toMatchObject({ decision: 'reject_all', preferences: given.rejected });
  });
});
