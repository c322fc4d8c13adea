/** What the dashboard computes where one sets up the widget. Tags are tested in a browser, which parses them. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  idTrouble,
  knownCategories,
  purposeOf,
  withCategory,
  withoutCategory,
  withRequired,
  withServices,
} from '../../apps/dashboard/widget-setup/draft/categories.ts';
import { colourNames, colourTrouble, defaultColours } from '../../apps/dashboard/widget-setup/draft/colours.ts';
import {
  contrast,
  contrastTroubles,
  contrastWarning,
  unmeasured,
} from '../../apps/dashboard/widget-setup/draft/contrast.ts';
import { changed, readDraft, type WidgetDraft } from '../../apps/dashboard/widget-setup/draft/draft.ts';
import { fromFragment, toFragment } from '../../apps/dashboard/widget-setup/draft/link.ts';
import { readLiteral } from '../../apps/dashboard/widget-setup/draft/literal.ts';
import { cookieLines, readCookieLines } from '../../apps/dashboard/widget-setup/draft/services.ts';
import {
  defaultText,
  english,
  languagesOf,
  packFor,
  textIn,
  withoutText,
  withText,
} from '../../apps/dashboard/widget-setup/draft/texts.ts';
import { first, others } from '../../apps/dashboard/widget-setup/text-names.ts';
import { drafts } from '../support/arbitrary-widget.ts';

const link = (value: unknown) => `#banner=${Buffer.from(JSON.stringify(value)).toString('base64url')}`;

describe('contrast', () => {
  it.each([
    ['#777', 4.48],
    ['#767676', 4.54],
    ['#000', 21],
    ['rgb(255, 255, 255)', 1],
    ['#0000ff', 8.59],
  ])('of %s on white is %f, in either direction', (colour, ratio) => {
    expect(contrast(colour, '#fff')).toBeCloseTo(ratio, 2);
    expect(contrast('#ffffff', colour)).toBeCloseTo(ratio, 2);
  });

  it('is enough with the colours that the widget has by itself, which are those of its style sheet', () => {
    const css = readFileSync(new URL('../../apps/widget/view/widget.css', import.meta.url), 'utf8');
    const long = (hex: string) => hex.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
    const found = [...css.matchAll(/var\(--assent-([a-z-]+), (#\w+)\)/g)].map(([, name = '', value = '']) => [
      name.replace(/-t/, 'T'),
      long(value),
    ]);
    expect(Object.fromEntries(found.slice(0, colourNames.length))).toEqual(defaultColours.light);
    expect(Object.fromEntries(found.slice(colourNames.length))).toEqual(defaultColours.dark);
    for (const scheme of ['light', 'dark'] as const)
      expect(contrastTroubles({ theme: scheme, colors: defaultColours[scheme] })).toEqual([]);
  });

  it('is told for the chosen colour, in the schemes that visitors can have', () => {
    expect(contrastTroubles({ colors: { text: '#111111' } })).toEqual([
      { at: 'text', scheme: 'dark', name: expect.any(String), ratio: 1.1, least: 4.5, isHalfChosen: true },
    ]);
    expect(contrastTroubles({ theme: 'light', colors: { text: '#111111' } })).toEqual([]);
    const grey = contrastTroubles({ theme: 'light', colors: { button: '#777777', buttonText: '#ffffff' } });
    expect(grey).toMatchObject([{ at: 'buttonText', ratio: 4.48, isHalfChosen: false }]);
    // 4.4989 is not enough, and does not look like it
    expect(contrastTroubles({ theme: 'light', colors: { muted: '#0078d7' } })).toMatchObject([{ ratio: 4.49 }]);
    expect(unmeasured({ colors: { text: 'rebeccapurple', button: '#123' } })).toEqual(['text']);
  });

  it.each<[WidgetDraft, string?, string?]>([
    [{ colors: { button: '#0b5d4b', buttonText: '#ffffff' } }, 'On dark screens this banner is hard to read.', 'light'],
    [{ colors: { text: '#111111' } }, 'On dark screens this banner cannot be read.', 'light'],
    [{ colors: { text: '#eeeeee' } }, 'On light screens this banner cannot be read.', 'dark'],
    [{ colors: { text: '#777777', background: '#777777' } }, 'This banner cannot be read.'],
    [{ theme: 'dark', colors: { text: '#111111' } }, 'This banner cannot be read.'],
    [{}],
  ])('of %j that is too low is said in a sentence, with the theme that helps: %s', (draft, sentence, wayOut) => {
    expect(contrastWarning(draft)).toEqual(sentence && { sentence, wayOut });
  });
});

describe('settings from anywhere', () => {
  it('are taken as far as the widget takes them, and what is left out is named', () => {
    const given = {
      theme: 'dark',
      position: 'top',
      policyUrl: 'javascript:alert(1)',
      policyVersion: 3,
      maxAgeMonths: '24',
      categories: ['analytics', { id: 'maps', label: 'Maps', required: true }, { id: 'title' }, 'a b'],
      texts: { title: 'Biscuits?', de: { title: 'Kekse?', intro: 7 }, 'no language': { title: 'x' } },
      colors: { button: '#0b5d4b', text: 'red; background: url(x)', hover: '#fff' },
      links: [
        { label: 'Legal', href: '/legal' },
        { label: 'Bad', href: 'data:text/html,x' },
      ],
      consentMode: { maps: 'functionality_storage' },
      displays: '',
      signals: { uet: false, clarity: true, other: false },
      reload: 1,
      onload: 'alert(1)',
    };
    expect(readDraft(given)).toEqual({
      draft: {
        theme: 'dark',
        policyVersion: '3',
        maxAgeMonths: 24,
        categories: [{ id: 'necessary', required: true }, { id: 'analytics' }, { id: 'maps', required: true }],
        texts: { title: 'Biscuits?', maps: 'Maps', de: { title: 'Kekse?' } },
        colors: { button: '#0b5d4b' },
        links: [{ label: 'Legal', href: '/legal' }],
        consentMode: { maps: ['functionality_storage'] },
        displays: true,
        signals: { uet: false },
      },
      refused: [
        'position: must be one of bottom, left, right, center',
        'policyUrl: must be an address with https, http, mailto or tel, or one on the site',
        'categories/2/id: the widget uses this name itself',
        'categories/3: must be 1–64 of A–Z a–z 0–9 _ . : -',
        'texts/de/intro: must be a text that is not empty',
        'texts/no language: must be a language, such as de or pt-BR',
        'colors/text: must be a colour, such as #0b5d4b',
        'colors/hover: must be one of background, text, muted, line, button, buttonText, focus',
        'links/1/href: must be an address with https, http, mailto or tel, or one on the site',
        'signals/other: is no setting here',
        'reload: must be true or false',
        'onload: is no setting of the widget',
      ],
    });
  });

  it('that are the defaults are none', () => {
    const words = { theme: 'auto', position: 'bottom', button: 'left', lang: '', categories: 'analytics, marketing' };
    const others = { maxAgeMonths: 12, consentMode: true, displays: false, texts: {}, links: [], colors: {} };
    expect(readDraft({ ...words, ...others })).toEqual({ draft: {}, refused: [] });
    expect(changed({ theme: 'dark', policyUrl: '/a' }, { theme: undefined, policyUrl: '' })).toEqual({});
  });

  it('stay as they are once they are taken, and in a link', () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        expect(readDraft(draft)).toEqual({ draft, refused: [] });
        const fragment = toFragment(draft);
        if (fragment === null) return;
        expect(fragment).toMatch(/^(#banner=[\w-]+)?$/);
        if (fragment !== '') expect(fromFragment(`https://a.example/x${fragment}`)).toEqual({ draft, refused: [] });
      }),
    );
  });

  it('never fail, whatever a link has', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void expect(fromFragment(link(value))).not.toBeNull()));
    fc.assert(fc.property(fc.string(), (text) => void fromFragment(`#banner=${text}`)));
    expect(fromFragment('#banner=eyJ')).toBeNull();
    expect(fromFragment(link([1]))).toEqual({ draft: {}, refused: ['the settings'] });
    expect(fromFragment(`#banner=${btoa('{"__proto__":{"theme":"dark"},"theme":"light"}')}`)).toEqual({
      draft: { theme: 'light' },
      refused: ['__proto__: is a name that settings cannot have'],
    });
    expect(toFragment({ texts: { intro: 'x'.repeat(6_000) } })).toBeNull();
  });
});

describe('a value as people write it in a script', () => {
  it('is read as JavaScript means it', () => {
    const source = `{
      // ours
      categories: ['analytics', { id: "maps", 'label': 'Map\\'s \\u{1F5FA}', }, ], /* two */
      texts: { title: \`Biscuits?\`, $de_1: { title: 'Kek\\x73e' } },
      size: -1.5e2, isOn: true, none: null,
    }; alert(1)`;
    expect(readLiteral(source)).toEqual({
      categories: ['analytics', { id: 'maps', label: 'Map’s 🗺'.replace('’', "'") }],
      texts: { title: 'Biscuits?', $de_1: { title: 'Kekse' } },
      size: -150,
      isOn: true,
      none: null,
    });
  });

  it('is JSON too', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        expect(readLiteral(json)).toEqual(JSON.parse(json));
      }),
    );
  });

  it.each(['{ a: alert(1) }', '{ a: `$' + '{b}` }', '{ a b }', '[1 2]', '{', '', `${'['.repeat(20)}`])(
    'is not %s',
    (source) => {
      expect(() => readLiteral(source)).toThrow(SyntaxError);
    },
  );
});

