/** The notices that visitors see first under published settings, byte for byte as their browsers make them. */
import { readFileSync } from 'node:fs';
import type { OwnTexts, WidgetConfig } from './config.ts';
import { languages, packs } from './languages.ts';
import { isLink } from './link-rules.ts';
import { noticeOf } from './notice.ts';
import { applyPlaceTerms, type PlaceTerms } from './place-notice.ts';
import { readShown } from './read-settings.ts';
import { languageFor, packFor, wordingIn } from './wording.ts';

export interface PublishedNotice {
  language: string;
  /** `experiment:variant`, as in records */
  variant: string | null;
  /** with the Global Privacy Control signal */
  gpc: boolean;
  text: string;
}

/** `settings`: valid by `checkSettings`. */
export function* publishedNotices(settings: object, bannerVersion: string): Generator<PublishedNotice> {
  const given: WidgetConfig = settings;
  const { texts = {}, experiment } = given;
  const shown = { ...readShown(given, isLink), bannerVersion };
  const plain = { variant: null, layers: [texts] };
  const variants = experiment?.variants.map(({ name, settings: own }) => ({
    variant: `${experiment.id}:${name}`,
    layers: [texts, own?.texts ?? {}],
  })) ?? [plain];
  const all = languagesWith(texts);
  for (const terms of termsOf(given)) {
    // variants only change how the visitor is asked
    for (const { variant, layers } of terms.model === 'opt_in' ? variants : [plain]) {
      for (const language of all) {
        const wording = wordingIn(language, layers, textsIn(packFor(language) ?? ''));
        for (const gpc of [false, true]) {
          // with the signal, nothing runs before the visitor is asked
          const on = gpc && terms.model === 'opt_in' ? [] : terms.on;
          const notice = noticeOf({ ...shown, wording, variant: variant ?? undefined }, gpc, false);
          applyPlaceTerms(notice, wording.texts, { ...terms, on }, gpc);
          yield { language, variant, gpc, text: JSON.stringify(notice) };
        }
      }
    }
  }
}

/** The terms of all places, each once: first those of places without a rule. */
function termsOf({ regions = [] }: WidgetConfig): PlaceTerms[] {
  const all = [{ model: 'opt_in', on: [] }, ...regions].map(({ model, on = [] }) =>
    JSON.stringify({ model, on: model === 'opt_in' ? on : [] }),
  );
  return [...new Set(all)].map((terms) => JSON.parse(terms));
}

/** Tags of the languages that notices can be in. A variant adds none. */
const languagesWith = (texts: OwnTexts): Set<string> => {
  const own = Object.keys(texts).filter((name) => typeof texts[name] === 'object');
  return new Set(['en', ...['en-US', ...languages, ...own].map((tag) => languageFor([tag], texts))]);
};

let texts: ReadonlyMap<string, Record<string, string>> | undefined;

/** The widget's texts in a language that has a file. */
function textsIn(tag: string): Record<string, string> | undefined {
  texts ??= new Map(
    packs.map((each) => [each, JSON.parse(readFileSync(new URL(`languages/${each}.json`, import.meta.url), 'utf8'))]),
  );
  return texts.get(tag);
}
