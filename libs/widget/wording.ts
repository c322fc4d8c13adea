/** The texts in the visitor's language. The site's own texts replace ours. */

import { orElse } from './attempt.ts';
import type { OwnTexts } from './config.ts';
import { aliases, packTags } from './languages.ts';
import { includes, lowerCase, map, own, slice, words } from './tamper-proof.ts';
import { type furtherPhrases, phrases, type placePhrases } from './texts.ts';

/** May include texts of the other files, and those of the site's own categories, as `name` and `namePurpose`. */
export type Texts = Record<keyof typeof phrases, string> & { [name: string]: string | undefined };

/** With the texts of `assent-preferences`. */
export type AllTexts = Texts & Record<keyof typeof furtherPhrases, string>;

/** With the texts of `assent-extras`. */
export type PlaceTexts = Texts & Record<keyof typeof placePhrases, string>;

export interface Wording {
  texts: Texts;
  language: string;
  direction: 'ltr' | 'rtl';
}

const rightToLeft: (string | undefined)[] = words('ar dv fa he ku ps sd ug ur yi');

const otherNames = own<string>(aliases);

/** `de-DE` also for `de_DE`, as Java, PHP and POSIX write it. */
const hyphened = (locale: string): string => orElse(() => locale.replace(/_/g, '-'), locale);

function tagOf(locale: string): string {
  const tag = hyphened(locale);
  return otherNames[lowerCase(tag)] ?? tag;
}

/**
 * The tag and its shorter forms, in lower case, with aliases resolved: `de-at` and `de` for `de-AT`. Traditional Chinese
 * ends at `zh-hant`, since `zh` is simplified.
 */
export function formsOf(locale: string): string[] {
  const forms: string[] = [];
  let left = hyphened(locale);
  while (left && forms[forms.length - 1] !== 'zh-hant') {
    forms[forms.length] = lowerCase(tagOf(left));
    let end = left.length - 1;
    while (end > 0 && left[end] !== '-') end -= 1;
    left = slice(left, 0, end);
  }
  return forms;
}

/** `de` of `de-AT`. */
function baseOf(language: string): string | undefined {
  const forms = formsOf(language);
  return forms[forms.length - 1];
}

/**
 * The site's own texts: the site's own texts: first those for this exact tag, then those for its base language, then those
 * for all languages.
 */
function ownTextsFor(texts: OwnTexts, language: string): OwnTexts {
  const base = baseOf(language);
  const exactly = lowerCase(tagOf(language));
  const all = own(texts);
  let inBase: OwnTexts = {};
  let exact: OwnTexts = {};
  for (const name in all) {
    const below = all[name];
    if (typeof below !== 'object') continue;
    const tag = lowerCase(tagOf(name));
    if (tag === base) inBase = below;
    if (tag === exactly) exact = below;
  }
  return { ...texts, ...inBase, ...exact };
}

/** tag in lower case → tag */
const ourPacks = own<string>();
map(words(packTags), (pack) => {
  ourPacks[lowerCase(pack)] = pack;
});

/** The first wanted language that the widget or the site has texts in, else English. */
export function languageFor(wanted: readonly string[], texts: OwnTexts): string {
  const tags = own({ en: 'en', 'en-us': 'en-US', ...ourPacks });
  for (const name in own(texts)) if (typeof texts[name] === 'object') tags[lowerCase(tagOf(name))] = tagOf(name);
  return map(wanted, (locale) => map(formsOf(locale), (form) => tags[form])[0])[0] ?? 'en';
}

/** The language file with the widget's texts; undefined for English, and for languages without a file. */
export const packFor = (language: string): string | undefined => map(formsOf(language), (form) => ourPacks[form])[0];

/** `layers`: the site's own texts; later layers win. `ours`: the texts of the language's file. */
export function wordingIn(language: string, layers: OwnTexts[], ours: Partial<Texts> = {}): Wording {
  // "Customise" is British
  const american = language === 'en-US' && { customise: 'Customize' };
  let texts = { ...phrases, ...american, ...ours } as OwnTexts;
  map(layers, (layer) => {
    texts = { ...texts, ...ownTextsFor(layer, language) };
  });
  return {
    texts: texts as Texts,
    language,
    direction: includes(rightToLeft, baseOf(language)) ? 'rtl' : 'ltr',
  };
}
