/** Other banners' decisions, recorded: the real scripts, fetched when this runs. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientTag } from '../../support/browser/site.ts';
import { useWidget } from '../../support/browser/widget.ts';
import { fromNpm } from '../../support/npm-packages.ts';
import { useStack } from '../../support/stack.ts';

const script = { 'content-type': 'text/javascript; charset=utf-8' };

/** One script of a package that is published as modules; its names are in `window.NAME`. */
async function bundled(folder: string, name: string, input: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    root: folder,
    build: {
      write: false,
      minify: false,
      lib: { entry: path.join(folder, 'node_modules', input), formats: ['iife'], name },
    },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (!output || !('output' in output)) throw new Error(`${input} was not bundled`);
  return output.output[0].code;
}

/** A banner of the framework, without anything to see. */
const banner = `
  import { CmpApi } from '@iabtechlabtcf/cmpapi';
  import { GVL, TCModel, TCString } from '@iabtechlabtcf/core';

  const all = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [index + 1, { id: index + 1, name: '' }]));
  const api = new CmpApi(10, 1, true);
  /** The visitor decides; a new one is asked first. */
  export function decide(purposes, isNew) {
    const list = new GVL({
      gvlSpecificationVersion: 3, vendorListVersion: 1, tcfPolicyVersion: 5, lastUpdated: new Date().toISOString(),
      purposes: all, specialPurposes: {}, features: {}, specialFeatures: {}, dataCategories: {}, stacks: {}, vendors: {},
    });
    const model = Object.assign(new TCModel(list), { cmpId: 10, cmpVersion: 1, isServiceSpecific: true });
    model.purposeConsents.set(purposes);
    const text = TCString.encode(model);
    if (isNew) api.update('', true);
    api.update(text, false);
    return text;
  }`;

