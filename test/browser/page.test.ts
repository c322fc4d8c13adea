import type { Page } from 'playwright-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { click, hostName, useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { createCli } from '../support/cli.ts';
import { recordsOf, type Stack, useStackWithApi, withOwnDomain } from '../support/stack.ts';

type Seen = Window & { seen?: string[] };

describe("the widget on a site's page", () => {
  const visit = useBrowser();
  let stack: Stack;
  let site: Site;

  beforeAll(async () => {
    // an API of its own: new notices of an address are bounded, and other files send some too
    stack = await useStackWithApi();
    site = await startSite();
  });

  const makeDomain = async (origins: string[] = []) => {
    stack = await withOwnDomain(stack, origins);
  };
  beforeEach(() => makeDomain());

  const seen = (page: Page) => page.evaluate(() => (window as Seen).seen ?? []);

  it('works under a strict content security policy, and contacts only the service', async () => {
    const { page, context, messages } = await visit();
    const policy = [
      "default-src 'none'",
      `script-src ${stack.api.baseUrl}`,
      `connect-src ${stack.api.baseUrl}`,
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ];
    const address = site.add('/strict', html(tag(stack)), {
      'content-security-policy': policy.join(';'),
    });
    const contacted = new Set<string>();
    context.on('request', (request) => contacted.add(new URL(request.url()).origin));
    await page.goto(address);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Marketing' }).check();
    // it looks as it should: the sheet was accepted
    expect(await page.getByRole('dialog').evaluate((dialog) => getComputedStyle(dialog).position)).toBe('fixed');
    await click(page, 'Save choice');
    await recordsOf(stack, 1);
    expect([...contacted].sort()).toEqual([stack.api.baseUrl, site.origin].sort());
    expect(messages.filter((message) => /^(error|uncaught)/.test(message))).toEqual([]);
  });

  it('loads with the integrity and the address that the command line prints', async () => {
    const { page } = await visit();
    const cli = createCli({ ...stack.env });
    const shown = await cli.json<{ widget: string; integrity: string }>('domain', 'show', stack.domainId);
    const pinned = { src: stack.api.baseUrl + shown.widget, integrity: shown.integrity, crossorigin: 'anonymous' };
    await page.goto(site.add('/pinned', html(tag(stack, pinned))));
    await click(page, 'Accept all');
    await recordsOf(stack, 1);
    // the same as a whole tag, which lacks only the key
    const whole = await cli.json<{ tag: string }>('domain', 'show', stack.domainId, '--api', `${stack.api.baseUrl}/`);
    const { page: another } = await visit();
    await another.goto(site.add('/whole', html(whole.tag.replace('ak_…', stack.apiKey))));
    await click(another, 'Accept all');
    await recordsOf(stack, 2);
  });

  it('records from a listed origin, and from no other', async () => {
    const { page } = await visit();
    await makeDomain([site.origin]);
    await page.goto(site.add('/', html(tag(stack))));
    await click(page, 'Accept all');
    await recordsOf(stack, 1);

    await makeDomain(['https://elsewhere.example']);
    const { page: refused } = await visit();
    await refused.goto(site.add('/', html(tag(stack))));
    const failure = refused.waitForEvent('requestfailed', (request) => request.url().endsWith('/record'));
    await Promise.all([failure, click(refused, 'Accept all')]);
    // the visitor sees no difference, and the record waits for the list to change
    await refused.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(
      await refused.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('.queue.')).length),
    ).toBe(1);
    await recordsOf(stack, 0);
  });

  it('neither takes the styles of the page nor gives it any', async () => {
    const { page } = await visit();
    const wild =
      '<style>* { color: red !important; font: 31px serif !important; letter-spacing: 9px !important; text-transform: uppercase; opacity: 0.4 !important; rotate: 3deg }</style>';
    await page.goto(site.add('/plain', html('', '<h1>A page</h1><button>One</button>')));
    const look = (selector: string) =>
      page
        .locator(selector)
        .evaluate((node) =>
          JSON.stringify(
            Object.fromEntries(
              [...getComputedStyle(node)].map((name) => [name, getComputedStyle(node).getPropertyValue(name)]),
            ),
          ),
        );
    const before = [await look('h1'), await look('main button')];
    await page.goto(site.add('/with', html(tag(stack), '<h1>A page</h1><button>One</button>')));
    await page.getByRole('dialog').waitFor();
    expect([await look('h1'), await look('main button')]).toEqual(before);

    const style = async () =>
      page.getByRole('heading', { name: 'Your privacy' }).evaluate((node) => {
        const { color, fontSize, letterSpacing, textTransform } = getComputedStyle(node);
        const { opacity, rotate } = getComputedStyle((node.getRootNode() as ShadowRoot).host);
        return { color, fontSize, letterSpacing, textTransform, opacity, rotate };
      });
    const calm = await style();
    await page.goto(site.add('/wild', html(wild + tag(stack))));
    expect(await style()).toEqual(calm);
  });

  it('moves nothing: its arrival and its parting shift no layout', async () => {
    const { page } = await visit();
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(site.add('/still', html(tag(stack), '<h1>A page</h1><p>text</p>'.repeat(30))));
    await click(page, 'Customise');
    await click(page, 'Accept all');
    await recordsOf(stack, 1);
    // a shift of our own proves that shifts are seen
    expect(await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)).toEqual([]);
    await page.evaluate(() =>
      document.querySelector('main')?.prepend(Object.assign(document.createElement('div'), { style: 'height: 300px' })),
    );
    await page.waitForFunction(() => (window as unknown as { shifts: number[] }).shifts.length > 0);
  });

  it('shares one consent among the subdomains of a cookie domain', async () => {
    const { page } = await visit();
    const shared = { 'data-cookie-domain': hostName };
    site.add('/shared', html(tag(stack, shared)));
    const at = (name: string) => `http://${name}.${hostName}:${site.port}/shared`;
    await page.goto(at('www'));
    await click(page, 'Accept all');
    const [record] = await recordsOf(stack, 1);
    await page.goto(at('blog'));
    await page.getByRole('button', { name: 'Privacy settings' }).click();
    await click(page, 'Withdraw consent');
    await page.goto(at('www'));
    expect(await page.evaluate(() => window.assent?.getConsent()?.decision)).toBe('withdraw');
    const records = await recordsOf(stack, 2);
    expect(records[1]?.visitorId).toBe(record?.visitorId);
  });

  it('keeps the choice where the cookie of the cookie domain is refused', async () => {
    const { page } = await visit();
    const address = site.add('/foreign', html(tag(stack, { 'data-cookie-domain': 'example.org' })));
    await page.goto(address);
    await click(page, 'Accept all');
    await page.reload();
    expect(await page.evaluate(() => window.assent?.getConsent()?.decision)).toBe('accept_all');
  });

  it('runs blocked scripts in order, once their categories are allowed, and only once', async () => {
    const { page } = await visit();
    site.add('/far.js', "seen.push('far')", { 'content-type': 'text/javascript' });
    const scripts = `
      <script>window.seen = []</script>
      <script type="text/plain" data-assent="necessary">seen.push('necessary')</script>
      <script type="text/plain" data-assent="marketing" src="/far.js"></script>
      <script type="text/plain" data-assent="analytics">seen.push('analytics')</script>
      <script type="text/plain" data-assent="analytics marketing" data-type="module">seen.push('both')</script>`;
    await page.goto(site.add('/blocked', html(tag(stack), scripts)));
    await page.getByRole('dialog').waitFor();
    expect(await seen(page)).toEqual(['necessary']);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await click(page, 'Save choice');
    expect(await seen(page)).toEqual(['necessary', 'analytics']);
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    await page.waitForFunction(() => (window as Seen).seen?.length === 4);
    expect((await seen(page)).slice(2)).toEqual(['far', 'both']);
    // also what the page gets later
    await page.evaluate(() => {
      const later = document.createElement('script');
      later.type = 'text/plain';
      later.dataset.assent = 'marketing';
      later.text = "seen.push('later')";
      document.body.append(later);
    });
    await page.waitForFunction(() => (window as Seen).seen?.includes('later'));
    expect((await seen(page)).length).toBe(5);
  });

  it('an inline script waits for the external ones before it, though one of them is missing', async () => {
    const { page, context } = await visit();
    const type = { 'content-type': 'text/javascript' };
    site.add('/slow.js', "seen.push('slow')", type);
    await context.route('**/slow.js', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    const scripts = `
      <script>window.seen = []</script>
      <script type="text/plain" data-assent="marketing" src="/missing.js"></script>
      <script type="text/plain" data-assent="marketing" src="/slow.js"></script>
      <script type="text/plain" data-assent="marketing">seen.push('inline')</script>
      <script type="text/plain" data-assent="marketing" src="/never.js" nomodule></script>
      <script type="text/plain" data-assent="analytics">seen.push('last')</script>`;
    await page.goto(site.add('/ordered', html(tag(stack), scripts)));
    await click(page, 'Accept all');
    await page.waitForFunction(() => (window as Seen).seen?.includes('last'));
    expect(await seen(page)).toEqual(['slow', 'inline', 'last']);
  });

  it('one thing that fails stops no other: a script, a listener, metadata that cannot be sent', async () => {
    const { page, messages } = await visit();
    const setup = `<script>
      window.seen = [];
      const loop = {};
      loop.loop = loop;
      assentConfig = { metadata: loop, consentMode: { maps: 'functionality_storage' }, categories: ['maps'] };
    </script>`;
    const scripts = `
      <script type="text/plain" data-assent="maps">throw new Error('the first script')</script>
      <script type="text/plain" data-assent="maps" id="second">seen.push('never')</script>
      <script type="text/plain" data-assent="maps">seen.push('script')</script>`;
    await page.goto(site.add('/failing', html(setup + tag(stack), scripts)));
    await page.getByRole('dialog').waitFor();
    await page.evaluate(() => {
      window.assent?.onChange(() => {
        throw new Error('a listener');
      });
      window.assent?.onChange(() => (window as Seen).seen?.push('listener'));
      addEventListener('assent:change', () => (window as Seen).seen?.push('event'));
      const replace = Element.prototype.replaceWith;
      Element.prototype.replaceWith = function (...nodes) {
        if (this.id === 'second') throw new Error('the second script');
        replace.apply(this, nodes);
      };
    });
    await click(page, 'Accept all');
    await page.waitForFunction(() => (window as Seen).seen?.includes('script'));
    expect(await seen(page)).toEqual(['listener', 'event', 'script']);
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'accept_all', metadata: null }]);
    expect(await page.getByRole('dialog').count()).toBe(0);
    for (const part of ['the first script', 'the second script', 'a listener', 'circular'])
      expect(messages).toContainEqual(expect.stringMatching(`^uncaught: .*${part}`));
  });

  it('is there though the page has an element of that name', async () => {
    const { page } = await visit();
    await page.goto(site.add('/named', html(tag(stack), '<h1 id="assent">A page</h1>')));
    await click(page, 'Accept all');
    await recordsOf(stack, 1);
  });

  it('tells Google that what is required is granted, before and after the decision', async () => {
    const { page } = await visit();
    const config = { categories: [{ id: 'functional', required: true }, 'marketing'] };
    await page.goto(
      site.add('/required', html(`<script>assentConfig = ${JSON.stringify(config)}</script>${tag(stack)}`)),
    );
    await click(page, 'Reject all');
    const updates = await page.evaluate(() =>
      (window.dataLayer ?? [])
        .map((entry) => Array.from(entry as ArrayLike<unknown>))
        .filter(([, kind]) => kind === 'update'),
    );
    const update = [
      'consent',
      'update',
      expect.objectContaining({ functionality_storage: 'granted', ad_storage: 'denied' }),
    ];
    expect(updates).toEqual([update, update]);
  });

  it('speaks Google Consent Mode: denied before any tag, then as the visitor decides', async () => {
    const { page } = await visit();
    const loader = `<script src="${stack.api.baseUrl}/consent-mode.js"></script>`;
    const first = '<script>window.before = dataLayer.map((entry) => Array.from(entry))</script>';
    const address = site.add('/google', html(loader + first + tag(stack)));
    const layer = () =>
      page.evaluate(() => (window.dataLayer ?? []).map((entry) => Array.from(entry as ArrayLike<unknown>)));
    const denied = {
      functionality_storage: 'denied',
      personalization_storage: 'denied',
      analytics_storage: 'denied',
      ad_storage: 'denied',
      ad_user_data: 'denied',
      ad_personalization: 'denied',
    };
    await page.goto(address);
    const standard = ['consent', 'default', { ...denied, security_storage: 'granted', wait_for_update: 500 }];
    expect(await page.evaluate(() => (window as unknown as { before: unknown }).before)).toEqual([standard]);
    await page.getByRole('dialog').waitFor();
    expect((await layer()).filter(([command]) => command === 'consent')).toEqual([standard]);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Statistics' }).check();
    await click(page, 'Save choice');
    const update = ['consent', 'update', { ...denied, analytics_storage: 'granted' }];
    expect((await layer()).filter(([command]) => command === 'consent')).toEqual([standard, update]);
    const events = await page.evaluate(() =>
      (window.dataLayer ?? []).flatMap((entry) => ('event' in Object(entry) ? [entry as Record<string, unknown>] : [])),
    );
    expect(events).toMatchObject([
      { event: 'assent_ready', assent: null },
      { event: 'assent_change', assent: { decision: 'custom' } },
    ]);
    // on the next page the choice is known at once
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect((await layer()).filter(([command]) => command === 'consent')).toEqual([standard, update]);
  });

  it('says the default itself where the loader is missing, and nothing to Google where that is off', async () => {
    const { page } = await visit();
    await page.goto(site.add('/alone', html(tag(stack))));
    await page.getByRole('dialog').waitFor();
    const commands = () =>
      page.evaluate(() => (window.dataLayer ?? []).map((entry) => (entry as ArrayLike<unknown>)[1]));
    expect(await commands()).toEqual(['default', undefined]);
    await page.goto(site.add('/off', html(`<script>assentConfig = { consentMode: false }</script>${tag(stack)}`)));
    await page.getByRole('dialog').waitFor();
    expect(await commands()).toEqual([undefined]);
    await page.goto(site.add('/no', html(tag(stack, { 'data-consent-mode': 'false' }))));
    await page.getByRole('dialog').waitFor();
    expect(await commands()).toEqual([undefined]);
  });

  it("shows the site's own categories, texts, links and colours", async () => {
    const { page } = await visit();
    const config = {
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
    };
    const setup = `<script>assentConfig = ${JSON.stringify(config)}</script>`;
    await page.goto(site.add('/own', html(setup + tag(stack, attributes))));
    await page.getByRole('dialog', { name: 'Biscuits?' }).waitFor();
    expect(
      await page
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute('href')])),
    ).toEqual([
      ['Privacy policy', '/privacy'],
      ['Terms', '/terms'],
    ]);
    const button = page.getByRole('button', { name: 'Fine' });
    expect(
      await button.evaluate((node) => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]),
    ).toEqual(['rgb(250, 240, 230)', 'rgb(1, 2, 3)']);
    await page.getByRole('button', { name: 'No', exact: true }).waitFor();
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Maps' }).check();
    await page.getByText('Shows where we are.').waitFor();
    await click(page, 'Save choice');
    expect(await recordsOf(stack, 1)).toMatchObject([
      { preferences: { maps: true, analytics: false }, policyVersion: '9' },
    ]);
  });

  it('moves a choice that is in force to the cookie, once there is a cookie domain', async () => {
    const { page } = await visit();
    const at = (name: string) => `http://${name}.${hostName}:${site.port}/later`;
    site.add('/later', html(tag(stack)));
    await page.goto(at('www'));
    await click(page, 'Accept all');
    const [record] = await recordsOf(stack, 1);
    site.add('/later', html(tag(stack, { 'data-cookie-domain': hostName })));
    const kept = () => page.evaluate(() => Object.keys(localStorage).filter((name) => name.endsWith('.consent')));
    expect(await kept()).toHaveLength(1);
    await page.reload();
    // a copy would be in force again once the visitor has removed the cookie
    expect(await kept()).toEqual([]);
    await page.goto(at('blog'));
    expect(await page.evaluate(() => window.assent?.getConsent()?.id)).toBe(record?.id);
  });

  it('says at the start which categories the service would refuse', async () => {
    const { page, messages } = await visit();
    await page.goto(site.add('/odd', html(tag(stack, { 'data-categories': 'analytics prix/coût maps' }))));
    await page.getByRole('dialog').waitFor();
    expect(messages.filter((message) => message.startsWith('warning: assent'))).toEqual([
      'warning: assent: the service refuses the category prix/coût',
    ]);
  });

  it('says what is missing when it has no domain, and does nothing', async () => {
    const { page, messages } = await visit();
    await page.goto(site.add('/none', html(`<script src="${stack.api.baseUrl}/widget.js" defer></script>`)));
    expect(messages).toContainEqual(expect.stringContaining('data-domain and data-key are required'));
    expect(await page.evaluate(() => 'assent' in window)).toBe(false);
  });
});
