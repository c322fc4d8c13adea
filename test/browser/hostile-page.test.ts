/** What a page's visitors write, its address, its subdomains and its own bugs: none of it speaks for the site. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hostName } from '../support/browser/browser.ts';
import { config, html } from '../support/browser/site.ts';
import { consentIn, useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the widget on a page with hostile content', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);

  const seen = (page: Page) => page.evaluate(() => window.seen ?? []);
  /** What the page asks for from now on. */
  const watch = (page: Page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    return asked;
  };
  /** Where the page has broken what a driver of browsers needs to find it. */
  const clickHere = (page: Page, text: string) =>
    eventually(() =>
      page.evaluate((wanted) => {
        const tree = document.querySelector('assent-widget')?.shadowRoot;
        const button = [...(tree?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === wanted);
        if (!button) throw new Error(`there is no ${wanted}`);
        button.click();
      }, text),
    );
  const elsewhere = 'https://elsewhere.example';
  /** A page, once with the widget's tag and once, as a control, without. */
  const bothWays = async (path: string, tag: string, body: string, headers: Record<string, string>) => ({
    control: widget.site.add(`${path}-control`, html('', body, 'lang="en"'), headers),
    address: widget.site.add(path, html(tag, body), headers),
  });

  it.each([
    ['a strict policy', "script-src 'nonce-abc' 'strict-dynamic'"],
    [
      'one for trusted types',
      "script-src 'nonce-abc' 'strict-dynamic'; require-trusted-types-for 'script'; trusted-types assent",
    ],
  ])('under %s only scripts and embeds with its nonce are released', async (_, policy) => {
    widget.site.add('/evil.js', "seen.push('evil file')", { 'content-type': 'text/javascript' });
    widget.site.add('/own.js', "seen.push('own file')", { 'content-type': 'text/javascript' });
    for (const name of ['/evil-frame', '/own-frame']) widget.site.add(name, html(''));
    const body = `<script nonce="abc">seen = []</script>
      <script type="text/plain" data-assent="necessary" src="/evil.js"></script>
      <script type="text/plain" data-assent="necessary">seen.push('evil')</script>
      <script type="text/plain" data-assent="necessary" nonce="guessed">seen.push('guessed')</script>
      <iframe data-assent="necessary" data-src="/evil-frame"></iframe>
      <script type="text/plain" data-assent="necessary" nonce="abc" src="/own.js"></script>
      <script type="text/plain" data-assent="necessary" nonce="abc">seen.push('own')</script>
      <iframe data-assent="necessary" data-src="/own-frame" nonce="abc"></iframe>`;
    const headers = { 'content-security-policy': policy };
    const { control, address } = await bothWays('/strict', widget.tag({ nonce: 'abc' }), body, headers);
    const { page } = await widget.visit.again();
    const asked = watch(page);
    await page.goto(control);
    expect([await seen(page), asked.filter((path) => path.includes('frame'))]).toEqual([[], []]);
    await page.goto(address);
    await click(page, 'Accept all');
    await page.waitForFunction(() => window.seen?.includes('own'));
    await page.frameLocator('iframe[nonce], iframe[src]').locator('h1').waitFor();
    expect(await seen(page)).toEqual(['own file', 'own']);
    expect(asked.filter((path) => path.includes('evil'))).toEqual([]);
  });

  it('fields of a form that take the place of its members stop nothing', async () => {
    const fields = (name: string) => `<form><input name="${name}"><input name="${name}"></form>`;
    const names = ['shadowRoot', 'dataset', 'attributes', 'querySelectorAll', 'host', 'matches', 'remove', 'append'];
    const body = `<script>seen = []</script>${names.map(fields).join('')}<form><input name="shadowRoot"></form>
      <script type="text/plain" data-assent="marketing">seen.push('own')</script>`;
    const { page } = await widget.visit.again();
    await page.goto(widget.add('/form', widget.tag(), body));
    await clickHere(page, 'Accept all');
    await eventually(async () => expect(await seen(page)).toEqual(['own']));
  });

  it("nothing is set by the page's own address, though the script cannot tell its own", async () => {
    const { baseUrl } = widget.stack.api;
    const { page, messages } = await widget.visit.again();
    const asked = watch(page);
    const address = widget.add(
      '/linked',
      `<script type="module">import '${baseUrl}/widget.js'; window.seen = [1]</script>`,
    );
    await page.goto(`${address}?api=${encodeURIComponent(elsewhere)}&domain=dom_x&key=ak_x#?domain=dom_x&key=ak_x`);
    await page.waitForFunction(() => window.seen);
    expect(await page.evaluate(() => typeof window.assent)).toBe('undefined');
    expect(warningsIn(messages)).toEqual([expect.stringContaining('domain and key are required')]);
    expect(asked.filter((path) => path.startsWith('/texts') || path.startsWith('/v1'))).toEqual([]);
    // settings of the page's own are heeded
    const { domainId: domain, apiKey: key } = widget.stack;
    const settings = config({ domain, key, api: baseUrl });
    const module = `<script type="module">import '${baseUrl}/widget.js'</script>`;
    await page.goto(`${widget.add('/linked-own', settings + module)}?api=${encodeURIComponent(elsewhere)}&key=ak_x`);
    await click(page, 'Reject all');
    await widget.records(1);
  });

  it('a script that never runs cannot take the place of a tag that has all it needs in its address', async () => {
    const { domainId, apiKey, api } = widget.stack;
    const tag = `<script src="${api.baseUrl}/widget.js?domain=${domainId}&key=${apiKey}" defer></script>`;
    const inert = `<script type="text/plain" data-domain="dom_x" data-key="ak_x" data-text-title="Evil"
      src="${elsewhere}/widget.js"></script>`;
    const { page } = await widget.visit.again();
    await page.goto(widget.add('/inert', tag, inert));
    await click(page, 'Reject all');
    expect(await page.getByText('Evil').count()).toBe(0);
    await widget.records(1);
  });

  it('a cookie with a time far ahead, as any subdomain can set it, outlasts no withdrawal', async () => {
    const { domainId } = widget.stack;
    const tag = widget.tag({ 'data-cookie-domain': hostName });
    const address = `http://www.${hostName}:${widget.site.port}/ahead`;
    widget.add('/ahead', tag);
    const { page, context } = await widget.visit.again();
    const tomorrow = Date.now() + 86_400_000;
    const choice = { id: 'x', decision: 'accept_all', preferences: { analytics: true, marketing: true }, at: tomorrow };
    const value = encodeURIComponent(JSON.stringify({ ...choice, policyVersion: '', visitorId: 'evil' }));
    // the more exact path, so that it stands before the widget's own
    await context.addCookies([
      { name: `assent_${domainId}`, value, domain: `.${hostName}`, path: '/ahead', expires: -1, sameSite: 'Lax' },
    ]);
    await page.goto(address);
    await click(page, 'Accept all');
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    await page.reload();
    expect(await consentIn(page)).toMatchObject({ decision: 'withdraw' });
  });

  it('what a script gives all objects is no setting, no category and no option', async () => {
    const polluted = {
      ...{ api: elsewhere, domain: 'dom_x', required: true, categories: 'evil', cookieDomain: 'evil.example' },
      ...{ texts: { title: 'Evil' }, company: 'Evil', lang: 'de', theme: 'dark', policyUrl: 'https://evil.example/' },
      ...{ src: '/evil-frame', type: 'text/evil', attributeFilter: 'x', services: [{ name: 'Evil' }], preferences: {} },
      ...{ experiment: { id: 'x', variants: [{ name: 'x' }] }, metadata: { evil: true }, links: [{ label: 'Evil' }] },
    };
    const bug = `<script>seen = []; Object.assign(Object.prototype, ${JSON.stringify(polluted)})</script>`;
    const body = `<script type="text/plain" data-assent="marketing">seen.push('own')</script>
      <iframe data-assent="marketing"></iframe>`;
    const { page } = await widget.visit.again();
    const asked = watch(page);
    await page.goto(widget.add('/polluted', bug + widget.tag(), body));
    const shown = () => page.evaluate(() => document.querySelector('assent-widget')?.shadowRoot?.textContent ?? '');
    await eventually(async () => expect(await shown()).toContain('Accept all'));
    expect([await seen(page), (await shown()).includes('Evil')]).toEqual([[], false]);
    await clickHere(page, 'Accept all');
    await eventually(async () => expect(await seen(page)).toEqual(['own']));
    const [record] = await widget.records(1);
    expect(record).toMatchObject({ preferences: { analytics: true, marketing: true }, metadata: null, variant: null });
    expect(asked).not.toContain('/evil-frame');
  });

  it('what is stored counts as consent only where it says so plainly, and as a visitor only where the service takes it', async () => {
    const { domainId } = widget.stack;
    const { page } = await widget.visit.again();
    await page.goto(widget.add('/stored', ''));
    const visitorId = 'x'.repeat(129);
    const stored = { id: 'x', decision: 'custom', policyVersion: '', visitorId, at: Date.now() };
    const preferences = { analytics: 'no', marketing: 1 };
    await page.evaluate(
      ([name, text]) => localStorage.setItem(`assent.${name}.consent`, text ?? ''),
      [domainId, JSON.stringify({ ...stored, preferences })],
    );
    await page.goto(widget.add('/stored', widget.tag()));
    expect(await consentIn(page)).toMatchObject({ preferences: { analytics: false, marketing: false } });
    await click(page, 'Privacy settings');
    await page.getByRole('switch', { name: 'Marketing' }).waitFor();
    expect(await page.getByRole('switch', { checked: true }).count()).toBe(0);
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    expect(record?.visitorId).toMatch(/^[0-9a-f]{32}$/);
  });
});