describe('the record client', () => {
  const widget = useWidget(() => useStack());
  const decisions = async (count: number) => (await widget.records(count)).map(({ decision }) => decision);
  const adapter = (name: string, code: string) =>
    clientTag(widget.stack, `import * as adapter from '${widget.stack.api.baseUrl}/record-${name}.js';\n${code}`);
  const open = async (head: string, before = '') => {
    const visitor = await widget.visit();
    await visitor.page.goto(widget.add('/', before + head));
    await visitor.page.waitForFunction(() => 'client' in window);
    return visitor.page;
  };

  describe('beside tarteaucitron 1.34.0', () => {
    beforeAll(async () => {
      const folder = path.join(await fromNpm('tarteaucitronjs@1.34.0'), 'node_modules/tarteaucitronjs');
      const css = { 'content-type': 'text/css; charset=utf-8' };
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
        if (/\.(js|css)$/.test(name))
          widget.site.add(
            `/tarteaucitron/${name}`,
            readFileSync(path.join(folder, name), 'utf8'),
            name.endsWith('css') ? css : script,
          );
    });

    const banner = (settings = {}) => `
      <script src="/tarteaucitron/tarteaucitron.js"></script>
      ${adapter(
        'tarteaucitron',
        `
        adapter.recordTarteaucitron(client, tarteaucitron);
        tarteaucitron.init(${JSON.stringify({ privacyUrl: '', highPrivacy: true, orientation: 'bottom', showIcon: false, AcceptAllCta: true, DenyAllCta: true, ...settings })});
        for (const key of ['count', 'ads'])
          tarteaucitron.services[key] = {
            key, type: 'other', name: key, needConsent: true, cookies: [], js() {}, fallback() {}, uri: '',
          };
        (tarteaucitron.job = tarteaucitron.job || []).push('count', 'ads');`,
      )}`;
    /** Until it has an effect: tarteaucitron listens to its buttons some time after it has made them. */
    const press = async (page: Page, id: string, isDone: string) => {
      await page.locator('#countDenied').waitFor({ state: 'attached' });
      await expect
        .poll(() =>
          page.evaluate(
            ([name, done]) => {
              document.getElementById(name)?.click();
              // biome-ignore lint/security/noGlobalEval: the page's own
              return eval(done);
            },
            [id, `{ const { ads, count } = tarteaucitron.state; ${isDone} }`] as const,
          ),
        )
        .toBe(true);
    };
    const accept = (page: Page) => press(page, 'tarteaucitronPersonalize2', 'ads && count');

    it('records one decision a press, as what it is, and nothing on the next page', async () => {
      const page = await open(banner());
      await accept(page);
      expect(await widget.records(1)).toMatchObject([
        { decision: 'accept_all', preferences: { count: true, ads: true }, language: 'en' },
      ]);
      await page.reload();
      await press(page, 'adsDenied', 'ads === false');
      expect(await decisions(2)).toEqual(['accept_all', 'custom']);
      await press(page, 'countDenied', 'count === false');
      expect(await decisions(3)).toEqual(['accept_all', 'custom', 'withdraw']);
      await press(page, 'adsAllowed', 'ads');
      expect((await widget.records(4))[3]).toMatchObject({
        decision: 'custom',
        preferences: { count: false, ads: true },
      });
    });

    it('records a refusal, and one service that is refused before the others are answered as no refusal of all', async () => {
      const page = await open(banner());
      await press(page, 'adsDenied', 'ads === false');
      expect(await decisions(1)).toEqual(['custom']);
      const other = await open(banner());
      await press(other, 'tarteaucitronAllDenied2', 'ads === false && count === false');
      expect(await decisions(2)).toEqual(['custom', 'reject_all']);
    });

    it('records nothing that a setting decides without the visitor', async () => {
      const page = await open(banner({ highPrivacy: false, serviceDefaultState: true }));
      await page.waitForFunction('tarteaucitron.state.ads === true');
      await press(page, 'adsDenied', 'ads === false');
      expect(await decisions(1)).toEqual(['custom']);
    });
  });

  it('records the decisions of c15t 2.2.1, the first refusal too', async () => {
    const code = await bundled(await fromNpm('c15t@2.2.1'), 'c15t', 'c15t/dist/index.js');
    widget.site.add('/c15t.js', code, script);
    const banner = () =>
      `<script src="/c15t.js"></script>${adapter(
        'c15t',
        `
      const { consentStore } = c15t.getOrCreateConsentRuntime({
        mode: 'offline',
        consentCategories: ['necessary', 'measurement', 'marketing'],
      });
      adapter.recordC15t(client, consentStore);
      window.save = (type) => consentStore.getState().saveConsents(type);
      window.set = (name, value) => consentStore.getState().setSelectedConsent(name, value);
      window.isSettled = () => !consentStore.getState().isLoadingConsentInfo;`,
      )}`;
    const page = await open(banner());
    const settled = () => page.waitForFunction('window.isSettled?.()');
    await settled();
    await page.evaluate('save("necessary")');
    expect(await widget.records(1)).toMatchObject([
      {
        decision: 'reject_all',
        preferences: { necessary: true, measurement: false, marketing: false },
        visitorId: expect.stringMatching(/^sub_/),
      },
    ]);
    await page.evaluate('save("all")');
    expect(await decisions(2)).toEqual(['reject_all', 'accept_all']);
    await page.reload();
    await settled();
    await page.evaluate('set("marketing", false); save("custom")');
    expect(await decisions(3)).toEqual(['reject_all', 'accept_all', 'custom']);
    // c15t loads the page again where something is taken back
    await settled();
    await page.evaluate('save("necessary")');
    expect(await decisions(4)).toEqual(['reject_all', 'accept_all', 'custom', 'withdraw']);
  });

  it("records the decisions of a banner of IAB's framework, with its string", async () => {
    const folder = await fromNpm(
      '@iabtechlabtcf/cmpapi@1.5.21',
      '@iabtechlabtcf/core@1.5.21',
      '@iabtechlabtcf/stub@1.5.21',
    );
    writeFileSync(path.join(folder, 'entry.js'), banner);
    widget.site.add('/tcf.js', await bundled(folder, 'tcf', '../entry.js'), script);
    const stub = path.join(folder, 'node_modules/@iabtechlabtcf/stub/lib/stub.js');
    widget.site.add('/stub.js', readFileSync(stub, 'utf8'), script);
    const page = await open(`<script src="/stub.js"></script>
      ${adapter('tcf', 'adapter.recordTcf(client);')}
      <script src="/tcf.js" defer></script>`);
    await page.waitForFunction('window.tcf');
    const decide = (purposes: number[], isNew = false) =>
      page.evaluate<string>(`tcf.decide(${JSON.stringify(purposes)}, ${isNew})`);
    const first = await decide([1, 2], true);
    expect(await widget.records(1)).toMatchObject([
      { decision: 'custom', tcString: first, preferences: { purpose_1: true, purpose_2: true, purpose_3: false } },
    ]);
    await page.reload();
    await page.waitForFunction('window.tcf');
    // what was recorded is loaded, and nothing is recorded; then a choice that was made elsewhere
    await decide([1, 2]);
    await decide([]);
    expect(await decisions(2)).toEqual(['custom', 'withdraw']);
    await page.reload();
    await page.waitForFunction('window.tcf');
    const elsewhere = await decide([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect((await widget.records(3))[2]).toMatchObject({ decision: 'accept_all', tcString: elsewhere });
  });
});
