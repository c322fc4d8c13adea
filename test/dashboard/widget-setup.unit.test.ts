/** What the dashboard computes where one sets up the widget. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSettings } from '#libs/widget/check-settings';
import type { Region } from '#libs/widget/config';
import {
  idTrouble,
  knownCategories,
  purposeOf,
  withCategory,
  withoutCategory,
  withRequired,
  withServices,
} from '../../apps/dashboard/widget-setup/draft/categories.ts';
import { changesBetween, isSameBanner, placeOf } from '../../apps/dashboard/widget-setup/draft/changes.ts';
import { colourNames, colourTrouble, defaultColours } from '../../apps/dashboard/widget-setup/draft/colours.ts';
import {
  contrast,
  contrastTroubles,
  contrastWarning,
  unmeasured,
} from '../../apps/dashboard/widget-setup/draft/contrast.ts';
import {
  changed,
  changedAppearance,
  readDraft,
  type WidgetDraft,
} from '../../apps/dashboard/widget-setup/draft/draft.ts';
import { readPlaces, unusedPresets, visitorsFor, withRule } from '../../apps/dashboard/widget-setup/draft/regions.ts';
import { cookieLines, readCookieLines } from '../../apps/dashboard/widget-setup/draft/services.ts';
import { isTestChanged } from '../../apps/dashboard/widget-setup/draft/test-changes.ts';
import {
  defaultText,
  english,
  languagesOf,
  packFor,
  textIn,
  withoutText,
  withText,
} from '../../apps/dashboard/widget-setup/draft/texts.ts';
import { warningsOf } from '../../apps/dashboard/widget-setup/draft/warnings.ts';
import { first, others } from '../../apps/dashboard/widget-setup/text-names.ts';
import { drafts } from '../support/arbitrary-widget.ts';

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
    expect(contrastTroubles({ colors: { text: '#111111' }, darkColors: { text: '#eeeeee' } })).toEqual([]);
    expect(contrastTroubles({ darkColors: { text: '#111111' } })).toMatchObject([{ at: 'text', scheme: 'dark' }]);
    const grey = contrastTroubles({ theme: 'light', colors: { button: '#777777', buttonText: '#ffffff' } });
    expect(grey).toMatchObject([{ at: 'buttonText', ratio: 4.48, isHalfChosen: false }]);
    // 4.4989 is not enough, and does not look like it
    expect(contrastTroubles({ theme: 'light', colors: { muted: '#0078d7' } })).toMatchObject([{ ratio: 4.49 }]);
    expect(unmeasured({ text: 'rebeccapurple', button: '#123' })).toEqual(['text']);
  });

  it.each<[WidgetDraft, string?, string?]>([
    [
      { colors: { button: '#0b5d4b', buttonText: '#ffffff' } },
      'On dark screens, buttons and switches on the background may be hard to see (2.20 : 1, at least 3 : 1 is needed).',
      'light',
    ],
    [
      { theme: 'light', colors: { button: '#e0e0e0', buttonText: '#111111' } },
      'In the light banner, buttons and switches on the background can hardly be seen (1.32 : 1, at least 3 : 1 is needed).',
    ],
    [
      { colors: { text: '#777777', background: '#777777' } },
      ['light', 'dark']
        .map(
          (scheme) =>
            `On ${scheme} screens, titles and links on the background can hardly be seen (1.00 : 1, at least 4.5 : 1 is needed).`,
        )
        .join(' '),
    ],
    [{}],
  ])('of %j that is too low is said in a sentence, with the theme that helps: %s', (draft, sentence, wayOut) => {
    expect(contrastWarning(draft)).toEqual(sentence && { sentence, wayOut });
  });
});

it('an A/B test whose banner changes under the same name is told, but not one that gets another share or name', () => {
  const variants = [{ name: 'plain' }, { name: 'blue', settings: { colors: { button: '#123456' } } }];
  const live: WidgetDraft = { company: 'Fern GmbH', texts: { title: 'Cookies?' }, experiment: { id: 'one', variants } };
  const withVariants = (id: string, ...changed: typeof variants) => ({
    ...live,
    experiment: { id, variants: changed },
  });
  expect(isTestChanged(live, { ...live, texts: { title: 'Biscuits?' } })).toBe(true);
  expect(isTestChanged(live, { ...live, categories: [{ id: 'marketing' }] })).toBe(true);
  expect(isTestChanged(live, withVariants('one', { name: 'plain' }, { name: 'blue' }))).toBe(true);
  expect(isTestChanged(live, { ...withVariants('two', ...variants), texts: {} })).toBe(false);
  expect(isTestChanged(live, { ...live, maxAgeMonths: 6 })).toBe(false);
  expect(isTestChanged(live, withVariants('one', ...variants, { name: 'third' }))).toBe(false);
});

describe('settings from anywhere', () => {
  it('are taken as far as the widget takes them', () => {
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
    });
  });

  it('that are the defaults are none', () => {
    const words = { theme: 'auto', position: 'bottom', button: 'left', lang: '', categories: 'analytics, marketing' };
    const others = { maxAgeMonths: 12, consentMode: true, displays: false, texts: {}, links: [], colors: {} };
    expect(readDraft({ ...words, ...others })).toEqual({});
    expect(changed({ theme: 'dark', policyUrl: '/a' }, { theme: undefined, policyUrl: '' })).toEqual({});
  });

  it('stay as they are once they are taken', () => {
    fc.assert(fc.property(drafts, (draft) => void expect(readDraft(draft)).toEqual(draft)));
  });

  it('never fail, whatever they are', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void expect(readDraft(value)).toBeDefined()));
    expect(readDraft([1])).toEqual({});
    expect(readDraft(JSON.parse('{"__proto__":{"theme":"dark"},"theme":"light"}'))).toEqual({ theme: 'light' });
    // the tag's, and publishing's
    expect(readDraft({ domain: 'dom_1', key: 'ak_1', api: '/', bannerVersion: '1' })).toEqual({});
  });
});

describe('rules for places', () => {
  it('are read as people write them', () => {
    expect(readPlaces(' us-ca, gb;EEA\nfr,')).toEqual(['US-CA', 'GB', 'EEA', 'FR']);
    expect([readPlaces('*'), readPlaces(''), readPlaces('*, GB')]).toEqual(['*', [], ['*', 'GB']]);
  });

  it('from presets are all reached, in whatever order they are chosen, and each is offered once', () => {
    const all = unusedPresets([]);
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (chosen) => {
        const regions = chosen.reduce<Region[]>(withRule, []);
        expect(checkSettings({ regions })).toEqual([]);
        expect(unusedPresets(regions)).toEqual([]);
      }),
    );
    expect(unusedPresets([{ in: ['US-TX', 'CH'], model: 'none' }]).map(({ name }) => name)).toEqual([
      'EU and EEA',
      'United Kingdom',
      'Quebec',
      'Everywhere else',
    ]);
  });

  it('have a visitor each for whom they are, in the preview', () => {
    const regions: Region[] = [
      { in: ['AT', 'US-CA'], model: 'opt_out' },
      { in: ['EU', 'AT'], model: 'opt_in' },
      { in: '*', model: 'none' },
    ];
    expect(visitorsFor(regions).map(({ name, place }) => [name, place.country, place.region])).toEqual([
      ['An unknown place', null, null],
      ['Austria', 'AT', null],
      ['California', 'US', 'US-CA'],
      ['European Union', 'BE', null],
      ['Everywhere else', 'AQ', null],
    ]);
  });

  it('without a cookie for all subdomains, warn of objections that are forgotten', () => {
    const warned = (draft: WidgetDraft) => warningsOf(draft).some((each) => each.startsWith('Safari forgets'));
    const regions: Region[] = [{ in: ['US-CA'], model: 'opt_out' }];
    expect([warned({}), warned({ regions }), warned({ regions, cookieDomain: 'shop.example' })]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('are told apart from those of another banner, in their order', () => {
    const regions: Region[] = [
      { in: ['GB'], model: 'opt_in', on: ['analytics'], maxAgeMonths: 6 },
      { in: '*', model: 'none' },
    ];
    expect(changesBetween({ regions: regions.slice(0, 1) }, { regions })).toEqual([
      { name: 'Rule 2 for places', before: null, after: '*; Nobody is asked: everything runs' },
    ]);
    expect(changesBetween({}, { regions: regions.slice(0, 1) })[0]?.after).toBe(
      'GB; Visitors are asked first; on: analytics; 6 months',
    );
    expect(
      placeOf('/regions/1/in/0', {
        regions: [
          { in: [], model: 'none' },
          { in: ['UK'], model: 'none' },
        ],
      }),
    ).toBe('Rule for places 2, where UK');
  });
});

describe('what differs between two banners', () => {
  const before: WidgetDraft = {
    texts: { title: 'Biscuits?', de: { title: 'Kekse?' } },
    colors: { button: '#0b5d4b' },
    categories: [{ id: 'analytics', services: [{ name: 'Counter', country: 'IE' }] }],
    links: [{ label: 'Legal', href: '/legal' }],
    consentMode: false,
  };

  it('is said setting by setting, as the form names them', () => {
    const after: WidgetDraft = {
      texts: { title: 'Biscuits?', de: { title: 'Plätzchen?' } },
      categories: [
        { id: 'analytics', services: [{ name: 'Counter', country: 'DE' }] },
        { id: 'maps', required: true },
      ],
      links: [{ label: 'Legal', href: '/imprint' }],
      theme: 'dark',
      darkColors: { button: '#7fd1bd' },
      radius: '4px',
      experiment: { id: 'autumn', variants: [{ name: 'short', share: 2, settings: { texts: { title: 'Cookies?' } } }] },
    };
    expect(changesBetween(before, after)).toEqual([
      { name: 'Title (German (Deutsch))', before: 'Kekse?', after: 'Plätzchen?' },
      { name: 'Colour: Buttons, dark banner', before: null, after: '#7fd1bd' },
      { name: 'Categories', before: 'analytics', after: 'analytics, maps (always on)' },
      { name: 'Service Counter of analytics', before: 'IE', after: 'DE' },
      { name: 'Link “Legal”', before: '/legal', after: '/imprint' },
      { name: 'Theme', before: null, after: 'dark' },
      { name: 'Rounded corners', before: null, after: '4px' },
      { name: 'A/B test', before: null, after: 'autumn' },
      { name: 'Variant short', before: null, after: 'share 2' },
      { name: 'Variant short: Title', before: null, after: 'Cookies?' },
      { name: 'Colour: Buttons', before: '#0b5d4b', after: null },
      { name: 'Google’s Consent Mode', before: 'off', after: null },
    ]);
  });

  it('is nothing exactly where they are the same, in whatever order they name things', () => {
    expect(isSameBanner({ theme: 'dark', company: 'A' }, { company: 'A', theme: 'dark' })).toBe(true);
    fc.assert(
      fc.property(drafts, drafts, (one, other) => {
        expect(changesBetween(one, one)).toEqual([]);
        expect(changesBetween(one, other).length === 0).toBe(isSameBanner(one, other));
      }),
    );
    const links = [
      { label: 'A', href: '/a' },
      { label: 'B', href: '/b' },
    ];
    expect(changesBetween({ links }, { links: links.toReversed() })).toHaveLength(1);
  });

  it('a fault is where the form has it', () => {
    const at = (pointer: string) =>
      placeOf(pointer, { ...before, experiment: { id: 'x', variants: [{ name: 'short' }] } });
    expect(at('/texts/de/title')).toBe('German (Deutsch), Title');
    expect(at('/colors/buttonText')).toBe('Colour: Text of buttons');
    expect(at('/darkColors/text')).toBe('Colour: Titles and links, dark banner');
    expect(at('/categories/0/services/0/cookies/1/name')).toBe('Categories analytics, service Counter, cookie 2, name');
    expect(at('/experiment/variants/0/settings/texts/title')).toBe('A/B test, variant short, Title');
    expect(at('/texts')).toBe('texts');
  });
});

describe('a variant', () => {
  it('has only what differs from the banner, also where that is what the widget comes with', () => {
    const banner: WidgetDraft = { theme: 'dark', position: 'left' };
    const one = changedAppearance({}, { theme: 'auto', position: 'left' }, banner);
    expect(one).toEqual({ theme: 'auto' });
    expect(changedAppearance(one, { theme: 'dark', texts: {} }, banner)).toEqual({});
  });
});

describe('colours', () => {
  it('a background that the page shows through is refused, since accepting and rejecting would not look equal', () => {
    const refused = (value: string) => !readDraft({ colors: { background: value } }).colors;
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
    expect(readDraft({ colors: { line: '#0008' } })).toEqual({ colors: { line: '#0008' } });
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
  it('are taken as the widget takes them', () => {
    const cookies = [{ name: '_ga*', duration: '2 years', path: '/' }, { name: '*' }, null];
    const given = [
      { name: 'Counter', provider: 'Counter Ltd', country: 7, cookies },
      { name: 'Map', policyUrl: 'javascript:alert(1)' },
      { provider: 'nobody' },
    ];
    const draft = readDraft({
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
  });

  it('may be those of the necessary one, which is written for them alone', () => {
    const services = [{ name: 'Basket' }];
    const written = withServices([{ id: 'analytics' }], 'necessary', services);
    expect(written).toEqual([{ id: 'necessary', required: true, services }, { id: 'analytics' }]);
    expect(withServices(written, 'necessary', [])).toEqual([{ id: 'analytics' }]);
    expect(readDraft({ categories: written }).categories).toEqual(written);
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
