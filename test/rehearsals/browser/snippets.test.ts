/** Every snippet for websites of every document, as it is written there, with a domain's own values put in. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { useBrowser } from '../../support/browser/browser.ts';
import { html, startSite } from '../../support/browser/site.ts';
import { createCli } from '../../support/cli.ts';
import { type Block, blocks } from '../../support/documents.ts';
import { recordsOf, useStack, withOwnDomain } from '../../support/stack.ts';

const snippets = blocks('html', 'js', 'css');
const used = new Set<Block>();
/** The first snippet of that language that has `part`. */
function snippet(language: string, part = ''): string {
  const found = snippets.find((each) => each.language === language && each.text.includes(part));
  if (!found) throw new Error(`no document has ${language} with ${part}`);
  // the tag stands alone on several pages
  for (const each of snippets) if (each.text === found.text) used.add(each);
  return found.text;
}
const script = { 'content-type': 'text/javascript; charset=utf-8' };

const stack = await useStack();
const site = await startSite();
const pinned = await createCli({ ...stack.env }).json<{ widget: string; integrity: string }>(
  'domain',
  'show',
  stack.domainId,
);
site.add('/tag.js', 'window.ran = [...(window.ran ?? []), "tag"]', script);
site.add('/count.js', 'window.ran = [...(window.ran ?? []), "count"]', script);
const require = createRequire(import.meta.url);
for (const name of ['vanilla-cookieconsent/dist/cookieconsent.umd.js', 'klaro/dist/klaro.js'])
  site.add(`/${path.basename(name)}`, readFileSync(require.resolve(name), 'utf8'), script);

