/** Rules for a site's own texts and their languages. */
import { languages } from './languages.ts';
import { entries, isObject, type Rule, text } from './setting-rules.ts';
import { furtherPhrases, phrases, placePhrases } from './texts.ts';
import { formsOf } from './wording.ts';

/** The names of the widget's own texts. */
const ourNames: ReadonlySet<string> = new Set(Object.keys({ ...phrases, ...placePhrases, ...furtherPhrases }));
/** The categories that the widget has texts for. */
export const knownCategories: ReadonlySet<string> = new Set(['necessary', 'functional', 'analytics', 'marketing']);

/** Whether the widget uses this name otherwise, so that no category of the site can have it. */
export const isTaken = (id: string): boolean =>
  !knownCategories.has(id) && (ourNames.has(id) || languages.some((tag) => tag === id));

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** A BCP 47 tag of an existing language, also with underscores as in Java and PHP. */
export function isLanguage(tag: string): boolean {
  try {
    const { language } = new Intl.Locale(tag.replaceAll('_', '-'));
    return names.of(language) !== undefined;
  } catch {
    return false;
  }
}

/** Languages that a site may add. Each adds a notice for every variant. */
const mostLanguages = 100;

interface Banner {
  /** of its categories */
  ids: ReadonlySet<string>;
  /** for all variants */
  texts: unknown;
}

/** Returns whether a banner with these texts can be shown in a language. */
function languagesWith(texts: unknown): (tag: string) => boolean {
  const own = isObject(texts) ? Object.keys(texts).filter((name) => isObject(texts[name])) : [];
  const all = new Set([...languages, ...own].map((tag) => formsOf(tag)[0]));
  return (tag) => formsOf(tag).some((form) => all.has(form));
}

/** `isOfVariant`: a variant's texts may only be in the banner's own languages. */
export function textsRule({ ids, texts }: Banner, isOfVariant = false): Rule {
  const own = text();
  const isNamed = (name: string): boolean =>
    ourNames.has(name) || ids.has(name) || ids.has(name.replace(/Purpose$/, ''));
  const named: Parameters<typeof entries>[0] = (name, value, path, report) => {
    if (isNamed(name)) own(value, path, report);
    else report(path, 'is the name of no text that the banner has');
  };
  const inLanguage = entries(named);
  const isShown = languagesWith(texts);
  return (given, path, report) => {
    const seen = new Set<string | undefined>();
    entries((name, value, at) => {
      if (!isObject(value) || isNamed(name)) return named(name, value, at, report);
      if (!isLanguage(name)) return report(at, notLanguage);
      const [form] = formsOf(name);
      if (seen.has(form)) return report(at, 'there are other texts in this language');
      seen.add(form);
      if (seen.size > mostLanguages) return report(at, `there may be texts in at most ${mostLanguages} languages`);
      if (isOfVariant && !isShown(name)) return report(at, 'the banner itself has no texts in this language');
      inLanguage(value, at, report);
    })(given, path, report);
  };
}

/** `texts`: the site's own. */
export const languageRule =
  (texts: unknown): Rule =>
  (value, path, report) => {
    if (typeof value !== 'string' || !isLanguage(value)) report(path, notLanguage);
    else if (!languagesWith(texts)(value))
      report(path, 'neither the widget nor the settings have texts in this language');
  };

const notLanguage = 'must be a language, such as de or pt-BR';
