import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../support/browser/browser.ts';
import { html, type Site, startSite, tag } from '../support/browser/site.ts';
import { recordsOf, type Stack, useStack } from '../support/stack.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core');

describe('the widget for everyone', () => {
  const visit = useBrowser();
  let stack: Stack;
  let site: Site;
  let address: string;

  beforeAll(async () => {
    stack = await useStack();
    site = await startSite();
    address = site.add(
      '/',
      html(tag(stack, { 'data-policy-url': '/privacy' }), '<h1>A page</h1><a href="#x">A link</a>'),
    );
  });

  /** What has the keyboard: its name, and whether one sees that. */
  const focused = (page: Page) =>
    page.evaluate(() => {
      const inside = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
      const name = inside?.getAttribute('aria-label') ?? (inside as HTMLInputElement)?.labels?.[0]?.textContent;
      return {
        name: name ?? inside?.textContent?.trim() ?? '',
        role: inside?.getAttribute('role') ?? inside?.localName ?? '',
        isSeen: inside ? getComputedStyle(inside).outlineStyle === 'solid' : false,
      };
    });
  const violations = async (page: Page) => {
    await page.addScriptTag({ path: axePath });
    const results = await page.evaluate(() => (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run());
    return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html: markup }) => markup)]);
  };

  it('is operated by the keyboard alone, which stays in an open dialog and returns to where it was', async () => {
    const { page } = await visit();
    await page.goto(address);
    expect(await focused(page)).toMatchObject({ role: 'dialog' });
    const round = async (key: string, count: number) => {
      const names: string[] = [];
      for (let index = 0; index < count; index += 1) {
        await page.keyboard.press(key);
        const { name, isSeen } = await focused(page);
        names.push(isSeen ? name : `${name} without a visible focus`);
      }
      return names;
    };
    const banner = ['Privacy policy', 'Accept all', 'Reject all', 'Customise'];
    expect(await round('Tab', 5)).toEqual([...banner, 'Privacy policy']);
    expect(await round('Shift+Tab', 1)).toEqual(['Customise']);
    await page.keyboard.press('Enter');
    const settings = ['Close', 'Privacy policy', 'Statistics', 'Marketing', 'Accept all', 'Reject all', 'Save choice'];
    const walked = await round('Tab', settings.length + 1);
    expect(walked.map((name) => settings.find((each) => name.startsWith(each)) ?? name)).toEqual([
      ...settings,
      'Close',
    ]);
    expect(await round('Shift+Tab', 1)).toEqual(['Save choice']);
    await page.getByRole('switch', { name: 'Marketing' }).focus();
    await page.keyboard.press('Space');
    await round('Tab', 3);
    await page.keyboard.press('Enter');
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'custom', preferences: { marketing: true } }]);
    await page.getByText('Choice saved.').waitFor({ state: 'attached' });

    await page.getByRole('button', { name: 'Privacy settings' }).focus();
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatchObject({ role: 'dialog' });
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await focused(page)).toMatchObject({ name: 'Privacy settings' });

    await page.getByRole('link', { name: 'A link' }).focus();
    await page.evaluate(() => window.assent?.open());
    await page.keyboard.press('Escape');
    expect(await focused(page)).toMatchObject({ name: 'A link' });
  });

  it.each([
    ['a field', '<input aria-label="Search">'],
    ['a text on the page', '<div role="textbox" aria-label="Search" tabindex="0" contenteditable></div>'],
  ])('does not take the keyboard from a visitor who is writing in %s', async (_, field) => {
    const { page } = await visit();
    await page.goto(
      site.add('/search', html(tag(stack), `${field}<script>document.querySelector('main > *').focus()</script>`)),
    );
    await page.getByRole('dialog').waitFor();
    expect(await focused(page)).toMatchObject({ name: 'Search' });
  });

  it('Escape leads from the settings back to an open question, and then away', async () => {
    const { page } = await visit();
    await page.goto(address);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Your privacy, your choice' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)('has nothing for axe to find, in %s', async (colorScheme) => {
    const { page } = await visit({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(address);
    await page.getByRole('dialog').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.getByRole('switch', { name: 'Marketing' }).check();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Accept all' }).click();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Privacy settings' }).click();
    expect(await violations(page)).toEqual([]);
  });

  it('gives three choices of one size and one look', async () => {
    for (const width of [360, 1280]) {
      const { page } = await visit({ viewport: { width, height: 800 } });
      await page.goto(address);
      const looks = await page
        .getByRole('dialog')
        .getByRole('button')
        .evaluateAll((buttons) =>
          buttons.map((button) => {
            const { color, backgroundColor, fontSize, fontWeight, border } = getComputedStyle(button);
            return {
              color,
              backgroundColor,
              fontSize,
              fontWeight,
              border,
              width: button.clientWidth,
              height: button.clientHeight,
            };
          }),
        );
      expect(looks.length).toBe(3);
      expect(looks[1]).toEqual(looks[0]);
      expect(looks[2]).toEqual(looks[0]);
    }
  });

  it.each([
    ['de', 'Alle ablehnen'],
    ['fr', 'Tout refuser'],
    ['es', 'Rechazar todo'],
    ['it', 'Rifiuta tutto'],
    ['en-US', 'Reject all'],
    ['pt', 'Alle ablehnen'],
  ])('in a page in %s it says “%s”', async (lang, words) => {
    const { page } = await visit({ locale: 'de-AT' });
    await page.goto(site.add(`/${lang}`, html(tag(stack), '<h1>A page</h1>', `lang="${lang}"`)));
    await page.getByRole('button', { name: words }).waitFor();
  });

  it('prefers the texts for exactly the language of the page', async () => {
    const { page } = await visit();
    const texts = { pt: { accept: 'Aceitar' }, 'pt-BR': { accept: 'Aceitar tudo' }, 'de-CH': { title: 'Ihri Wahl' } };
    const setup = `<script>assentConfig = ${JSON.stringify({ texts })}</script>`;
    const open = (lang: string) =>
      page.goto(site.add(`/exact-${lang}`, html(setup + tag(stack), '<h1>A page</h1>', `lang="${lang}"`)));
    await open('pt-br');
    await page.getByRole('button', { name: 'Aceitar tudo' }).waitFor();
    await open('pt-PT');
    await page.getByRole('button', { name: 'Aceitar', exact: true }).waitFor();
    await open('de-CH');
    await page.getByRole('dialog', { name: 'Ihri Wahl' }).getByRole('button', { name: 'Alle akzeptieren' }).waitFor();
  });

  it('sets French colons as French does', async () => {
    const { page } = await visit({ locale: 'fr-FR' });
    await page.goto(site.add('/colons', html(tag(stack), '<h1>Une page</h1>', 'lang="fr"')));
    expect(await page.getByRole('dialog').locator('#intro').textContent()).toContain('similaires\u00a0: certains');
    await page.getByRole('button', { name: 'Tout accepter' }).click();
    await page.getByRole('button', { name: 'Paramètres de confidentialité' }).click();
    expect(await page.getByRole('dialog').textContent()).not.toMatch(/[^\u00a0\d]:/);
  });

  it('reads from right to left in a language that does', async () => {
    const { page } = await visit();
    const texts = { ar: { title: 'خصوصيتك', accept: 'قبول الكل', reject: 'رفض الكل', customise: 'تخصيص' } };
    const setup = `<script>assentConfig = ${JSON.stringify({ texts })}</script>`;
    await page.goto(site.add('/ar', html(setup + tag(stack), '<h1>صفحة</h1>', 'lang="ar" dir="rtl"')));
    const accept = await page.getByRole('button', { name: 'قبول الكل' }).boundingBox();
    const customise = await page.getByRole('button', { name: 'تخصيص' }).boundingBox();
    expect(accept?.x).toBeGreaterThan(customise?.x ?? Number.POSITIVE_INFINITY);
  });

  it.each([
    ['reduce', 0],
    ['no-preference', 1],
  ] as const)('moves only where motion is welcome: %s', async (reducedMotion, animations) => {
    const { page } = await visit({ reducedMotion });
    await page.goto(address);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await dialog.evaluate((node) => (getComputedStyle(node).animationName === 'none' ? 0 : 1))).toBe(animations);
  });

  it.each([
    [320, 256],
    [568, 320],
    [667, 320],
  ])('at %i × %i all of the settings can be seen and clicked', async (width, height) => {
    const { page } = await visit({ viewport: { width, height }, reducedMotion: 'reduce' });
    await page.goto(address);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.mouse.move(width / 2, height / 2);
    /** Clicks where it is once the wheel has brought it into view; what hides inside a smaller frame is not clicked. */
    const press = async (control: Locator) => {
      for (let turn = 0; turn < 100; turn += 1) {
        // where it is once the wheel has come to rest
        const before = await control.boundingBox();
        await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
        const box = await control.boundingBox();
        if (box?.y !== before?.y) continue;
        const frame = await page.getByRole('dialog').boundingBox();
        if (box && frame && box.y >= frame.y && box.y + box.height <= frame.y + frame.height) {
          return page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        }
        await page.mouse.wheel(0, 40);
      }
      throw new Error('out of reach');
    };
    for (const name of ['Statistics', 'Marketing']) {
      const control = page.getByRole('switch', { name });
      await press(control);
      expect(await control.isChecked()).toBe(true);
    }
    const list = page.getByRole('list');
    const seen = await list.evaluate((node) => node.parentElement?.clientHeight === node.parentElement?.scrollHeight);
    expect(seen).toBe(true);
    await press(page.getByRole('button', { name: 'Save choice' }));
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => window.assent?.getConsent()?.decision)).toBe('accept_all');
  });

  it('fits a small screen with large letters: everything can be reached', async () => {
    const { page } = await visit({ viewport: { width: 320, height: 480 } });
    await page.goto(address);
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '10px';
    });
    await page.getByRole('button', { name: 'Customise' }).click();
    for (const name of ['Statistics', 'Marketing']) await page.getByRole('switch', { name }).check();
    const width = await page.getByRole('dialog').evaluate((node) => [node.scrollWidth, node.clientWidth]);
    expect(width[0]).toBe(width[1]);
    await page.getByRole('button', { name: 'Save choice' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});
