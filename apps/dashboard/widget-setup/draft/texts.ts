/** A site's own texts: for all languages, and for one of them. */

import { languages } from '#libs/widget/languages';
import { isObject } from '#libs/widget/setting-rules';
import { isLanguage } from '#libs/widget/text-rules';
import { furtherPhrases, phrases, placePhrases } from '#libs/widget/texts';
import { packFor } from '#libs/widget/wording';

/** By the text's name, for all languages; under a language tag those of that language. */
export type Texts = Record<string, string | Record<string, string>>;

/** Tells tags of languages that there are. */
export const languageTag = { test: isLanguage };

/** The widget's own, in one language. */
export type OwnTexts = Record<string, string>;
export const english: OwnTexts = { ...phrases, ...placePhrases, ...furtherPhrases };

const known: readonly string[] = languages;

/** The file that the widget has for a language; undefined for English, and where it has none. */
export { packFor };

/** In its own language and in English, such as `Deutsch (German)`. */
export function languageName(tag: string): string {
  const named = (locale: string) => {
    try {
      return new Intl.DisplayNames(locale, { type: 'language' }).of(tag) ?? tag;
    } catch {
      return tag;
    }
  };
  const [own, english] = [named(tag), named('en')];
  return own.toLowerCase() === english.toLowerCase() ? english : `${english} (${own})`;
}

/** Those that the widget has, and those that the site has texts for. */
export const languagesOf = (texts: Texts = {}): string[] => [
  ...languages,
  ...Object.keys(texts).filter((name) => isObject(texts[name]) && !known.includes(name)),
];

/** With their names, in the order of these. */
export const byName = (tags: string[]): { value: string; name: string }[] =>
  tags.map((value) => ({ value, name: languageName(value) })).sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** With one that is chosen and is none of them. */
export const withChosen = (all: string[], chosen: string | undefined): string[] =>
  chosen === undefined || all.includes(chosen) ? all : [...all, chosen];

/** `language`: empty for all. */
export function textIn(texts: Texts | undefined, language: string, name: string): string {
  const from = language === '' ? texts : texts?.[language];
  const found = isObject(from) ? from[name] : undefined;
  return typeof found === 'string' ? found : '';
}

/** What visitors read where that text is empty. `ours`: the widget's own in that language. */
export function defaultText(texts: Texts | undefined, ours: OwnTexts, language: string, name: string): string {
  const base = language.replace(/-.*/, '').toLowerCase();
  const inherited =
    language === '' ? '' : textIn(texts, language === base ? '' : base, name) || textIn(texts, '', name);
  return inherited || (Object.hasOwn(ours, name) ? ours[name] : '') || '';
}

export function withText(texts: Texts = {}, language: string, name: string, value: string): Texts {
  if (language === '') return withEntry<Texts[string]>(texts, name, value);
  const own = texts[language];
  return withEntry<Texts[string]>(texts, language, withEntry<string>(isObject(own) ? own : {}, name, value));
}

/** Without a text in every language. */
export const withoutText = (texts: Texts = {}, name: string): Texts =>
  languagesOf(texts).reduce((left, language) => withText(left, language, name, ''), withText(texts, '', name, ''));

function withEntry<Value extends string | object>(
  entries: Record<string, Value>,
  name: string,
  value: Value,
): Record<string, Value> {
  const { [name]: _, ...others } = entries;
  const isEmpty = value === '' || Object.keys(value).length === 0;
  return isEmpty ? others : { ...others, [name]: value };
}

/** `first`: what comes before them. */
export function joinedTexts(texts: Texts, first: Texts): Texts {
  const others = Object.keys(first).reduce((left, name) => withoutText(left, name), texts);
  return Object.fromEntries(
    Object.entries({ ...others, ...first }).filter(
      ([, each]) => typeof each === 'string' || Object.keys(each).length > 0,
    ),
  );
}
