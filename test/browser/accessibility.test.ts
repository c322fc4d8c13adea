import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { painted, step } from '../support/browser/browser.ts';
import { violations } from '../support/browser/look.ts';
import { config } from '../support/browser/site.ts';
import { consentIn, useWidget } from '../support/browser/widget.ts';
import { useStack } from '../support/stack.ts';
import { eventually } from '../support/wait.ts';

describe('the widget for everyone', () => {
  const widget = useWidget(useStack);

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

  it('is operated by the keyboard alone, which leaves the banner, never the settings for the page, and returns to where it was', async () => {
    const policy = { 'data-policy-url': '/privacy' };
    const { page } = await widget.open(widget.add('/', widget.tag(policy), '<h1>A page</h1><a href="#x">A link</a>'));
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
    expect(await round('Tab', 4)).toEqual(banner);
    // the banner lets go of the keyboard; between the two is the browser's own place
    expect((await round('Tab', 2)).at(-1)).toMatch(/^A link/);
    await page.getByRole('button', { name: 'Customise' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog:modal').waitFor();
    const settings = ['Close', 'Privacy policy', 'Statistics', 'Marketing', 'Accept all', 'Reject all', 'Save choice'];
    const walked = await round('Tab', settings.length + 2);
    const names = walked.map((name) => settings.find((each) => name.startsWith(each)) ?? name);
    // and so does the dialog of the settings, but never to the page
    expect(names.toSpliced(settings.length, 1)).toEqual([...settings, 'Close']);
    expect(names).not.toContainEqual(expect.stringMatching(/^A link/));
    await page.getByRole('switch', { name: 'Marketing' }).focus();
    await page.keyboard.press('Space');
    await round('Tab', 3);
    await page.keyboard.press('Enter');
    expect(await widget.records(1)).toMatchObject([{ decision: 'custom', preferences: { marketing: true } }]);
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

  it('does not take the keyboard from a visitor who is writing', async () => {
    const { page } = await widget.visit.again();
    const watch = "seen = []; document.addEventListener('focusout', () => seen.push('left'))";
    const take = "document.querySelector('main > *').focus()";
    const takeInShadow = `
      const shadow = document.querySelector('main > *').attachShadow({ mode: 'open' });
      shadow.innerHTML = '<input aria-label="Search">';
      shadow.firstChild.focus()`;
    for (const [field, focus] of [
      ['<input aria-label="Search">', take],
      ['<div role="textbox" aria-label="Search" tabindex="0" contenteditable></div>', take],
      ['<div></div>', takeInShadow],
      // it may have a field
      ['<iframe aria-label="Search"></iframe>', take],
    ]) {
      const body = `${field}<script>${focus}; ${watch}</script>`;
      await page.goto(widget.add('/search', widget.tag(), body));
      await page.getByRole('dialog').waitFor();
      expect(await focused(page)).toMatchObject({ name: 'Search' });
      // not for a moment either, which the page would hear of
      expect(await page.evaluate(() => window.seen)).toEqual([]);
    }
  });

  it('has nothing for axe to find, and Escape leads back to an open question, then away, and decides nothing', async () => {
    const { page } = await widget.open();
    const question = page.getByRole('dialog', { name: 'Your privacy, your choice' });
    await question.waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.locator('dialog:modal').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await question.waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await consentIn(page)).toBeNull();
    await page.reload();
    await question.waitFor();
    await widget.records(0);
  });

  it('the second press of a double tap presses nothing, until half a second after a view has opened', async () => {
    const { page } = await widget.visit.again();
    await page.goto(widget.address);
    await page.getByRole('button', { name: 'Customise' }).click();
    // once their file is there, they open at once
    await page.locator('dialog:modal').waitFor();
    await page.keyboard.press('Escape');
    /** What is under the finger where the last button is, at once and when it can be pressed, and how long that takes. */
    const under = () =>
      page.evaluate(async () => {
        const root = document.querySelector('assent-widget')?.shadowRoot;
        const look = () => {
          const { x = 0, y = 0 } = root?.querySelector('.actions button:last-child')?.getBoundingClientRect() ?? {};
          return root?.elementFromPoint(x + 9, y + 9)?.localName;
        };
        window.assent?.open();
        const first = look();
        const moving = root?.querySelector('dialog')?.getAnimations({ subtree: true }) ?? [];
        await Promise.all(moving.map(({ finished }) => finished));
        return [first, look(), ...new Set(moving.map(({ effect }) => effect?.getComputedTiming().duration))];
      });
    // a tenth of what visitors have, as in every test's browser
    const guarded = ['dialog', 'button', 50];
    expect(await under()).toEqual(guarded);
    // and so once it was closed and is open again
    await page.keyboard.press('Escape');
    expect(await under()).toEqual(guarded);
  });

  it('follows the scheme of the page, then that of the system', async () => {
    const { page } = await widget.visit.again();
    const shade = () => page.getByRole('dialog').evaluate((node) => getComputedStyle(node).backgroundColor);
    const [light, dark] = ['rgb(255, 255, 255)', 'rgb(24, 27, 34)'];
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const [head, attributes, expected] of [
      ['', 'lang="en"', dark],
      ['<meta name="color-scheme" content="light">', 'lang="en"', light],
      ['', 'lang="en" style="color-scheme: only light"', light],
      ['', 'lang="en" style="color-scheme: light dark"', dark],
    ] as const) {
      await page.goto(widget.add('/scheme', head + widget.tag(), '<h1>A page</h1>', attributes));
      expect(await shade()).toBe(expected);
    }
    await page.evaluate(() => document.documentElement.style.setProperty('color-scheme', 'light'));
    await eventually(async () => expect(await shade()).toBe(light));
    await page.emulateMedia({ colorScheme: null });
  });

  it('has the site’s colours in both schemes, those of the dark banner in that alone, also once the scheme changes', async () => {
    const { page } = await widget.visit.again();
    await page.emulateMedia({ colorScheme: 'dark' });
    const own = config({ colors: { button: 'maroon', buttonText: 'white' }, darkColors: { button: 'pink' } });
    await page.goto(widget.add('/colours', own + widget.tag({ 'data-radius': '5px' })));
    const look = () =>
      page.getByRole('button', { name: 'Accept all' }).evaluate((node) => {
        const { backgroundColor, color, borderRadius } = getComputedStyle(node);
        return [backgroundColor, color, borderRadius];
      });
    const [maroon, pink, white] = ['rgb(128, 0, 0)', 'rgb(255, 192, 203)', 'rgb(255, 255, 255)'];
    await page.getByRole('dialog').waitFor();
    expect(await look()).toEqual([pink, white, '3px']);
    await page.emulateMedia({ colorScheme: 'light' });
    await eventually(async () => expect(await look()).toEqual([maroon, white, '3px']));
    await page.emulateMedia({ colorScheme: null });
  });

  it('shows where it scrolls at four times the size', async () => {
    const { page } = await widget.visit({ viewport: { width: 320, height: 256 } });
    await page.goto(widget.address);
    const dialog = page.getByRole('dialog');
    // with the second file
    const edges = () => dialog.evaluate((node) => getComputedStyle(node).backgroundAttachment);
    await eventually(async () => expect(await edges()).toBe('local, local, scroll, scroll, scroll'));
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.locator('dialog:modal').waitFor();
    expect(await edges()).toBe('local, local, scroll, scroll, scroll');
    // what covers all of it would hide them
    expect(await page.locator('.scroll').evaluate((node) => getComputedStyle(node).backgroundColor)).toBe(
      'rgba(0, 0, 0, 0)',
    );
  });

  it('leaves what has the keyboard in the page in view, and gives its room back; Escape in the page closes it', async () => {
    const { page } = await widget.visit.again();
    await page.setViewportSize({ width: 1280, height: 720 });
    const links = Array.from({ length: 40 }, (_, at) => `<p><a href="#${at}">Link ${at}</a></p>`).join('');
    await page.goto(widget.add('/links', widget.tag(), `${links}<input type="search">`));
    await page.getByRole('dialog').waitFor();
    // with the second file, once the browser is idle
    const room = () => page.evaluate(() => document.adoptedStyleSheets.length);
    await eventually(async () => expect(await room()).toBe(1));
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.getByRole('button', { name: 'Customise' }).focus();
    await page.keyboard.press('Tab');
    const covered = await page.evaluate(async () => {
      const hidden: string[] = [];
      const top = document
        .querySelector('assent-widget')
        ?.shadowRoot?.querySelector('dialog')
        ?.getBoundingClientRect().top;
      for (const link of document.querySelectorAll('a')) {
        link.focus();
        await new Promise((done) => requestAnimationFrame(done));
        if (link.getBoundingClientRect().top >= (top ?? 0)) hidden.push(link.textContent ?? '');
      }
      return hidden;
    });
    expect(covered).toEqual([]);
    // nor is the end of the page
    await page.evaluate(() => scrollTo(0, 1e6));
    expect((await page.getByText('Link 39').boundingBox())?.y).toBeLessThan(
      (await page.getByRole('dialog').boundingBox())?.y ?? 0,
    );
    // one that a field has a use for, and one that
    await page.getByRole('searchbox').fill('word');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByRole('link', { name: 'Link 20' }).focus();
    // one that the page has a use for
    await page.evaluate(() => document.addEventListener('keydown', (event) => event.preventDefault(), { once: true }));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toMatchObject({ name: 'Link 20' });
    await eventually(async () => expect(await room()).toBe(0));
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(height);
    expect(await consentIn(page)).toBeNull();
  });

  it.each([320, 390])('with large text at %i pixels nothing overflows in any view', async (width) => {
    const { page, context } = await widget.visit();
    await page.setViewportSize({ width, height: 800 });
    const session = await context.newCDPSession(page);
    const services = [
      {
        name: 'Donaudampfschifffahrtsgesellschaft',
        cookies: [{ name: '_a_very_long_name_of_a_cookie', duration: '13 Monate' }],
      },
    ];
    for (const size of [24, 32]) {
      await session.send('Page.setFontSizes', { fontSizes: { standard: size, fixed: size } });
      for (const lang of ['de', 'sv', 'nl', 'uk', 'bg', 'fr'])
        await step(`${lang} at ${size} px`, async () => {
          const settings = config({ lang, categories: ['necessary', { id: 'analytics', services }, 'marketing'] });
          await page.goto(widget.add('/large', settings + widget.tag()));
          await page.getByRole('dialog').waitFor();
          const overflow = () =>
            page.getByRole('dialog').evaluate((dialog) => {
              const right = dialog.getBoundingClientRect().right;
              const wide = [dialog, ...dialog.querySelectorAll('*')].filter(
                (each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0,
              );
              const out = [...dialog.querySelectorAll('*')].filter(
                (each) => each.getBoundingClientRect().right > right,
              );
              return [...wide, ...out].map((each) => `${each.localName}.${each.className} ${each.textContent}`);
            });
          expect(await overflow()).toEqual([]);
          await page.evaluate(() => window.assent?.open());
          await page.locator('dialog:modal').waitFor();
          for (const summary of await page.locator('summary').all()) await summary.click();
          expect(await overflow()).toEqual([]);
        });
    }
  });

  it('keeps its buttons out of what a phone needs of its screen', async () => {
    const { page, context } = await widget.visit();
    await page.setViewportSize({ width: 390, height: 844 });
    const session = await context.newCDPSession(page);
    const insets = { top: 47, bottom: 34, left: 0, right: 0 };
    await session.send('Emulation.setSafeAreaInsetsOverride', { insets });
    await page.goto(widget.address);
    const below = async (name: string) => {
      const box = await page.getByRole('button', { name }).boundingBox();
      return 844 - (box?.y ?? 0) - (box?.height ?? 0);
    };
    expect(await below('Customise')).toBeGreaterThan(insets.bottom);
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.locator('dialog:modal').waitFor();
    expect(await below('Save choice')).toBeGreaterThan(insets.bottom);
    await page.getByRole('button', { name: 'Save choice' }).click();
    expect(await below('Privacy settings')).toBeGreaterThan(insets.bottom);
  });

  it.each(['320 × 256', '667 × 320'])('at %s all of the settings can be seen and clicked', async (size) => {
    const [width = 0, height = 0] = size.split(' × ').map(Number);
    const { page } = await widget.visit.again();
    await page.setViewportSize({ width, height });
    await page.goto(widget.address);
    // letters are as large on a page whose own are small
    await page.addStyleTag({ content: ':root { font-size: 10px }' });
    await page.getByRole('button', { name: 'Customise' }).click();
    await page.locator('dialog:modal').waitFor();
    const [inner, outer] = await page.getByRole('dialog').evaluate((node) => [node.scrollWidth, node.clientWidth]);
    expect(inner).toBe(outer);
    await page.mouse.move(width / 2, height / 2);
    // until it can be pressed
    await page
      .getByRole('dialog')
      .evaluate((node) =>
        Promise.all(node.getAnimations({ subtree: true }).map(({ finished }) => finished)).then(() => {}),
      );
    /** Clicks where it is once the wheel has brought it into view; what hides inside a smaller frame is not clicked. */
    const press = (control: Locator) => {
      let last: object | null = null;
      return eventually(
        async () => {
          const box = await control.boundingBox();
          const frame = await page.getByRole('dialog').boundingBox();
          if (!box || !frame || !isDeepStrictEqual(box, last)) {
            last = box;
            throw new Error('it does not stand still');
          }
          const [above, below] = [frame.y - box.y, box.y + box.height - frame.y - frame.height];
          if (above > 0 || below > 0) {
            last = null;
            await page.mouse.wheel(0, above > 0 ? -Math.ceil(above) : Math.ceil(below));
            await painted(page.getByRole('dialog'));
            throw new Error('it cannot be scrolled into view');
          }
          await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        },
        { every: 30 },
      );
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
});