describe('colours', () => {
  it('a background that the page shows through is refused, since accepting and rejecting would not look equal', () => {
    const refused = (value: string) => readDraft({ colors: { background: value } }).refused.length > 0;
    const opaque = ['#fff', '#ffff', '#ffffffFF', 'white', 'rgb(1, 2, 3)', 'rgba(1,2,3,1)', 'hsl(1 2% 3% / 100%)'];
    const clear = [
      '#fffe',
      '#ffffff7f',
      'transparent',
      'currentColor',
      'inherit',
      'rgba(1,2,3,.5)',
      'hsla(1, 2%, 3%, none)',
      'rgb(1 2 3 / 99%)',
    ];
    expect(opaque.filter(refused)).toEqual([]);
    expect(clear.filter((value) => !refused(value))).toEqual([]);
    expect(colourTrouble('background', '#0008')).toContain('has to be opaque');
    expect(readDraft({ colors: { line: '#0008' } })).toEqual({ draft: { colors: { line: '#0008' } }, refused: [] });
  });
});

describe('categories and texts', () => {
  it('a required category of the site’s own stands beside the necessary one', () => {
    const [analytics, maps] = [{ id: 'analytics' }, { id: 'maps' }];
    const two = withCategory([analytics], maps);
    expect(two).toEqual([analytics, maps]);
    const required = withRequired(two, 'maps', true);
    expect(required).toEqual([{ id: 'necessary', required: true }, analytics, { id: 'maps', required: true }]);
    expect(withRequired(required, 'maps', false)).toEqual(two);
    expect(withoutCategory(required, 'maps')).toEqual([analytics]);
    expect(['maps', '', 'title', 'a b', 'video'].filter((id) => !idTrouble(id, two))).toEqual(['video']);
  });

  it('a text is that of its language, else that of all, else the widget’s', () => {
    const texts = withText(withText(undefined, '', 'title', 'Biscuits?'), 'de', 'title', 'Kekse?');
    expect(texts).toEqual({ title: 'Biscuits?', de: { title: 'Kekse?' } });
    expect(['de', 'fr'].map((language) => textIn(texts, language, 'title'))).toEqual(['Kekse?', '']);
    expect(textIn(texts, 'de', 'toString')).toBe('');
    const shown = (language: string, name: string) => defaultText(texts, { accept: 'Ja' }, language, name);
    expect(['fr', 'de-AT'].map((language) => shown(language, 'title'))).toEqual(['Biscuits?', 'Kekse?']);
    expect(['accept', 'toString'].map((name) => shown('de', name))).toEqual(['Ja', '']);
    expect(languagesOf(withText(texts, 'ca', 'title', 'Galetes?'))).toContain('ca');
    expect(withoutText(texts, 'title')).toEqual({});
  });

  it('every text can be written, and those that the widget has in a language are found by all its names', () => {
    expect(Object.keys({ ...first, ...others }).sort()).toEqual(
      Object.keys(english)
        .filter((name) => !['necessary', ...knownCategories].some((id) => [id, purposeOf(id)].includes(name)))
        .sort(),
    );
    const found = ['en', 'en-US', 'de-AT', 'nb', 'zh-CN', 'zh-Hans-SG', 'PT-br', 'pt-AO', 'zh-TW', 'ca'].map(packFor);
    const none = undefined;
    expect(found).toEqual([none, none, 'de', 'no', 'zh-Hans', 'zh-Hans', 'pt-BR', 'pt', none, none]);
  });
});

