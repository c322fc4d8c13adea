import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSettings } from '#libs/widget/check-settings';
import type { OwnTexts, WidgetConfig } from '#libs/widget/config';
import { isLink } from '#libs/widget/link-rules';
import { publishedNotices } from '#libs/widget/published-notices';
import { readShown } from '#libs/widget/read-settings';
import { languageFor, wordingIn } from '#libs/widget/wording';
import { vary } from '../../apps/widget/experiment.ts';
import type { Settings } from '../../apps/widget/settings.ts';
import { drafts } from '../support/arbitrary-widget.ts';
import { blocksOf } from '../support/documents.ts';

const pathsOf = (given: unknown) => checkSettings(given).map(({ path }) => path);
const maps = (services: unknown) => ({ categories: [{ id: 'maps', services }] });
const tested = (...variants: unknown[]) => ({ experiment: { id: 'autumn', variants } });
const many = (count: number, item: unknown = { name: 'x' }) => Array.from({ length: count }, () => item);
const regions = (...all: unknown[]) => ({ regions: all });
const inPlaces = (...places: unknown[]) => regions({ in: places, model: 'opt_in' });
/** As it arrives: a literal would set the prototype. */
const json = (text: string): unknown => JSON.parse(text);

describe('the settings of a banner', () => {
  it.each<[string, unknown]>([
    ['none', {}],
    [
      'words',
      { categories: 'analytics, maps', maxAgeMonths: '24', displays: '', reload: 'false', consentMode: 'false' },
    ],
    ['other names of languages', { lang: 'de_AT', texts: { nb: { title: 'Kjeks?' }, 'zh-TW': { title: '餅乾?' } } }],
    ['a language of its own', { lang: 'gsw', texts: { gsw: { title: 'Guetzli?' } } }],
    ['texts of categories', { categories: ['maps'], texts: { maps: 'Maps', de: { mapsPurpose: 'Karten.' } } }],
    [
      'links',
      {
        policyUrl: '/a?b#c',
        links: ['tel:1', 'mailto:a@b.example', '//c.example'].map((href) => ({ label: 'x', href })),
      },
    ],
    ['colours', { colors: { background: 'rgb(1 2 3 / 100%)', line: '#0008' }, darkColors: { text: 'white' } }],
    ['corners', { radius: '0px' }],
    ['1,000 services', maps(many(1_000))],
    [
      'a variant',
      tested({ name: 'a', share: 0 }, { name: 'b', settings: { theme: 'dark', texts: { de: { title: 'Kekse?' } } } }),
    ],
    ['no categories', { categories: [] }],
    ['the EEA after the EU', regions({ in: ['EU'], model: 'opt_in' }, { in: ['EEA'], model: 'opt_out' })],
    [
      'regions',
      regions(
        { in: ['RE', 'AX', 'EEA', 'CA-QC'], model: 'opt_in' },
        { in: ['GB'], model: 'opt_in', on: ['analytics'], maxAgeMonths: 6 },
        { in: ['US-CA', 'US-TX'], model: 'opt_out' },
        { in: ['US'], model: 'none' },
        { in: '*', model: 'opt_in' },
      ),
    ],
  ])('are fine: %s', (_, given) => {
    expect(checkSettings(given)).toEqual([]);
  });

  it('are fine where the documents have them', () => {
    const examples = blocksOf('docs/widget.md').flatMap(({ text }) => {
      const [, literal] = /window\.assentConfig = (\{[\s\S]*?\n {2}\});/.exec(text) ?? [];
      return literal ? [runInNewContext(`(${literal})`)] : [];
    });
    expect(examples.length).toBeGreaterThan(2);
    for (const example of examples) expect(checkSettings(example)).toEqual([]);
  });

  it.each<[unknown, string, string]>([
    [inPlaces('XX'), '/regions/0/in/0', 'there is no country XX'],
    [inPlaces('QX-1'), '/regions/0/in/0', 'there is no country QX'],
    [inPlaces('us-ca'), '/regions/0/in/0', 'must be in upper case: US-CA'],
    [inPlaces('UK'), '/regions/0/in/0', 'the country UK has the code GB'],
    [inPlaces('Germany'), '/regions/0/in/0', 'must be a country such as US, a region such as US-CA, EU or EEA'],
    [inPlaces(1), '/regions/0/in/0', 'must be the code of a place'],
    [inPlaces('*'), '/regions/0/in/0', 'stands alone: "in": "*"'],
    [inPlaces('DE', 'DE'), '/regions/0/in/1', 'is named twice'],
    [inPlaces(), '/regions/0/in', 'needs at least one place'],
    [regions({ in: 'US', model: 'opt_in' }), '/regions/0/in', 'must be a list of places, or *'],
    [
      regions({ in: ['EU'], model: 'opt_in' }, { in: ['FR'], model: 'opt_out' }),
      '/regions/1/in/0',
      'is never reached: an earlier rule is for EU',
    ],
    [
      regions({ in: ['EEA'], model: 'opt_in' }, { in: ['EU'], model: 'opt_out' }),
      '/regions/1/in/0',
      'is never reached: an earlier rule is for EEA',
    ],
    [
      regions({ in: ['US'], model: 'none' }, { in: ['US-CA'], model: 'opt_out' }),
      '/regions/1/in/0',
      'is never reached: an earlier rule is for US',
    ],
    [
      regions({ in: '*', model: 'opt_in' }, { in: ['US'], model: 'opt_out' }),
      '/regions/1/in',
      'is never reached: an earlier rule is for *, every place',
    ],
    [regions({ in: '*' }), '/regions/0', 'model is missing'],
    [regions({ in: '*', model: 'ask' }), '/regions/0/model', 'must be one of opt_in, opt_out, none'],
    [regions({ in: '*', model: 'opt_in', on: ['maps'] }), '/regions/0/on/0', 'is no category of this banner'],
    [regions({ in: '*', model: 'opt_in', on: ['necessary'] }), '/regions/0/on/0', 'is always on'],
    [regions({ in: '*', model: 'none', on: [] }), '/regions/0/on', 'belongs to opt_in: everything else runs anyway'],
    [
      regions({ in: '*', model: 'opt_in', maxAgeMonths: 0 }),
      '/regions/0/maxAgeMonths',
      'must be a whole number from 1 to 120',
    ],
    [[], '', 'must be an object'],
    [{ titel: 'x' }, '/titel', 'is no setting of the widget'],
    [{ domain: 'dom_1' }, '/domain', 'belongs to the tag'],
    [{ key: 'ak_1' }, '/key', 'belongs to the tag'],
    [{ api: '..' }, '/api', 'belongs to the tag'],
    [{ bannerVersion: '1' }, '/bannerVersion', 'belongs to the tag'],
    [{ theme: null }, '/theme', 'must be one of auto, light, dark'],
    [{ company: ' ' }, '/company', 'not empty'],
    [{ company: '\ud800' }, '/company', 'well-formed'],
    [{ policyVersion: 'x'.repeat(65) }, '/policyVersion', '1–64'],
    [{ maxAgeMonths: 0 }, '/maxAgeMonths', '1 to 120'],
    [{ cookieDomain: 'a b' }, '/cookieDomain', 'must be a domain'],
    [{ layer: '__proto__' }, '/layer', 'must be a name'],
    [{ reload: 1 }, '/reload', 'true or false'],
    [{ signals: { uet: 'no' } }, '/signals/uet', 'true or false'],
    [{ consentMode: { maps: [7] } }, '/consentMode/maps/0', 'must be a text'],
    [{ metadata: { shop: {} } }, '/metadata/shop', 'must be a text'],
    [{ metadata: { shop: 'x'.repeat(1_024) } }, '/metadata', '1 KiB'],
    [{ policyUrl: 'javascript:alert(1)' }, '/policyUrl', 'https, http, mailto or tel'],
    [{ policyUrl: 'java\nscript:alert(1)' }, '/policyUrl', 'https, http, mailto or tel'],
    [{ policyUrl: 'https:' }, '/policyUrl', 'https, http, mailto or tel'],
    [{ links: [{ label: 'x', href: 'data:text/html,x' }] }, '/links/0/href', 'https, http, mailto or tel'],
    [{ links: [{ label: 'x' }] }, '/links/0', 'href is missing'],
    [{ colors: { button: 'red;}' } }, '/colors/button', 'must be a colour'],
    [{ colors: { background: 'whitish' } }, '/colors/background', 'must be a colour'],
    [{ colors: { background: 'rgb(1, 2)' } }, '/colors/background', 'must be a colour'],
    [{ colors: { background: '#fff8' } }, '/colors/background', 'must be opaque'],
    [{ colors: { 'a/b~': 'red' } }, '/colors/a~1b~0', 'must be one of'],
    [{ darkColors: { background: '#fff8' } }, '/darkColors/background', 'must be opaque'],
    [{ radius: '8px;--x:1' }, '/radius', 'must be from 0px to 99px'],
    [{ radius: 8 }, '/radius', 'must be from 0px to 99px'],
    [{ lang: 'german' }, '/lang', 'must be a language'],
    [{ lang: 'vi' }, '/lang', 'neither the widget nor the settings'],
    [{ texts: { xx: { title: 'x' } } }, '/texts/xx', 'must be a language'],
    [{ texts: { no: { title: 'x' }, nb: { title: 'y' } } }, '/texts/nb', 'other texts in this language'],
    [{ texts: { titel: 'x' } }, '/texts/titel', 'no text that the banner has'],
    [{ texts: { de: { title: { a: 'x' } } } }, '/texts/de/title', 'must be a text'],
    [{ categories: ['analytics', 'a b'] }, '/categories/1', 'A–Z'],
    [{ categories: ['maps', { id: 'maps' }] }, '/categories/1/id', 'another category'],
    [{ categories: ['title'] }, '/categories/0', 'uses this name itself'],
    [{ categories: many(65, { id: 7 }) }, '/categories/64', 'at most 64'],
    [{ categories: [{ id: 'necessary', required: false }] }, '/categories/0/required', 'always on'],
    [maps(many(1_001)), '/categories/0/services/1000', 'at most 1000'],
    [maps([{ provider: 'x' }]), '/categories/0/services/0', 'name is missing'],
    [maps([{ name: 'x', policyUrl: 'javascript:x' }]), '/categories/0/services/0/policyUrl', 'https, http'],
    [maps([{ name: 'x', cookies: [{ name: '*' }] }]), '/categories/0/services/0/cookies/0/name', 'not * alone'],
    [tested(), '/experiment/variants', 'share above 0'],
    [tested({ name: 'a', share: -1 }), '/experiment/variants/0/share', 'must be a number'],
    [tested({ name: 'a' }, { name: 'a' }), '/experiment/variants/1/name', 'another variant'],
    [tested({ name: 'a:b' }), '/experiment/variants/0/name', '1–31'],
    [
      tested({ name: 'a', settings: { categories: 'x' } }),
      '/experiment/variants/0/settings/categories',
      'looks and reads',
    ],
    [
      tested({ name: 'a', settings: { colors: { background: '#0000' } } }),
      '/experiment/variants/0/settings/colors/background',
      'must be opaque',
    ],
    [
      tested({ name: 'a', settings: { texts: { vi: { title: 'x' } } } }),
      '/experiment/variants/0/settings/texts/vi',
      'no texts in this language',
    ],
    [json('{"texts":{"de":{"__proto__":"x"}}}'), '/texts/de/__proto__', 'cannot have'],
    [json('{"metadata":{"constructor":"x"}}'), '/metadata/constructor', 'cannot have'],
    [{ ['x'.repeat(81)]: 1 }, '', 'more than 80'],
  ])('%j are refused at %s: %s', (given, path, message) => {
    const faults = checkSettings(given);
    expect(faults).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  it('have each fault named, also below what is none, and a hundred at most', () => {
    const several = { theme: 'x', nested: [{ prototype: {} }], links: [{ href: '/a', label: '' }, 7] };
    expect(pathsOf(several).sort()).toEqual(['/links/0/label', '/links/1', '/nested', '/nested/0/prototype', '/theme']);
    expect(pathsOf(maps(many(2_000, {})))).toHaveLength(100);
  });

  it('are checked for any JSON, however deep or wide', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void checkSettings(value)));
    const anything = fc.jsonValue({ maxDepth: 3 });
    const names = [
      'texts',
      'categories',
      'experiment',
      'metadata',
      'colors',
      'links',
      'consentMode',
      'signals',
      'lang',
    ];
    const known = fc.record(Object.fromEntries(names.map((name) => [name, anything])), { requiredKeys: [] });
    fc.assert(fc.property(known, (value) => void checkSettings(value)));
    expect(pathsOf(json(`{"texts":${'['.repeat(30_000)}${']'.repeat(30_000)}}`))).toEqual(['/texts']);
    expect(pathsOf(json(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`))).toEqual(['/a']);
  });

  it('are kept by the widget, every one of them, where nothing is said', () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        const given = structuredClone(draft) as WidgetConfig & typeof draft;
        expect(checkSettings(given)).toEqual([]);
        const shown = readShown(given, isLink);
        expect(shown.links).toEqual(draft.links ?? []);
        expect(shown.policyUrl).toBe(draft.policyUrl);
        for (const { id, services = [] } of draft.categories ?? []) {
          const read = shown.categories.find((each) => each.id === id)?.services ?? [];
          expect(read).toEqual(services.map((each) => ({ cookies: [], ...each })));
        }
        const texts: OwnTexts = draft.texts ?? {};
        for (const [name, value] of Object.entries(texts)) {
          const own = typeof value === 'object' ? value : { [name]: value };
          const language = typeof value === 'object' ? languageFor([name], texts) : 'xx';
          expect(wordingIn(language, [texts]).texts).toMatchObject(own);
        }
        const settings = { ...given, ...shown, texts: [texts] } as unknown as Settings;
        vary(settings);
        expect(settings.variant === undefined).toBe(draft.experiment === undefined);
      }),
    );
  });
});

describe('published notices', () => {
  it('are one for each language, variant and signal, and all different', () => {
    const texts = { title: 'Biscuits?', ca: { title: 'Galetes?' }, 'PT-br': { title: 'Biscoitos?' } };
    const variants = [{ name: 'a' }, { name: 'b', settings: { texts: { title: 'Cookies?' } } }];
    const notices = [...publishedNotices({ texts, experiment: { id: 'x', variants } }, '7')];
    const languages = new Set(notices.map(({ language }) => language));
    expect([...languages].filter((tag) => /^(en|ca|pt)/i.test(tag)).sort()).toEqual([
      'PT-br',
      'ca',
      'en',
      'en-US',
      'pt',
    ]);
    expect(notices).toHaveLength(languages.size * 2 * 2);
    expect(new Set(notices.map(({ text }) => text)).size).toBe(notices.length);
    for (const { language, variant, gpc, text } of notices) {
      const notice = JSON.parse(text);
      expect(notice).toMatchObject({ language, variant, version: '7' });
      expect('note' in notice).toBe(gpc);
    }
  });
});
