import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hold, hostName } from '../support/browser/browser.ts';
import { config, html } from '../support/browser/site.ts';
import { consentIn, kept, useWidget, warningsIn } from '../support/browser/widget.ts';
import { createCli } from '../support/cli.ts';
import { useStackWithApi } from '../support/stack.ts';

describe("the widget on a site's page", () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);

  const seen = (page: Page) => page.evaluate(() => window.seen ?? []);

  it('works by the tag that the command line prints, under a strict policy, and contacts only the service', async () => {
    const { page, context, messages } = await widget.visit();
    const { baseUrl } = widget.stack.api;
    const options = ['domain', 'show', widget.stack.domainId, '--api', `${baseUrl}/`];
    const printed = await createCli({ ...widget.stack.env }).json<{ tag: string }>(...options);
    expect(printed.tag).toContain('integrity="sha384-');
    // it lacks only the key
    const tag = printed.tag.replace('ak_…', widget.stack.apiKey);
    const sources = `default-src 'none'; script-src ${baseUrl}; connect-src ${baseUrl}; base-uri 'none'`;
    const policy = { 'content-security-policy': `${sources}; require-trusted-types-for 'script'` };
    const address = widget.site.add('/', html(tag), policy);
    const contacted = new Set<string>();
    context.on('request', (request) => contacted.add(new URL(request.url()).origin));
    await page.goto(address);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Marketing' }).check();
    // it looks as it should: the sheet was accepted
    expect(await page.getByRole('dialog').evaluate((dialog) => getComputedStyle(dialog).position)).toBe('fixed');
    await click(page, 'Save choice');
    await widget.records(1);
    expect([...contacted].sort()).toEqual([baseUrl, widget.site.origin].sort());
    expect(messages.filter((message) => /^(error|uncaught)/.test(message))).toEqual([]);
  });

  it('releases what waits also where scripts come from policies alone', async () => {
    const { page, messages } = await widget.visit.again();
    widget.site.add('/held.js', "seen.push('file')", { 'content-type': 'text/javascript' });
    const held = 'type="text/plain" data-assent="marketing" nonce="abc"';
    const body = `<script nonce="abc">seen = []</script>
      <script ${held} src="/held.js"></script><script ${held}>seen.push('inline')</script>
      <object data-assent="marketing" data-src="/held.js" nonce="abc"></object>`;
    const policy = "script-src 'nonce-abc'; require-trusted-types-for 'script'; trusted-types assent";
    const tag = widget.tag({ nonce: 'abc' });
    await page.goto(widget.site.add('/trusted', html(tag, body), { 'content-security-policy': policy }));
    await click(page, 'Accept all');
    await page.waitForFunction(() => window.seen?.length === 2);
    expect(await seen(page)).toEqual(['file', 'inline']);
    expect(await page.locator('object').getAttribute('data')).toMatch(/held\.js$/);
    expect(messages.filter((message) => /^(error|uncaught)/.test(message))).toEqual([]);
    await widget.records(1);
  });

  it('neither takes the styles of the page nor gives it any', async () => {
    const { page } = await widget.visit.again();
    const wild = `<style>* { color: red !important; font: 31px serif !important; letter-spacing: 9px !important;
      text-transform: uppercase; opacity: 0.4 !important; rotate: 3deg }</style>`;
    await page.goto(widget.add('/plain', '', '<h1>A page</h1><button>One</button>'));
    const look = (selector: string) =>
      page.locator(selector).evaluate((node) => {
        const style = getComputedStyle(node);
        return [...style].map((name) => `${name}: ${style.getPropertyValue(name)}`).join('; ');
      });
    const before = [await look('h1'), await look('main button')];
    await page.goto(widget.add('/with', widget.tag(), '<h1>A page</h1><button>One</button>'));
    await page.getByRole('dialog').waitFor();
    expect([await look('h1'), await look('main button')]).toEqual(before);

    const style = async () =>
      page.getByRole('heading', { name: 'Your privacy' }).evaluate((node) => {
        const { color, fontSize, letterSpacing, textTransform } = getComputedStyle(node);
        const { opacity, rotate } = getComputedStyle((node.getRootNode() as ShadowRoot).host);
        return { color, fontSize, letterSpacing, textTransform, opacity, rotate };
      });
    const calm = await style();
    await page.goto(widget.add('/wild', wild + widget.tag()));
    expect(await style()).toEqual(calm);
  });

  it('moves only where motion is welcome, and its arrival and its parting shift no layout', async () => {
    const { page } = await widget.visit({ reducedMotion: 'no-preference' });
    await page.addInitScript(() => {
      window.seen = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.seen?.push((entry as PerformanceEntry & { value: number }).value);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(widget.add('/still', widget.tag(), '<h1>A page</h1><p>text</p>'.repeat(30)));
    const animation = () => page.getByRole('dialog').evaluate((node) => getComputedStyle(node).animationName);
    expect(await animation()).not.toBe('none');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await animation()).toBe('none');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await click(page, 'Customise');
    await page.locator('dialog:modal').waitFor();
    await click(page, 'Accept all');
    await widget.records(1);
    // a shift of our own proves that shifts are seen
    expect(await seen(page)).toEqual([]);
    await page.evaluate(() =>
      document.querySelector('main')?.prepend(Object.assign(document.createElement('div'), { style: 'height: 300px' })),
    );
    await page.waitForFunction(() => window.seen?.length);
  });

  it('shares one consent among the subdomains of a cookie domain, also one that was given before there was any', async () => {
    const { page } = await widget.visit.again();
    const at = (name: string) => `http://${name}.${hostName}:${widget.site.port}/shared`;
    widget.add('/shared', widget.tag());
    await page.goto(at('www'));
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    widget.add('/shared', widget.tag({ 'data-cookie-domain': hostName }));
    expect(await kept(page, '.consent')).toHaveLength(1);
    await page.reload();
    // a copy would be in force again once the visitor has removed the cookie
    expect(await kept(page, '.consent')).toEqual([]);
    await page.goto(at('blog'));
    expect(await consentIn(page)).toMatchObject({ id: record?.id });
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    await page.goto(at('www'));
    expect(await consentIn(page)).toMatchObject({ decision: 'withdraw', visitorId: record?.visitorId });
  });

  it('takes a choice that the site’s own server has sent again, and asks where that is not the newest', async () => {
    const cookie = `assent_${widget.stack.domainId}`;
    const own = widget.tag({ 'data-cookie-domain': hostName });
    const address = `http://www.${hostName}:${widget.site.port}/kept`;
    const { page, context } = await widget.visit.again();
    widget.add('/kept', own);
    await page.goto(address);
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    const sent = (await context.cookies()).find(({ name }) => name === cookie)?.value;
    const again = `${cookie}=${sent}; Domain=${hostName}; Path=/; Max-Age=34560000; SameSite=Lax`;
    widget.site.add('/kept', html(own), { 'set-cookie': again });
    // whose browser has forgotten all that scripts had stored
    const { page: later } = await widget.visit();
    await later.goto(address);
    await click(later, 'Privacy settings');
    expect(await consentIn(later)).toMatchObject({ id: record?.id, visitorId: record?.visitorId });
    await click(later, 'Withdraw consent');
    expect(await consentIn(later)).toMatchObject({ decision: 'withdraw' });
    await widget.records(2);
    await later.reload();
    await later.getByRole('button', { name: 'Accept all' }).waitFor();
    expect(await consentIn(later)).toBeNull();
  });

  it('lies behind a modal dialog of the page’s own until that is closed, and its settings come in front of it', async () => {
    const own =
      '<dialog id="own"><button onclick="own.close()">Leave</button></dialog><script>own.showModal()</script>';
    const { page } = await widget.open(widget.add('/modal', widget.tag(), own));
    await page.locator('assent-widget dialog').waitFor();
    const underAccepting = () =>
      page.evaluate(() => {
        const button = document.querySelector('assent-widget')?.shadowRoot?.querySelector('.actions button');
        const { x = 0, y = 0 } = button?.getBoundingClientRect() ?? {};
        return document.elementFromPoint(x + 9, y + 9)?.id;
      });
    expect(await underAccepting()).toBe('own');
    await click(page, 'Leave');
    await click(page, 'Accept all');
    await widget.records(1);
    await page.reload();
    await page.getByRole('button', { name: 'Leave' }).waitFor();
    await page.evaluate(() => window.assent?.open());
    await click(page, 'Withdraw consent');
    await widget.records(2);
    await click(page, 'Leave');
  });

  it('trusts nothing that markup can name, links to pages only, and keeps the choice though its cookie is refused', async () => {
    const names = 'cookie documentElement createElement querySelectorAll addEventListener dispatchEvent hidden baseURI';
    const elsewhere = 'data-domain="dom_x" data-key="ak_x" data-api="https://elsewhere.example" data-wait="9"';
    const markup = [
      `<img name="currentScript" ${elsewhere} data-policy-url="javascript:seen.push(1)">`,
      ...names.split(' ').map((name) => `<img name="${name}">`),
      ...['assent', 'assentConfig', 'dataLayer'].map((name) => `<form id="${name}"><input name="domain"></form>`),
      '<form id="held" tabindex="0"><input name="matches"><input name="focus"></form>',
      '<script>HTMLElement.prototype.focus.call(held)</script>',
    ].join('');
    const mode = `<script src="${widget.stack.api.baseUrl}/consent-mode.js"></script>`;
    const own = widget.tag({
      'data-policy-url': 'javascript:seen.push(2)',
      'data-text-policy': 'Policy',
      'data-cookie-domain': 'example.org',
    });
    const { page, messages } = await widget.open(widget.add('/marked', '', `${markup}${mode}${own}`));
    expect(await page.evaluate(() => window.dataLayer?.[0])).toMatchObject({ 2: { wait_for_update: 500 } });
    await page.getByRole('button', { name: 'Accept all' }).waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
    expect(warningsIn(messages)).toEqual([expect.stringContaining('left out the link')]);
    await click(page, 'Accept all');
    await widget.records(1);
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
    await page.reload();
    expect(await consentIn(page)).toMatchObject({ decision: 'accept_all' });
  });

  it('runs blocked scripts once their categories are allowed, only once, in order, though one of them is missing', async () => {
    const { page } = await widget.visit.again();
    widget.site.add('/slow.js', "seen.push('slow')", { 'content-type': 'text/javascript' });
    const release = await hold(page, '**/slow.js');
    const scripts = `
      <script>window.seen = []</script>
      <script type="text/plain" data-assent="necessary">seen.push('necessary')</script>
      <script type="text/plain" data-assent="constructor">seen.push('what every object has')</script>
      <script type="text/plain" data-assent="marketing" src="/missing.js"></script>
      <script type="text/plain" data-assent="marketing" src="/slow.js"></script>
      <script type="text/plain" data-assent="analytics">seen.push('analytics')</script>
      <script type="text/plain" data-assent="marketing" src="/never.js" nomodule></script>
      <script type="text/plain" data-assent="marketing">seen.push('inline')</script>
      <script type="text/plain" data-assent="analytics marketing" data-type="module">seen.push('both')</script>`;
    await page.goto(widget.add('/blocked', widget.tag(), scripts));
    await page.getByRole('dialog').waitFor();
    expect(await seen(page)).toEqual(['necessary']);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await click(page, 'Save choice');
    expect(await seen(page)).toEqual(['necessary', 'analytics']);
    const asked = page.waitForRequest('**/slow.js');
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    await asked;
    // an inline script waits for the external ones before it
    expect((await seen(page)).length).toBe(2);
    release();
    await page.waitForFunction(() => window.seen?.includes('both'));
    expect((await seen(page)).slice(2)).toEqual(['slow', 'inline', 'both']);
    // also what the page gets later
    await page.evaluate(() => {
      const later = document.createElement('script');
      later.type = 'text/plain';
      later.dataset.assent = 'marketing';
      later.text = "seen.push('later')";
      document.body.append(later);
    });
    await page.waitForFunction(() => window.seen?.includes('later'));
    expect((await seen(page)).length).toBe(6);
  });

  it('one thing that fails stops no other: a script, a listener, metadata that cannot be sent', async () => {
    const { page, messages } = await widget.visit.again();
    const setup = `<script>
      window.seen = [];
      const loop = { plan: null, list: ['north'] };
      loop.loop = loop;
      assentConfig = { metadata: { ...loop, shop: 'north' }, consentMode: { maps: 'functionality_storage' }, categories: ['maps'] };
    </script>`;
    const scripts = `
      <script type="text/plain" data-assent="maps">throw new Error('the first script')</script>
      <script type="text/plain" data-assent="maps" id="second">seen.push('never')</script>
      <script type="text/plain" data-assent="maps">seen.push('script')</script>`;
    await page.goto(widget.add('/failing', setup + widget.tag(), scripts));
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => {
      window.assent?.onChange(() => {
        throw new Error('a listener');
      });
      window.assent?.onChange(() => window.seen?.push('listener'));
      addEventListener('assent:change', () => window.seen?.push('event'));
      const replace = Element.prototype.replaceWith;
      Element.prototype.replaceWith = function (...nodes) {
        if (this.id === 'second') throw new Error('the second script');
        replace.apply(this, nodes);
      };
    });
    await click(page, 'Accept all');
    await page.waitForFunction(() => window.seen?.includes('script'));
    expect(await seen(page)).toEqual(['event', 'listener', 'script']);
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all', metadata: { shop: 'north' } }]);
    expect(await page.getByRole('dialog').count()).toBe(0);
    for (const part of ['the first script', 'the second script', 'a listener'])
      expect(messages).toContainEqual(expect.stringMatching(`^uncaught: .*${part}`));
  });

  it('metadata that is too large for any record is left out, and not the decision', async () => {
    const { page } = await widget.visit.again();
    const setup = `<script>assentConfig = { metadata: { basket: 'ü'.repeat(20000), shop: 'north' } };</script>`;
    await page.goto(widget.add('/large', setup + widget.tag()));
    await click(page, 'Accept all');
    expect(await widget.records(1)).toMatchObject([{ decision: 'accept_all', metadata: null }]);
  });

  /** What the page told Google, without the names of the commands. */
  const layer = async (page: Page, name = 'dataLayer') => {
    const all = `(window.${name} ?? []).map((entry) => Array.from(entry).slice(1)).filter(({ length }) => length > 0)`;
    return page.evaluate<unknown[][]>(all);
  };
  const denied = {
    functionality_storage: 'denied',
    personalization_storage: 'denied',
    analytics_storage: 'denied',
    ad_storage: 'denied',
    ad_user_data: 'denied',
    ad_personalization: 'denied',
  };

  it('speaks Google Consent Mode, denied before any tag, in a layer of any name, and tells Microsoft’s tags, late ones too', async () => {
    const loader = `<script src="${widget.stack.api.baseUrl}/consent-mode.js" data-layer="ownLayer"></script>`;
    const stubs = `<script>
      first = ownLayer.map((entry) => Array.from(entry));
      seen = [];
      uetq = [];
      const clarity_ = (...all) => seen.push(all);
    </script>`;
    const { page } = await widget.open(
      widget.add('/told', loader + stubs + config({ layer: 'ownLayer' }) + widget.tag()),
    );
    const standard = ['default', { ...denied, security_storage: 'granted', wait_for_update: 500 }];
    expect(await page.evaluate('first')).toEqual([['consent', ...standard]]);
    await page.getByRole('dialog').waitFor();
    // as their snippets do it: a queue, then a script
    await page.evaluate("window.clarity = clarity_; document.head.append(document.createElement('script'))");
    const clarity = (ad: string, analytics: string) => ['consentv2', { ad_Storage: ad, analytics_Storage: analytics }];
    await expect.poll(() => seen(page)).toEqual([clarity('denied', 'denied')]);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Marketing' }).check();
    await click(page, 'Save choice');
    await expect.poll(() => seen(page)).toEqual([clarity('denied', 'denied'), clarity('granted', 'denied')]);
    const told = (kind: string, state: string) => ['consent', kind, { ad_storage: state }];
    // again as the other one came
    const updates = ['denied', 'denied', 'granted'].flatMap((state) => told('update', state));
    expect(await page.evaluate('uetq')).toEqual([...told('default', 'denied'), ...updates]);
    const granted = { ad_storage: 'granted', ad_user_data: 'granted', ad_personalization: 'granted' };
    const update = ['update', { ...denied, ...granted }];
    expect(await layer(page, 'ownLayer')).toEqual([standard, update]);
    expect(await page.evaluate("ownLayer.filter((entry) => 'event' in entry)")).toMatchObject([
      { event: 'assent_ready', assent: null },
      { event: 'assent_change', assent: { decision: 'custom' } },
    ]);
    expect(await page.evaluate(() => 'dataLayer' in window)).toBe(false);
    // on the next page the choice is known at once
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect((await layer(page, 'ownLayer')).slice(0, 2)).toEqual([standard, update]);
  });

  it('tells Google the default itself where the loader is missing, what is required, and nobody where that is off', async () => {
    // null, as servers write what is absent, is absence
    const absent = { signals: null, layer: null, texts: null, links: null, policyUrl: null, lang: null };
    const required = config({ ...absent, categories: [{ id: 'functional', required: true }, 'marketing'] });
    const { page } = await widget.open(widget.add('/required', required + widget.tag()));
    await click(page, 'Reject all');
    const granted = expect.objectContaining({ functionality_storage: 'granted', ad_storage: 'denied' });
    const told = [
      ['default', expect.objectContaining(denied)],
      ['update', granted],
      ['update', granted],
    ];
    expect(await layer(page)).toEqual(told);
    const stubs = '<script>seen = []; uetq = []; clarity = (...all) => seen.push(all)</script>';
    const off = config({ consentMode: false, signals: { uet: false, clarity: false } });
    for (const head of [
      off + widget.tag(),
      config({ signals: { uet: false, clarity: false } }) + widget.tag({ 'data-consent-mode': 'false' }),
    ]) {
      await page.goto(widget.add('/off', stubs + head));
      await page.getByRole('dialog').waitFor();
      expect(await layer(page)).toEqual([]);
      expect(await page.evaluate('[uetq, seen]')).toEqual([[], []]);
    }
    // the loader knows the layer's name from the page's settings, too
    const loader = `<script src="${widget.stack.api.baseUrl}/consent-mode.js"></script>`;
    await page.goto(widget.add('/named', config({ layer: 'ownLayer' }) + loader));
    expect(await layer(page, 'ownLayer')).toHaveLength(1);
    expect(await page.evaluate(() => 'dataLayer' in window)).toBe(false);
  });

  it("shows the site's own categories, texts, links and colours", async () => {
    const settings = {
      categories: ['necessary', { id: 'maps', label: 'Maps', description: 'Shows where we are.' }, 'analytics'],
      texts: { accept: 'Fine', en: { title: 'Biscuits?' }, de: { title: 'Kekse?' } },
      links: [{ label: 'Terms', href: '/terms' }],
      colors: { buttonText: 'rgb(1, 2, 3)' },
      policyVersion: 9,
    };
    const attributes = {
      'data-color-button': 'rgb(250, 240, 230)',
      'data-text-reject': 'No',
      'data-policy-url': '/privacy',
      'data-button': 'right',
    };
    const { page } = await widget.open(widget.add('/own', config(settings) + widget.tag(attributes)));
    await page.getByRole('dialog', { name: 'Biscuits?' }).waitFor();
    const links = page.getByRole('link');
    expect(await links.evaluateAll((all) => all.map((link) => link.outerHTML))).toEqual([
      '<a href="/privacy">Privacy policy</a>',
      '<a href="/terms">Terms</a>',
    ]);
    const fine = page.getByRole('button', { name: 'Fine' });
    const colours = await fine.evaluate((node) => [
      getComputedStyle(node).backgroundColor,
      getComputedStyle(node).color,
    ]);
    expect(colours).toEqual(['rgb(250, 240, 230)', 'rgb(1, 2, 3)']);
    await page.getByRole('button', { name: 'No', exact: true }).waitFor();
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Maps' }).check();
    await page.getByText('Shows where we are.').waitFor();
    await click(page, 'Save choice');
    expect(await widget.records(1)).toMatchObject([
      { preferences: { maps: true, analytics: false }, policyVersion: '9' },
    ]);
    // where the button stays, also in a language that runs the other way
    const middle = (page.viewportSize()?.width ?? 0) / 2;
    const placeOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.x;
    expect(await placeOf('Privacy settings')).toBeGreaterThan(middle);
    await page.goto(widget.add('/left', config({ ...settings, lang: 'ar' }) + widget.tag()));
    expect(await placeOf('إعدادات الخصوصية')).toBeLessThan(middle);
  });

  it('says what is wrong with its settings, and does nothing without a domain', async () => {
    const refused = widget.add('/odd', widget.tag({ 'data-categories': 'analytics prix/coût maps' }));
    const { page, messages } = await widget.open(refused);
    await page.getByRole('dialog').waitFor();
    // with the second file
    await expect.poll(() => warningsIn(messages)).toEqual(['warning: assent: bad category name prix/coût']);
    await page.goto(widget.add('/none', `<script src="${widget.stack.api.baseUrl}/widget.js" defer></script>`));
    expect(warningsIn(messages)[1]).toContain('domain and key are required');
    expect(await page.evaluate(() => 'assent' in window)).toBe(false);
  });
});