describe('the services of a category', () => {
  it('are taken as the widget takes them, and what is left out is named', () => {
    const cookies = [{ name: '_ga*', duration: '2 years', path: '/' }, { name: '*' }, null];
    const given = [
      { name: 'Counter', provider: 'Counter Ltd', country: 7, cookies },
      { name: 'Map', policyUrl: 'javascript:alert(1)' },
      { provider: 'nobody' },
    ];
    const { draft, refused } = readDraft({
      categories: [
        { id: 'analytics', services: given },
        { id: 'x', services: 1 },
      ],
    });
    expect(draft.categories).toEqual([
      {
        id: 'analytics',
        services: [
          { name: 'Counter', provider: 'Counter Ltd', cookies: [{ name: '_ga*', duration: '2 years', path: '/' }] },
          { name: 'Map' },
        ],
      },
      { id: 'x' },
    ]);
    expect(refused.map((each) => each.replace(/:.*/, ''))).toEqual([
      'categories/0/services/0/country',
      'categories/0/services/0/cookies/1/name',
      'categories/0/services/0/cookies/2',
      'categories/0/services/1/policyUrl',
      'categories/0/services/2',
      'categories/1/services',
    ]);
  });

  it('may be those of the necessary one, which is written for them alone', () => {
    const services = [{ name: 'Basket' }];
    const written = withServices([{ id: 'analytics' }], 'necessary', services);
    expect(written).toEqual([{ id: 'necessary', required: true, services }, { id: 'analytics' }]);
    expect(withServices(written, 'necessary', [])).toEqual([{ id: 'analytics' }]);
    expect(readDraft({ categories: written }).draft.categories).toEqual(written);
  });

  it('have their cookies as lines, which are read as they are written', () => {
    const cookies = [
      { name: '_ga*', duration: '2 years', domain: 'example.com', path: '/' },
      { name: 'id', path: '/x' },
    ];
    expect(cookieLines(cookies)).toBe('_ga*; 2 years; example.com; /\nid; ; ; /x');
    expect(readCookieLines(cookieLines(cookies))).toEqual({ cookies, refused: [] });
    expect(readCookieLines('*\n\n ok ;1 day\na b')).toEqual({
      cookies: [{ name: 'ok', duration: '1 day' }],
      refused: ['*', 'a b'],
    });
  });
});
