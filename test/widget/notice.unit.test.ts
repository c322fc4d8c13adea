import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OwnTexts } from '#libs/widget/config';
import { languages } from '#libs/widget/languages';
import { noticeOf } from '#libs/widget/notice';
import { wordingIn } from '#libs/widget/wording';
import type { Settings } from '../../apps/widget/settings.ts';
import { linesOf } from '../../apps/widget/view/receipt.ts';
import { root } from '../../scripts/stack/paths.ts';
import { sectionOf } from '../support/documents.ts';
import { textsIn } from '../support/texts.ts';

const settingsIn = (language: string, own: OwnTexts = {}): Settings => ({
  domain: 'dom_1',
  key: 'ak_1',
  api: 'https://consent.example.com',
  nonce: '',
  policyVersion: '7',
  bannerVersion: '0.1.0',
  maxAgeMonths: 12,
  categories: [{ id: 'necessary', required: true }, { id: 'analytics' }, { id: 'maps', label: 'Maps' }],
  asked: ['analytics', 'maps'],
  colors: {},
  links: [{ label: 'Legal notice', href: '/legal' }],
  texts: [own],
  wording: wordingIn(language, [own], textsIn(language)),
});

const text = (...of: Parameters<typeof noticeOf>) => JSON.stringify(noticeOf(...of));

describe('the notice of the widget', () => {
  it('has exactly these bytes, which other settings leave alone', () => {
    const expected =
      '{"title":"Your privacy, your choice","intro":"This site uses cookies and similar technologies. Some are necessary, ' +
      'others need your consent. You can change your mind at any time.","links":[{"label":"Legal notice","href":"/legal"}],' +
      '"asks":"Your consent is asked for: Statistics · Maps","buttons":["Accept all","Reject all","Customise"],"settings":{"title":"Privacy settings","categories":[' +
      '{"label":"Necessary","description":"Needed for this site to work.","always":"Always on","id":"necessary"},' +
      '{"label":"Statistics","description":"Shows us which pages are visited.","id":"analytics"},' +
      '{"label":"Maps","description":"","id":"maps"}],"buttons":["Accept all","Reject all","Save choice"]},' +
      '"language":"en","version":"0.1.0","policyVersion":"7"}';
    expect(text(settingsIn('en'), false, false)).toBe(expected);
    const others = { ...settingsIn('en'), colors: { button: 'red' }, metadata: { shop: 'north' }, key: 'ak_2' };
    expect(text(others, false, false)).toBe(expected);
    expect(text(Object.fromEntries(Object.entries(others).reverse()) as unknown as Settings, false, false)).toBe(
      expected,
    );
  });

  it('names the language, and has other bytes in each', () => {
    const notices = languages.map((language) => text(settingsIn(language), false, false));
    expect(notices.map((notice) => JSON.parse(notice).language)).toEqual([...languages]);
    expect(new Set(notices).size).toBe(languages.length);
  });

  it.each([
    ['before a decision', false, false, undefined, 'Reject all'],
    ['with Global Privacy Control', true, false, expect.stringContaining('Global Privacy Control'), 'Reject all'],
    ['after something was allowed', true, true, undefined, 'Withdraw consent'],
  ])('%s has the note and the button that are shown then', (_, gpc, isGiven, note, button) => {
    const notice = noticeOf(settingsIn('en'), gpc, isGiven);
    expect(notice.note).toEqual(note);
    expect(notice.settings.buttons[1]).toBe(button);
  });

  it.each([
    ['ja', /^次の.*：統計 · Maps$/],
    ['zh-Hans', /^我们.*：统计 · Maps$/],
    ['fr', /\u00a0: Statistiques · Maps$/],
  ])('in %s has a space after a colon that is not full-width', (language, asks) => {
    expect(noticeOf(settingsIn(language), false, false).asks).toMatch(asks);
  });

  it('says who asks for what before the buttons, and nothing of it where nothing is optional', () => {
    const settings = { ...settingsIn('en'), company: '{company} $& Sons' };
    const { asks } = noticeOf(settings, false, false);
    expect(asks).toBe('{company} $& Sons asks for your consent for: Statistics · Maps');
    const categories = [{ id: 'necessary', required: true }];
    expect(noticeOf({ ...settings, categories }, false, false).asks).toBe('');
  });

  it('has the site’s own categories in the visitor’s language, as far as they have no label for all', () => {
    const settings = settingsIn('de', { de: { chat: 'Gespräch', chatPurpose: 'Zum Reden.', maps: 'Karten' } });
    const { categories } = noticeOf(
      { ...settings, categories: [{ id: 'chat' }, { id: 'maps', label: 'Maps' }] },
      false,
      false,
    ).settings;
    expect(categories).toMatchObject([{ label: 'Gespräch', description: 'Zum Reden.' }, { label: 'Maps' }]);
  });

  it('is in the receipt without what says nothing by itself', () => {
    const cookies = [{ name: 'sess', path: '/', duration: '1 day' }];
    const services = [
      { name: 'Counter', country: 'IE', purpose: 'Counts visits.', policyUrl: 'https://a.example', cookies },
    ];
    const settings = {
      ...settingsIn('en'),
      policyUrl: '/privacy',
      variant: 'a:b',
      categories: [{ id: 'analytics', services }],
    };
    const lines = linesOf(JSON.stringify(noticeOf(settings, false, false)));
    expect(lines.slice(-11, -3)).toEqual([
      ...['Accept all', 'Reject all', 'Customise', 'Privacy settings'],
      ...['Statistics', 'Shows us which pages are visited.', 'Counter', 'Counts visits.'],
    ]);
    expect([lines[0], lines.at(-1)]).toEqual(['Your privacy, your choice', 'Save choice']);
    expect(linesOf('Lines\n\nof old')).toEqual(['Lines', 'of old']);
  });
});

describe('the settings of the widget in docs/widget.md', () => {
  it('are every attribute that there is, and no other', () => {
    const named = [...sectionOf('docs/widget.md', '## Settings').matchAll(/^\| (`data-.*?) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/data-([a-z-]+)/g)].map(([, name]) => name?.replace(/-$/, '') ?? ''),
    );
    const source = readFileSync(path.join(root, 'libs/widget/config.ts'), 'utf8');
    const given = /export interface WidgetConfig \{(.*?)\n\}/s.exec(source)?.[1] ?? '';
    const names = [...given.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name ?? '');
    const onlyInConfig = ['darkColors', 'links', 'consentMode', 'metadata', 'experiment', 'signals', 'regions'];
    const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const attributes = names
      .filter((name) => !onlyInConfig.includes(name))
      .map((name) => kebab(name).replace(/^(color|text)s$/, '$1'));
    expect(named.sort()).toEqual(attributes.sort());
  });
});
