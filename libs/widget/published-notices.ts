/** The notices that visitors see first under published settings, byte for byte as their browsers make them. */
import type { OwnTexts, WidgetConfig } from './config.ts';
import { languageTexts } from './language-texts.ts';
import { languages } from './languages.ts';
import { isLink } from './link-rules.ts';
import { noticeOf } from './notice.ts';
import { type PlaceTerms, toPlace } from './place-notice.ts';
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

/** `settings`: what `checkSettings` finds nothing wrong with. */
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
    // a variant is of the question alone
    for (const { variant, layers } of terms.model === 'opt_in' ? variants : [plain]) {
      for (const language of all) {
        const wording = wordingIn(language, layers, languageTexts().get(packFor(language) ?? ''));
        for (const gpc of [false, true]) {
          // with the signal, nothing runs before the visitor is asked
          const on = gpc && terms.model === 'opt_in' ? [] : terms.on;
          const notice = noticeOf({ ...shown, wording, variant: variant ?? undefined }, gpc, false);
          toPlace(notice, wording.texts, { ...terms, on }, gpc);
          yield { language, variant, gpc, text: JSON.stringify(notice) };
        }
      }
    }
  }
}

/** What holds somewhere, each once: first what holds where no rule is for. */
function termsOf({ regions = [] }: WidgetConfig): PlaceTerms[] {
  const all = [{ model: 'opt_in', on: [] }, ...regions].map(({ model, on = [] }) =>
    JSON.stringify({ model, on: model === 'opt_in' ? on : [] }),
  );
  return [...new Set(all)].map((terms) => JSON.parse(terms));
}

/** As the widget names them. A variant adds none. */
const languagesWith = (texts: OwnTexts): Set<string> => {
  const own = Object.keys(texts).filter((name) => typeof texts[name] === 'object');
  return new Set(['en', ...['en-US', ...languages, ...own].map((tag) => languageFor([tag], texts))]);
};