describe('the snippets of the documents', () => {
  const visit = useBrowser();

  const fill = (block: string, { domainId, apiKey } = stack) =>
    block
      .replaceAll('https://consent.example.com/widget-….js', stack.api.baseUrl + pinned.widget)
      .replaceAll('https://consent.example.com', stack.api.baseUrl)
      .replaceAll('dom_…', domainId)
      .replaceAll('ak_…', apiKey)
      .replaceAll('sha384-…', pinned.integrity);
  const block = (part: string, whose = stack) => fill(snippet('html', part), whose);
  const open = async (head: string) => {
    const visitor = await visit();
    await visitor.page.goto(site.add('/', html(head)));
    return visitor;
  };
  /** that says all by itself */
  const simple = () => block('data-domain="dom_…" data-key="ak_…" defer');

  it('the tag shows the banner', async () => {
    const { page, messages } = await open(simple());
    await page.getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('the one tag shows what is published', async () => {
    const own = await withOwnDomain(stack);
    await createCli({ ...stack.env }).run('banner', 'publish', own.domainId);
    const { page } = await open(block('/w/dom_…', own));
    await page.getByRole('button', { name: 'Accept all' }).click();
    expect(await recordsOf(own, 1)).toMatchObject([{ bannerVersion: '1' }]);
  });

  it('the tag of a tag manager shows the banner', async () => {
    const { page } = await open(block('widget.js?domain='));
    await page.getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();
  });

  it('an experiment shows one of its variants', async () => {
    const { page, messages } = await open(block('experiment:'));
    await page.getByRole('dialog', { name: /^(Your privacy, your choice|Biscuits\?)$/ }).waitFor();
    expect(messages).toEqual([]);
  });

  it('rules for different places ask everybody where the place is not known', async () => {
    const { page, messages } = await open(block('regions: [') + simple());
    await page.getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();
    expect(messages).toEqual([]);
  });

  it('assentConfig says what is longer', async () => {
    const { page } = await open(block('window.assentConfig'));
    await page.getByRole('dialog', { name: 'Biscuits?' }).waitFor();
    await page.getByRole('link', { name: 'Legal notice' }).waitFor();
    const button = page.getByRole('button', { name: 'Customise' });
    expect(await button.evaluate((node) => getComputedStyle(node).backgroundColor)).toBe('rgb(11, 93, 75)');
    await button.click();
    await page.getByText('Shows where our shops are.').waitFor();
  });

  it('services stand below their category, and embeds wait behind a placeholder', async () => {
    const { page } = await open(block('services: [') + simple() + block('data-assent-service='));
    await page.getByText('Example Ltd asks for your consent for: Statistics · Marketing').waitFor();
    await page.getByRole('group', { name: 'Video Hall' }).getByRole('button', { name: 'Show once' }).waitFor();
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.getByText('Services of Statistics (1)').click();
    await page.getByText('Counter Ltd (Ireland)').waitFor();
  });

  it('a cookie table has the services', async () => {
    const { page } = await open(block('services: [') + simple() + block('data-assent-services'));
    await page.getByRole('table', { name: 'Statistics' }).getByRole('cell', { name: '_ga* example.com' }).waitFor();
  });

  it('scripts wait for their categories', async () => {
    const { page } = await open(simple() + block('type="text/plain"'));
    await page.getByRole('button', { name: 'Accept all' }).click();
    await page.waitForFunction(() => (window as Window & { ran?: string[] }).ran?.length === 2);
  });

  it("the page's own code runs", async () => {
    const { page, messages } = await open(simple());
    await page.getByRole('button', { name: 'Accept all' }).click();
    await page.evaluate(`{ ${fill(snippet('js', 'assent.withdraw()'))} }`);
    expect(await page.evaluate(() => window.assent?.getConsent()?.decision)).toBe('withdraw');
    await page.getByRole('button', { name: 'Paramètres de confidentialité' }).click();
    await page.getByRole('button', { name: 'Tout accepter' }).click();
    await page.waitForFunction(() => window.assent?.getConsent()?.decision === 'accept_all');
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('a link leads to the settings', async () => {
    const { page } = await open(simple() + block('/privacy-choices'));
    await page.getByRole('button', { name: 'Reject all' }).click();
    await page.getByRole('link', { name: 'Your Privacy Choices' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept all' }).waitFor();
  });

  it("restricted data processing follows the visitor's choice", async () => {
    const told = '<script>told = []; gtag = (...given) => told.push(given.join(" "))</script>';
    const { page } = await open(`${told}<script>${snippet('js', 'restricted_data_processing')}</script>${simple()}`);
    await page.getByRole('button', { name: 'Accept all' }).click();
    await page.waitForFunction(() => (window as Window & { told?: string[] }).told?.length === 2);
    expect(await page.evaluate(() => (window as Window & { told?: string[] }).told)).toEqual([
      'set restricted_data_processing true',
      'set restricted_data_processing false',
    ]);
  });

  it('the loader comes before other tags', async () => {
    const { page } = await open(`${block('/consent-mode.js')}<script>window.first = dataLayer[0][1]</script>`);
    expect(await page.evaluate(() => (window as Window & { first?: string }).first)).toBe('default');
  });

  it('the pinned tag loads, with its integrity', async () => {
    const { page } = await open(block('integrity='));
    await page.getByRole('dialog').waitFor();
  });

  it('the colours follow the style sheet', async () => {
    const { page } = await open(`<style>${snippet('css')}</style>${simple()}`);
    const button = page.getByRole('button', { name: 'Accept all' });
    expect(await button.evaluate((node) => getComputedStyle(node).backgroundColor)).toBe('rgb(11, 93, 75)');
  });

  it('the record client records with either adapter, and alone', async () => {
    // what others have recorded may be stored only now
    const own = await withOwnDomain(stack);
    const run = `<script type="module">CookieConsent.run({ hideFromBots: false, categories: { ads: {} }, language: { default: 'en', translations: { en: { consentModal: { acceptAllBtn: 'Yes' }, preferencesModal: { sections: [] } } } } })</script>`;
    const first = await open(`<script src="/cookieconsent.umd.js"></script>${block('recordCookieConsent', own)}${run}`);
    await first.page.getByRole('button', { name: 'Yes' }).click();
    await recordsOf(own, 1);
    const config = `<script>klaroConfig = { acceptAll: true, lang: 'en', services: [{ name: 'ads', purposes: ['ads'] }] }</script>`;
    const second = await open(`${config}<script src="/klaro.js"></script>${block('recordKlaro', own)}`);
    await second.page.locator('.cm-btn-success').click();
    await recordsOf(own, 2);
    await open(block('client.record(', own));
    expect((await recordsOf(own, 3)).at(-1)).toMatchObject({ preferences: { analytics: true } });
  });

  it('the record client records beside other banners', async () => {
    const own = await withOwnDomain(stack);
    const choose = (code: string) => `<script type="module">${code}</script>`;
    // what stands in for each banner has what its adapter uses; the banners themselves are rehearsed elsewhere
    const tarteaucitron = `<script>
      tarteaucitron = { job: ['ads'], state: {}, launch: {}, init() { document.dispatchEvent(new Event('tac.consent_updated')); } };
    </script>`;
    const allow = "tarteaucitron.state.ads = true; document.dispatchEvent(new Event('ads_allowed'));";
    await open(tarteaucitron + block('recordTarteaucitron', own) + choose(allow));
    expect(await recordsOf(own, 1)).toMatchObject([{ decision: 'accept_all', preferences: { ads: true } }]);
    const c15t = `<script>
      consentStore = { subscribe(listener) { consentStore.tell = listener; } };
    </script>`;
    const state = '{ consentCategories: ["marketing"], consents: { marketing: false }, consentInfo: { time: 1 } }';
    await open(
      c15t + block('recordC15t', own) + choose(`consentStore.tell(${state}, { consentInfo: null, consents: {} })`),
    );
    expect((await recordsOf(own, 2)).at(-1)).toMatchObject({ decision: 'reject_all' });
    const data = '{ eventStatus: "useractioncomplete", tcString: "C", purpose: { consents: { 1: true } } }';
    await open(
      `<script>__tcfapi = (command, version, callback) => callback(${data}, true)</script>${block('recordTcf', own)}`,
    );
    expect((await recordsOf(own, 3)).at(-1)).toMatchObject({ decision: 'custom', tcString: 'C' });
  });

  it('the bridges pass the choice on', async () => {
    const own = await withOwnDomain(stack);
    await createCli({ ...stack.env }).run('banner', 'publish', own.domainId);
    const accept = async (head: string) => {
      const { page } = await open(head);
      await page.getByRole('button', { name: 'Accept all' }).click();
      await page.waitForFunction('window.passed');
      return page.evaluate('passed');
    };
    const shopify = `<script>
      Shopify = {
        loadFeatures: (features, done) => done(),
        customerPrivacy: { setTrackingConsent: (consent) => { passed = consent.analytics; } },
      };
    </script>`;
    expect(await accept(shopify + block('bridge-shopify', own))).toBe(true);
    const webflow = `<script>
      wf = { ready: (work) => work(), getUserTrackingChoice: () => 'none', allowUserTracking: () => { passed = 'allow'; } };
    </script>`;
    expect(await accept(webflow + block('bridge-webflow', own))).toBe('allow');
  });

  it('none was left out', () => {
    expect(snippets.filter((each) => !used.has(each))).toEqual([]);
  });
});
