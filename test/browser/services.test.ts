/** What a category is made of: shown below it, recorded with the decision, and gone with it. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { click } from '../support/browser/browser.ts';
import { config } from '../support/browser/site.ts';
import { consentIn, documentOf, useWidget, warningsIn } from '../support/browser/widget.ts';
import { useStackWithApi } from '../support/stack.ts';

describe('the services of a category', () => {
  // an API of its own: new notices of an address are bounded, and other files send some too
  const widget = useWidget(useStackWithApi);

  const markup = '<img src=x onerror="document.title=1">';
  const counting = {
    name: `Counter ${markup}`,
    provider: `Counter Ltd ${markup}`,
    country: 'IE',
    purpose: `Counts visits ${markup}`,
    policyUrl: 'https://counter.example/privacy',
    cookies: [
      { name: '_ga*', domain: 'localhost', duration: `2 years ${markup}` },
      { name: 'shared', duration: '1 day' },
      { name: 'deep', path: '/services' },
      { name: 'assent_*' },
      { name: '*' },
      'nonsense',
    ],
  };
  const bad = {
    name: 'Bad link',
    policyUrl: 'javascript:document.title=2',
    retention: 'a year',
    cookies: [{ name: '_bad', duration: 30, expires: '30 days' }],
  };
  const needed = { name: 'Basket', cookies: [{ name: 'shared' }] };
  const settings = {
    company: `Fern & Kiln ${markup}`,
    categories: [
      { id: 'necessary', services: [needed] },
      { id: 'analytics', services: [counting, bad, null, { provider: 'without a name' }] },
      'marketing',
    ],
  };
  const page = (path: string, given: object, script = '') =>
    widget.add(path, config({ ...settings, ...given }) + widget.tag(), `<h1>A page</h1>${script}`);
  const setCookies = (of: Page) => {
    const others = ['_ga', '_ga_X1', 'shared', 'other', 'assent_x'].map((name) => ({ name, path: '/' }));
    const all = [...others, { name: 'deep', path: '/services' }];
    return of.context().addCookies(all.map((each) => ({ ...each, value: '1', domain: 'localhost' })));
  };
  const cookies = (of: Page) =>
    of.evaluate(() =>
      document.cookie
        .split('; ')
        .map((each) => each.split('=')[0])
        .sort(),
    );

  it('stand folded below it as text, and in the notice', async () => {
    const { page: of, messages } = await widget.visit.again();
    await of.goto(page('/services', {}));
    await of.getByText(`Fern & Kiln ${markup} asks for your consent for: Statistics · Marketing`).waitFor();
    await click(of, 'Customise');
    const row = of.getByRole('listitem').filter({ hasText: 'Statistics' });
    expect(await row.getByText('Counts visits').isVisible()).toBe(false);
    await row.getByText('Services of Statistics (2)').click();
    await row.getByText(`Counter ${markup}`).waitFor();
    await row.getByText(`Provider: Counter Ltd ${markup} (Ireland)`).waitFor();
    expect(await row.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
      'https://counter.example/privacy',
    ]);
    expect(await row.getByRole('row').allTextContents()).toEqual([
      'CookiesStorage period',
      `_ga* localhost2 years ${markup}`,
      'shared1 day',
      'deep',
      'assent_*',
      'CookiesStorage period',
      '_bad',
    ]);
    expect(await of.locator('assent-widget img').count()).toBe(0);
    expect(warningsIn(messages)).toEqual([
      expect.stringContaining('left out the link'),
      expect.stringContaining('no cookie is named *'),
      'warning: assent: unknown retention of the service Bad link: there is name, provider, country, purpose, policyUrl, cookies',
      'warning: assent: duration of the cookie _bad must be a text',
      'warning: assent: unknown expires of the cookie _bad: there is name, domain, path, duration',
    ]);
    await of.getByRole('switch', { name: 'Statistics' }).check();
    await click(of, 'Save choice');
    const [record] = await widget.records(1);
    const notice = JSON.parse(await documentOf(widget.stack, record?.notice));
    expect(notice.settings.categories[1].services).toEqual([
      { ...counting, cookies: counting.cookies.slice(0, 4) },
      { name: 'Bad link', cookies: [{ name: '_bad' }] },
    ]);

    await setCookies(of);
    await click(of, 'Privacy settings');
    // in words, beside what was seen
    await of.getByText('Your last decision').waitFor();
    const today = new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date(record?.decidedAt ?? ''));
    await of.getByText(`You allowed Statistics on ${today}.\nNot allowed: Marketing`).waitFor();
    await of.evaluate(() => window.seen?.push('same page') ?? Object.assign(window, { seen: ['same page'] }));
    await click(of, 'Withdraw consent');
    await expect.poll(() => cookies(of)).toEqual(['assent_x', 'other', 'shared']);
    // nobody has asked for that
    expect(await of.evaluate(() => window.seen)).toEqual(['same page']);
  });

  it('take the page with them where that is wanted: it is loaded again once, and never by itself', async () => {
    const { page: of } = await widget.visit.again();
    const loads: string[] = [];
    of.on('load', () => loads.push(of.url()));
    await of.goto(page('/reload', { reload: true }));
    await click(of, 'Accept all');
    await widget.records(1);
    await setCookies(of);
    const tab = await of.context().newPage();
    await tab.goto(of.url());
    await click(of, 'Privacy settings');
    const again = [of.waitForEvent('load'), tab.waitForEvent('load')];
    await click(of, 'Withdraw consent');
    await Promise.all(again);
    await tab.close();
    await of.getByRole('button', { name: 'Privacy settings' }).waitFor();
    await widget.records(2);
    expect([loads.length, await cookies(of)]).toEqual([2, ['assent_x', 'other', 'shared']]);

    await click(of, 'Privacy settings');
    await click(of, 'Accept all');
    await widget.records(3);
    // each time it is loaded, nothing that it keeps is kept
    const loop = `<script>
      Storage.prototype.setItem = () => { throw new Error('full'); };
      document.addEventListener('assent:ready', () => setTimeout(() => assent.withdraw()));
    </script>`;
    await of.goto(page('/loop', { reload: true }, loop));
    // the page is not asked before that: to evaluate a script in it counts as the visitor's own doing
    await expect.poll(async () => (await of.context().cookies()).map(({ name }) => name)).not.toContain('_ga');
    await widget.records(4);
    // whoever stays on it decides once more, which a page that is loaded again would not come to
    expect(await consentIn(of)).toMatchObject({ decision: 'withdraw' });
    await click(of, 'Privacy settings');
    await click(of, 'Accept all');
    await widget.records(5);
    expect([loads.length, (await consentIn(of))?.decision]).toEqual([3, 'accept_all']);
  });

  it('fit a phone though the page is wider, and each text is read in its own direction', async () => {
    const { page: of } = await widget.visit.again({ viewport: { width: 360, height: 640 }, isMobile: true });
    const cookies = [
      { name: 'a'.repeat(80), duration: '13\u00a0months' },
      { name: '_b', duration: 'b'.repeat(50) },
    ];
    const categories = [{ id: 'analytics', services: [{ name: 'Counter', cookies }], description: 'Sees visits.' }];
    const texts = { title: 'Biscuits?', accept: 'Fine!' };
    const settings = config({ categories, texts });
    const head = `<meta name="viewport" content="width=device-width">${settings}${widget.tag()}`;
    await of.goto(widget.add('/phone', head, '<iframe width="560" height="315"></iframe>', 'lang="ar"'));
    const buttonsFit = async () => {
      for (const button of await of.getByRole('dialog').getByRole('button').all()) {
        const { x = -1, width = 0 } = (await button.boundingBox()) ?? {};
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(360);
      }
    };
    const read = (selector: string) =>
      of.locator(selector).evaluate((element) => {
        const range = document.createRange();
        const text = element.firstChild as Text;
        const at = (from: number, to: number) => {
          range.setStart(text, from);
          range.setEnd(text, to);
          return range.getBoundingClientRect();
        };
        const end = text.length;
        return {
          isInOrder: at(0, 1).x < at(end - 1, end).x,
          isOneLine: at(0, 1).y === at(end - 1, end).y,
          gap: element.getBoundingClientRect().right - at(0, end).right,
        };
      });
    const inOrder = { isInOrder: true, isOneLine: true };
    // on the side where the texts in the visitor's language are
    const aligned = { ...inOrder, gap: expect.closeTo(0, 0) };
    await of.getByRole('dialog').waitFor();
    await buttonsFit();
    expect([await read('dialog h2'), await read('.actions button >> nth=0')]).toMatchObject([aligned, inOrder]);
    await of.getByRole('dialog').getByRole('button').last().click();
    await of.locator('details summary').first().click();
    await buttonsFit();
    // a long word leaves the others room
    expect(await of.locator('.scroll').evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
    expect((await of.locator('td code').first().boundingBox())?.width).toBeGreaterThan(120);
    expect((await of.locator('summary').first().boundingBox())?.height).toBeGreaterThanOrEqual(24);
    expect([await read('#purpose-analytics'), await read('td bdi >> nth=0')]).toMatchObject([aligned, inOrder]);
  });
});
