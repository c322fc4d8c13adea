/** What pages do that their authors may not even know of: writing themselves anew, moving everything, keeping the focus. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click, hold } from '../support/browser/browser.ts';
import { html } from '../support/browser/site.ts';
import { consentIn, useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the widget on real pages', () => {
  const widget = useWidget(useStack);

  const seen = (page: Page) => page.evaluate(() => window.seen ?? []);
  /** What a pointer hits in the middle of the button of this name, in the widget's own tree. */
  const hit = (page: Page, name: string) =>
    page.evaluate((wanted) => {
      const tree = document.querySelector('assent-widget')?.shadowRoot;
      const buttons = [...(tree?.querySelectorAll('button') ?? [])];
      const button = buttons.find((each) => (each.getAttribute('aria-label') ?? each.textContent) === wanted);
      const { x = 0, y = 0, width = 0, height = 0 } = button?.getBoundingClientRect() ?? {};
      const found = tree?.elementFromPoint(x + width / 2, y + height / 2);
      return found?.closest('button') === button && !!button;
    }, name);

  it('still works once a page has written itself anew, which removes all listeners', async () => {
    const { page, context } = await widget.visit();
    await page.goto(widget.add('/written', `<script>seen = []</script>${widget.tag()}`));
    await page.getByRole('button', { name: 'Accept all' }).waitFor();
    await page.evaluate(() => {
      window.assent?.onChange(({ decision }) => window.seen?.push(decision));
      document.write('<!doctype html><title>Anew</title><p>all that there is</p>');
      document.close();
    });
    await page.getByText('all that there is').waitFor();
    await page.locator('assent-widget').waitFor({ state: 'attached' });
    await click(page, 'Customise');
    await page.locator('dialog:modal').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('dialog:modal').waitFor({ state: 'detached' });
    await click(page, 'Accept all');
    await widget.records(1);
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    await widget.records(2);
    // what another tab decides is heard, too
    const other = await context.newPage();
    await other.goto(widget.address);
    await click(other, 'Privacy settings');
    await click(other, 'Accept all');
    await eventually(async () => expect(await seen(page)).toEqual(['accept_all', 'withdraw', 'accept_all']));
  });

  it.each(['', "; require-trusted-types-for 'script'; trusted-types assent"])(
    'what a held script writes stands after it, and what that writes in turn%s',
    async (trust) => {
      const { page } = await widget.visit.again();
      widget.site.add('/far.js', "ad = (text) => seen.push(text); ad('far')", { 'content-type': 'text/javascript' });
      const nonce = 'nonce="abc"';
      const open = `<script type="text/plain" data-assent="marketing" ${nonce}>`;
      const body = `<script ${nonce}>seen = []; own = document.write; show = () => document.write('<u>shown</u>')</script>${open}
        document.write('<p id="a">One');
        document.writeln(' and two</p>', '<script ${nonce}>document.write("<i>three</i>")</scr' + 'ipt>');
        document.write('<script ${nonce} src="/far.js"></scr' + 'ipt><script ${nonce}>ad("near")</scr' + 'ipt>');
        </script>${open}show(); document.currentScript.remove()</script><b id="after">after</b>`;
      const policy = { 'content-security-policy': `script-src 'nonce-abc'${trust}` };
      await page.goto(widget.site.add('/writes', html(widget.tag({ nonce: 'abc' }), body), policy));
      await click(page, 'Accept all');
      await eventually(async () => expect(await seen(page)).toEqual(['far', 'near']));
      const texts = await page
        .locator('main')
        .evaluate((main: HTMLElement) => main.innerText.replace(/\s+/g, ' ').trim());
      expect(texts).toBe('One and two three after');
      // of one that has taken itself out
      await page.locator('body > u').waitFor();
      expect(await page.evaluate('document.write === own')).toBe(true);
      await widget.records(1);
      await click(page, 'Privacy settings');
      await click(page, 'Withdraw consent');
      await widget.records(2);
    },
  );

  it('a held script empties no page, in the head or without the second file', async () => {
    const held = '<script type="text/plain" data-assent="marketing">document.write("<p>ours</p>")</script>';
    const { page } = await widget.visit.again();
    await page.goto(widget.add('/head', widget.tag() + held));
    await click(page, 'Accept all');
    await page.locator('body > p').waitFor();
    await widget.records(1);
    await page.evaluate(() => localStorage.clear());
    await page.route('**/assent-preferences*', (route) => route.abort());
    await page.goto(widget.add('/blocked', widget.tag(), `<h1>A page</h1>${held}`));
    await click(page, 'Accept all');
    await widget.records(2);
    await click(page, 'Privacy settings');
    await page.getByRole('heading', { name: 'A page' }).waitFor();
  });

  it('has its settings, too, on a page that wrote itself anew while their file was on its way', async () => {
    const { page } = await widget.visit.again();
    const release = await hold(page, '**/assent-preferences*');
    const asked = page.waitForRequest('**/assent-preferences*');
    await page.goto(widget.address);
    await asked;
    await page.evaluate(() => {
      document.write('<p>all that there is</p>');
      document.close();
    });
    release();
    await click(page, 'Customise');
    await page.locator('dialog:modal').waitFor();
  });

  it.each(['transform: translateZ(0)', 'will-change: transform', 'contain: paint', 'perspective: 100px'])(
    'is in view where the page has `%s`',
    async (style) => {
      const { page } = await widget.visit.again();
      const styles = `<style>html { ${style} } main { height: 5000px }</style>`;
      await page.goto(widget.add('/moved', styles + widget.tag()));
      await page.getByRole('button', { name: 'Accept all' }).waitFor();
      await eventually(async () => expect(await hit(page, 'Accept all')).toBe(true));
      // it has not taken the page to where it is
      expect(await page.evaluate(() => scrollY)).toBe(0);
      await click(page, 'Accept all');
      await eventually(async () => expect(await hit(page, 'Privacy settings')).toBe(true));
      expect(await page.evaluate(() => scrollY)).toBe(0);
      // and again in another document
      await page.evaluate(() => {
        const root = document.createElement('html');
        root.style.cssText = document.documentElement.style.cssText;
        root.innerHTML = '<head><style>html { transform: translateZ(0) } body { height: 5000px }</style></head>';
        document.replaceChild(root, document.documentElement);
      });
      await eventually(async () => expect(await hit(page, 'Privacy settings')).toBe(true));
    },
  );

  it('waits behind a modal dialog of a page that is transformed, and is in view once that is closed', async () => {
    const own = `<style>html { transform: translateZ(0) } main { height: 5000px }</style>
      <dialog id="own"><button onclick="own.close()">Leave</button></dialog><script>own.showModal()</script>`;
    const { page } = await widget.open(widget.add('/behind', widget.tag(), own));
    await page.locator('assent-widget dialog').waitFor({ state: 'attached' });
    expect(await hit(page, 'Accept all')).toBe(false);
    await page.evaluate(() => window.assent?.open());
    await page.locator('assent-widget dialog:modal').waitFor();
    await eventually(async () => expect(await hit(page, 'Accept all')).toBe(true));
    await page.keyboard.press('Escape');
    // it closes the settings alone
    expect(await page.locator('#own').evaluate((dialog: HTMLDialogElement) => dialog.open)).toBe(true);
    await click(page, 'Leave');
    await eventually(async () => expect(await hit(page, 'Accept all')).toBe(true));
    await click(page, 'Accept all');
    await widget.records(1);
  });

  it('can be used where a page keeps the focus in a dialog of its own, and stops all that happens outside', async () => {
    // as the libraries for that do by default
    const trap = `<div id="gate"><button id="old">I am over 18</button></div><script>
      const stop = (event) => {
        if (gate.contains(event.target)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
      };
      for (const type of ['mousedown', 'touchstart', 'click']) document.addEventListener(type, stop, { capture: true, passive: false });
      document.addEventListener('focusin', (event) => {
        if (!gate.contains(event.target)) old.focus();
      }, true);
      document.addEventListener('keydown', (event) => {
        if (event.key === 'Tab' || !gate.contains(event.target)) stop(event), old.focus();
      }, true);
      old.focus();
    </script>`;
    const { page } = await widget.visit({ hasTouch: true });
    await page.goto(widget.add('/gate', widget.tag(), trap));
    await click(page, 'Accept all');
    await widget.records(1);
    await page.getByRole('button', { name: 'Privacy settings' }).tap();
    await page.getByRole('button', { name: 'Withdraw consent' }).tap();
    await widget.records(2);
    await page.getByRole('button', { name: 'Privacy settings' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog:modal').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Escape');
    await page.locator('dialog:modal').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Privacy settings' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Accept all' }).focus();
    await page.keyboard.press('Space');
    expect((await widget.records(3)).at(-1)?.decision).toBe('accept_all');
  });

  it('remembers the choice in a cookie where the storage of the site is full', async () => {
    const { page, context } = await widget.visit();
    // nor can the host set a cookie for this one
    const tag = widget.tag({ 'data-cookie-domain': 'example.org' });
    const fill = `<script>
      for (let size = 2 ** 22; size; size = Math.floor(size / 2))
        for (let free = true; free; ) try { localStorage['x' + Math.random()] = 'x'.repeat(size) } catch { free = false }
    </script>`;
    await page.goto(widget.add('/full', fill + tag));
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    await page.reload();
    await page.getByRole('button', { name: 'Privacy settings' }).waitFor();
    expect(await consentIn(page)).toMatchObject({ id: record?.id, decision: 'accept_all' });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await click(page, 'Privacy settings');
    await click(page, 'Withdraw consent');
    await widget.records(2);
    await page.reload();
    expect(await consentIn(page)).toMatchObject({ decision: 'withdraw', visitorId: record?.visitorId });
    // once there is room, the cookie goes: it would be in force again after the page has emptied its storage
    await page.evaluate(() => localStorage.clear());
    await page.goto(widget.address);
    await click(page, 'Privacy settings');
    await click(page, 'Accept all');
    await widget.records(3);
    expect(await context.cookies()).toEqual([]);
    expect(await consentIn(page)).toMatchObject({ decision: 'accept_all' });
  });
});
