import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { languages } from '#libs/widget/languages';
import { colourTrouble } from '../../apps/dashboard/widget-setup/draft/colours.ts';
import { afterwards, click, hold, step, stopClock } from '../support/browser/browser.ts';
import { troublesIn } from '../support/browser/equal.ts';
import { useWidget } from '../support/browser/widget.ts';
import { at, useStackWithApi } from '../support/stack.ts';

/** What the set-up page takes for a button, in each notation. */
const legal = ['#1a2b3c', '#abc', 'rgb(9 99 199 / 40%)', 'hsl(120, 50%, 50%)', 'oklch(0.5 0.2 120)', 'rebeccapurple'];
const keywords = ['transparent', 'currentcolor', 'white', 'canvas'];

const files = /\/texts-[0-9a-f]{16}\/[\w-]+\.json$/;

describe('the languages of the widget', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const frame = (page: Page, lang: string) => page.locator(`assent-widget div[lang="${lang}"]`);

  it('come first of all that the widget asks for, from an address that browsers keep', async () => {
    const { page } = await widget.visit({ locale: 'pl-PL' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const file = page.waitForResponse(files);
    await page.goto(widget.add('/', widget.tag({ 'data-displays': '' }), '<h1>A page</h1>', ''));
    const { 'cache-control': caching } = (await file).headers();
    expect(caching).toBe('public, max-age=31536000, immutable');
    await click(page, 'Odrzuć wszystko');
    const [record] = await widget.records(1);
    expect(record?.language).toBe('pl');
    const own = asked.filter((path) => path !== '/' && path !== '/favicon.ico');
    expect(own.slice(0, 2)).toEqual(['/widget.js', expect.stringMatching(files)]);
    expect(own.filter((path) => files.test(path))).toHaveLength(1);
  });

  it('what waits for no banner does not wait for them, and settings that were called for come with them', async () => {
    const { page } = await widget.visit.again();
    const release = await hold(page, files);
    const held = '<script type="text/plain" data-assent="necessary">window.seen = ["ran"]</script>';
    await page.goto(widget.add('/', widget.tag(), held, 'lang="cs"'));
    await page.waitForFunction(() => window.seen?.length);
    await page.evaluate(() => window.assent?.open());
    release();
    await button(page, 'Uložit volbu').waitFor();
  });

  it('a language whose file is not there, or is something else, is English, and so are record and notice', async () => {
    const { page, messages } = await widget.visit.again();
    const responses: Record<string, (route: Route) => Promise<void>> = {
      missing: (route) => route.fulfill({ status: 404, json: { title: 'Titel', code: 'not_found' } }),
      'a page': (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' }),
      nothing: (route) => route.fulfill({ json: null }),
      'something else': (route) => route.fulfill({ json: { title: 1, accept: 'Ja' } }),
      blocked: (route) => route.abort(),
    };
    widget.add('/', widget.tag({ 'data-text-customise': 'Choose' }), '<h1>Eine Seite</h1>', 'lang="de"');
    for (const [name, answer] of Object.entries(responses))
      await step(name, async () => {
        await page.route(files, answer);
        await page.goto(widget.address);
        await button(page, 'Accept all').waitFor();
        await button(page, 'Choose').waitFor();
        await page.unroute(files);
      });
    await click(page, 'Accept all');
    const [record] = await widget.records(1);
    expect(record).toMatchObject({ language: 'en', notice: expect.any(String) });
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);
  });

  it('one that takes longer than a second is English on this page, and there on the next', async () => {
    const { page, context } = await widget.visit();
    await context.clock.install();
    // nor does the next page wait for only a second
    await stopClock(context);
    const release = await hold(page, files);
    const asked = page.waitForRequest(files);
    await page.goto(widget.add('/', widget.tag(), '<h1>Eine Seite</h1>', 'lang="de"'));
    await asked;
    await context.clock.runFor(1_000);
    await button(page, 'Accept all').waitFor();
    const arrived = page.waitForResponse(files);
    release();
    await (await arrived).finished();
    await afterwards(page);
    expect(await button(page, 'Accept all').count()).toBe(1);
    await page.unrouteAll();
    await page.reload();
    await button(page, 'Alle akzeptieren').waitFor();
  });

  it('the page changes them while a view is open, which keeps its switches and the keyboard', async () => {
    const { page } = await widget.visit.again();
    await page.goto(widget.address);
    await click(page, 'Customise');
    await page.getByRole('switch', { name: 'Marketing' }).check();
    await button(page, 'Save choice').focus();
    await page.evaluate(() => {
      document.documentElement.lang = 'ar';
    });
    const save = button(page, 'حفظ الاختيار');
    await save.waitFor();
    expect(await frame(page, 'ar').getAttribute('dir')).toBe('rtl');
    expect(await page.getByRole('switch', { name: 'تسويق' }).isChecked()).toBe(true);
    expect(await page.getByRole('switch', { name: 'إحصاءات' }).isChecked()).toBe(false);
    const hasFocus = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent);
    expect(await hasFocus()).toBe('حفظ الاختيار');
    // a choice of the page's own comes before its tag, and the last one counts, whichever file is first
    const release = await hold(page, /\/fr\.json$/);
    await page.evaluate(() => {
      window.assent?.setLanguage('fr');
      window.assent?.setLanguage('de_DE');
      document.documentElement.lang = 'en';
    });
    await button(page, 'Auswahl speichern').waitFor();
    const late = page.waitForResponse(/\/fr\.json$/);
    release();
    await (await late).finished();
    await click(page, 'Auswahl speichern');
    const [record] = await widget.records(1);
    expect(record).toMatchObject({ language: 'de', preferences: { analytics: false, marketing: true } });
    await button(page, 'Datenschutzeinstellungen').waitFor();
    await page.evaluate(() => window.assent?.setLanguage());
    await button(page, 'Privacy settings').waitFor();
  });

  it('does not take the keyboard from a visitor who writes while the language changes', async () => {
    const { page } = await widget.visit.again();
    // also where the second file is not there
    await page.route('**/assent-preferences-*.js', (route) => route.abort());
    await page.goto(widget.add('/', widget.tag(), '<input aria-label="Search">'));
    await page.getByRole('dialog').waitFor();
    await page.getByRole('textbox').focus();
    await page.evaluate(() => window.assent?.setLanguage('fi'));
    await button(page, 'Hyväksy kaikki').waitFor();
    await page.keyboard.insertText('kahvi');
    expect(await page.getByRole('textbox').inputValue()).toBe('kahvi');
    expect(await frame(page, 'fi').count()).toBe(1);
  });

  it('fit, read in their direction, and make accepting and rejecting equals: every language, view, size and theme', async () => {
    const { page } = await widget.visit.again({ reducedMotion: 'reduce' });
    const film = '<iframe title="Film" data-assent="marketing" data-src="/film" width="328" height="185"></iframe>';
    widget.add('/framed', widget.tag(), film);
    await page.goto(widget.add('/', '', '<iframe src="/framed" height="740"></iframe>'));
    const framed = at(page.frames(), 1);
    await framed.getByRole('group', { name: 'Film' }).waitFor();
    const themes = [{}, { colorScheme: 'dark' }, { forcedColors: 'active' }] as const;
    const look = async (view: string) => {
      for (const media of themes)
        await step(`${view} with ${JSON.stringify(media)}`, async () => {
          await page.emulateMedia(media);
          const some = 'colorScheme' in media || 'forcedColors' in media ? ['en', 'ar', 'de', 'ja'] : languages;
          // at 768 px both views are as wide as on any larger screen
          expect(await troublesIn(framed, some, { widths: [768, 360] })).toEqual([]);
          await page.emulateMedia({ colorScheme: null, forcedColors: null });
        });
    };
    const open = async () => {
      await framed.evaluate(() => window.assent?.open());
      await framed.locator('dialog:modal').waitFor();
    };
    await look('banner');
    await open();
    await look('settings');
    await framed.locator('dialog button').nth(1).click();
    await widget.records(1);
    await open();
    await look('settings after a choice');
  });

  it('accepting and rejecting are equals whatever the colours and the texts are', async () => {
    const { page } = await widget.visit.again({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 768, height: 600 });
    // a word of the site's own that is longer than any button
    const long = widget.tag({ 'data-text-accept': 'Selbstverständlicheinverstandenerklärung'.repeat(2) });
    await page.goto(widget.add('/', long));
    await page.getByRole('dialog').waitFor();
    const all = [...legal, ...keywords];
    expect(all.filter((colour) => colourTrouble('button', colour))).toEqual([]);
    const colours = all.flatMap((button) => all.map((text) => ({ button, 'button-text': text })));
    expect(await troublesIn(page, ['de'])).toEqual([]);
    expect(await troublesIn(page, ['en'], { colours })).toEqual([]);
  });
});
