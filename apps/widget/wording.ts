/** The texts in the visitor's language. The site's own texts replace ours. */
import type { OwnTexts } from '#libs/widget/config';
import { languages, phrases } from '#libs/widget/texts';

/** Includes the site's own categories, as `name` and `namePurpose`. */
export type Texts = Record<keyof typeof phrases, string> & { [name: string]: string | undefined };

export interface Wording {
  texts: Texts;
  language: string;
  direction: 'ltr' | 'rtl';
}

const rightToLeft = /^(ar|dv|fa|he|ku|ps|sd|ug|ur|yi)$/;

/** Uses the first of the wanted languages that exists, else English. */
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
