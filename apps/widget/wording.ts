/** The texts in the visitor's language, with the site's own in place of ours. */
import { languages, phrases } from './texts.ts';

/** Also those of the site's own categories: `name` and `namePurpose`. */
export type Texts = Record<keyof typeof phrases, string> & { [name: string]: string | undefined };

/** Texts for all languages, and under a language's tag those for it alone. */
export type OwnTexts = { [name: string]: string | OwnTexts };

export interface Wording {
  texts: Texts;
  language: string;
  direction: 'ltr' | 'rtl';
}

const rightToLeft = /^(ar|dv|fa|he|ku|ps|sd|ug|ur|yi)$/;

/** In the first of the wanted languages that is there, else in English. */
export function wordingFor(wanted: readonly string[], own: OwnTexts): Wording {
  const known: readonly string[] = languages;
  const owned = (tag: string) => Object.keys(own).find((name) => name.toLowerCase() === tag.toLowerCase());
  const tags = wanted.flatMap((tag) => [owned(tag) ?? '', tag.toLowerCase().replace(/-.*/, '')]);
  const language = tags.find((tag) => known.includes(tag) || own[tag]) ?? 'en';
  const base = language.replace(/-.*/, '').toLowerCase();
  const at = Math.max(known.indexOf(base), 0);
  const ours = Object.fromEntries(Object.entries(phrases).map(([name, phrase]) => [name, phrase[at]]));
  return {
    texts: Object.assign(ours, own, own[base], own[language]) as Texts,
    language,
    direction: rightToLeft.test(base) ? 'rtl' : 'ltr',
  };
}
