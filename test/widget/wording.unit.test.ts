import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { OwnTexts } from '#libs/widget/config';
import { languages, packs } from '#libs/widget/languages';
import { languageFor, packFor, wordingIn } from '#libs/widget/wording';
import { sectionOf } from '../support/documents.ts';
import { english, textsIn } from '../support/texts.ts';

describe('the wording of the widget', () => {
  const texts = {
    pt: { accept: 'Sim', save: 'Guardar' },
    'pt-BR': { accept: 'Aceitar' },
    'de-CH': { title: 'Ihri Wahl' },
    ca: { title: 'Galetes?' },
    nb: { title: 'Kjeks?' },
  };
  const wording = (wanted: string[], own: OwnTexts = {}) => {
    const language = languageFor(wanted, own);
    const pack = packFor(language);
    return wordingIn(language, [own], pack ? textsIn(pack) : undefined);
  };

  it.each<[string[], string, string, OwnTexts?]>([
    [['en-GB', 'de'], 'en', 'Customise'],
    [['en-US', 'de'], 'en-US', 'Customize'],
    [['en', 'en-US'], 'en', 'Customise'],
    [['en-US'], 'en-US', 'Tune', { en: { customise: 'Tune' } }],
    [['xx', 'de-AT'], 'de', 'Anpassen'],
    [['vi'], 'en', 'Customise'],
    // as Java, PHP and POSIX write them
    [['de_DE'], 'de', 'Anpassen'],
    [['PT_br'], 'pt-BR', 'Personalizar'],
    // by other names
    [['nb'], 'no', 'Tilpass'],
    [['nn-NO'], 'no', 'Tilpass'],
    [['zh'], 'zh-Hans', '自定义'],
    [['zh-CN'], 'zh-Hans', '自定义'],
    [['zh-Hans-SG'], 'zh-Hans', '自定义'],
    [['zh-TW', 'zh-Hant-HK', 'fi'], 'fi', 'Mukauta'],
    [['sr-RS'], 'sr', 'Прилагоди'],
    [['sr-Latn-RS'], 'sr-Latn', 'Prilagodi'],
    // the site's own
    [['de-CH'], 'de-CH', 'Anpassen', texts],
    [['ca-ES', 'es'], 'ca', 'Customise', texts],
    [['pt-BR'], 'pt-BR', 'Ajustar', { pt_BR: { customise: 'Ajustar' } }],
    [['zh-HK'], 'zh-Hant', '自訂', { 'zh-TW': { customise: '自訂' } }],
    [['title', 'de'], 'de', 'Anpassen', { title: 'Biscuits?' }],
  ])('for %j is in %s: “%s”', (wanted, language, customise, own) => {
    expect(wording(wanted, own)).toMatchObject({ language, texts: { customise } });
  });

  it('has the site’s own texts of exactly the language, below those of its language, below ours', () => {
    expect(wording(['pt-BR'], texts).texts).toMatchObject({
      accept: 'Aceitar',
      save: 'Guardar',
      reject: 'Rejeitar tudo',
    });
    expect(wording(['pt-AO'], texts).texts).toMatchObject({ accept: 'Sim', reject: 'Rejeitar tudo' });
    expect(wording(['no'], texts).texts).toMatchObject({ title: 'Kjeks?', reject: 'Avvis alle' });
  });

  it('goes from right to left in Arabic and Hebrew, and in languages that the site brings', () => {
    const own = { fa: { title: '…' } };
    const rightToLeft = [...packs, 'en', 'fa'].filter((tag) => wording([tag], own).direction === 'rtl');
    expect(rightToLeft).toEqual(['ar', 'he', 'fa']);
  });
});

describe.each([...packs])('the texts in %s', (language) => {
  const texts = textsIn(language);
  const filled = (text = '') => (text.match(/\{\w*\}/g) ?? []).sort();

  it('are those in English, each with what is filled in, none of them empty or with spaces around it', () => {
    expect(Object.keys(texts)).toEqual(Object.keys(english).sort((a, b) => order(a) - order(b)));
    for (const [name, text] of Object.entries(texts)) {
      expect(filled(text), name).toEqual(filled(english[name]));
      expect(text.trim(), name).toBe(text);
      expect(text, name).not.toBe('');
    }
  });
  const order = (name: string) => Object.keys(english).indexOf(name);

  it('take less than 2 kB of what is sent', () => {
    expect(gzipSync(JSON.stringify(texts), { level: 9 }).length).toBeLessThan(2_000);
  });
});

it('French sets its colons as French does', () => {
  for (const text of Object.values(textsIn('fr'))) expect(text).not.toMatch(/[^\u00a0\d]:/);
});

it.each(['ar', 'he'])(
  'each text in %s begins in its own script, which is how a browser knows its direction',
  (language) => {
    for (const text of Object.values(textsIn(language))) expect(text).toMatch(/^[\u0590-\u06ff]/);
  },
);

it('Serbian is the same in both scripts', () => {
  const cyrillic = 'абвгдђежзијклљмнњопрстћуфхцчџш';
  const latin = 'a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š'.split(' ');
  const inLatin = (text: string) =>
    [...text]
      .map((letter) => {
        const found = latin[cyrillic.indexOf(letter.toLowerCase())] ?? letter;
        return letter === letter.toLowerCase() ? found : found.replace(/^./, (first) => first.toUpperCase());
      })
      .join('');
  for (const [name, text] of Object.entries(textsIn('sr'))) expect(textsIn('sr-Latn')[name]).toBe(inLatin(text));
});

it('docs/widget.md lists every language that there are texts in, and no other', () => {
  const rows = sectionOf('docs/widget.md', '## Languages').match(/^\| `.*? \|/gm) ?? [];
  const listed = rows.flatMap((row) => [...row.matchAll(/`([\w-]+)`/g)].map(([, tag]) => tag));
  expect(listed.sort()).toEqual([...languages].sort());
});
