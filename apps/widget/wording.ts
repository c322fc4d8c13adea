/** The texts in the visitor's language. The site's own texts replace ours. */
import type { OwnTexts } from '#libs/widget/config';
import { languages, phrases } from '#libs/widget/texts';
import { either } from './attempt.ts';
import { has, lower, map, own, words } from './plain.ts';

/** Includes the site's own categories, as `name` and `namePurpose`. */
export type Texts = Record<keyof typeof phrases, string> & { [name: string]: string | undefined };

export interface Wording {
  texts: Texts;
  language: string;
  direction: 'ltr' | 'rtl';
}

const rightToLeft = words('ar dv fa he ku ps sd ug ur yi');

/** `de-DE` also for `de_DE`, as Java, PHP and POSIX write it. */
const tagOf = (locale: string): string => either(() => locale.replace(/_/g, '-'), locale);

/** `de` of `de-DE` and `de_DE`. */
const baseOf = (locale: string): string => lower(either(() => locale.replace(/[-_].*/, ''), locale));

/** The site's own texts: those for all languages, below those of the language and below those of exactly this tag. */
export function ownTextsFor(texts: OwnTexts, language: string): OwnTexts {
  let base: OwnTexts = {};
  let exact: OwnTexts = {};
  const all = own(texts);
  for (const name in all) {
    const below = all[name];
    if (typeof below !== 'object') continue;
    if (lower(tagOf(name)) === baseOf(language)) base = below;
    if (lower(tagOf(name)) === lower(language)) exact = below;
  }
  return { ...texts, ...base, ...exact };
}

/** Uses the first of the wanted languages that exists, else English. */
export function wordingFor(wanted: readonly string[], texts: OwnTexts): Wording {
  const names = own<string>({});
  for (const name in own(texts)) names[lower(tagOf(name))] = tagOf(name);
  const found = map(wanted, (locale) => {
    const base = baseOf(locale);
    return names[lower(tagOf(locale))] ?? (has(languages, base) || names[base] ? base : undefined);
  });
  const language = found[0] ?? 'en';
  return {
    texts: { ...oursIn(language, phrases), ...ownTextsFor(texts, language) } as Texts,
    language,
    direction: has(rightToLeft, baseOf(language)) ? 'rtl' : 'ltr',
  };
}

/** A text with its `{name}`s filled in. */
export function fill(text: string, values: Record<string, string>): string {
  let filled = text;
  for (const name in own(values)) {
    const parts = either(() => filled.split(`{${name}}`), []);
    if (parts.length === 2) filled = `${parts[0]}${values[name]}${parts[1]}`;
  }
  return filled;
}

/** Our texts of one language, else in English. */
export function oursIn<Name extends string>(
  language: string,
  all: Record<Name, ArrayLike<string>>,
): Record<Name, string> {
  const base = baseOf(language);
  const at = map(languages, (known, index) => (known === base ? index : undefined))[0] ?? 0;
  const ours = own<string>({});
  for (const name in own(all)) ours[name] = all[name as Name][at] ?? '';
  return ours as Record<Name, string>;
}
