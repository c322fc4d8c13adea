/** A site's own texts, for all languages or for one. */

import { languages } from '#libs/widget/languages';
import { isObject } from '#libs/widget/setting-rules';
import { isLanguage } from '#libs/widget/text-rules';
import { furtherPhrases, phrases, placePhrases } from '#libs/widget/texts';
import { packFor } from '#libs/widget/wording';

/** Texts for all languages by name, and texts of one language under its tag. */
export type Texts = Record<string, string | Record<string, string>>;

/** Recognizes existing language tags. */
export const languageTag = { test: isLanguage };

/** The widget's own texts in one language. */
export type OwnTexts = Record<string, string>;
export const english: OwnTexts = { ...phrases, ...placePhrases, ...furtherPhrases };

const known: readonly string[] = languages;

/** The widget's file for a language; undefined for English, and if there is none. */
export { packFor };

/** A language's name in itself and in English, such as `Deutsch (German)`. */
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

/** The widget's languages, and those with texts of the site. */
export const languagesOf = (texts: Texts = {}): string[] => [
  ...languages,
  ...Object.keys(texts).filter((name) => isObject(texts[name]) && !known.includes(name)),
];

/** Languages with their names, in the order of the names. */
export const byName = (tags: string[]): { value: string; name: string }[] =>
  tags.map((value) => ({ value, name: languageName(value) })).sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** Adds the chosen language if it is missing. */
export const withChosen = (all: string[], chosen: string | undefined): string[] =>
  chosen === undefined || all.includes(chosen) ? all : [...all, chosen];

/** `language`: empty for all languages. */
export function textIn(texts: Texts | undefined, language: string, name: string): string {
  const from = language === '' ? texts : texts?.[language];
  const found = isObject(from) ? from[name] : undefined;
  return typeof found === 'string' ? found : '';
}

/** The text that visitors read if the field is empty. `ours`: the widget's texts in that language. */
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

/** Removes a text from every language. */
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

/** `first`: fields that come before them. */
export function joinedTexts(texts: Texts, first: Texts): Texts {
  const others = Object.keys(first).reduce((left, name) => withoutText(left, name), texts);
  return Object.fromEntries(
    Object.entries({ ...others, ...first }).filter(
      ([, each]) => typeof each === 'string' || Object.keys(each).length > 0,
    ),
  );
}
