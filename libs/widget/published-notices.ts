/** The notices that visitors see first under published settings, byte for byte as their browsers make them. */
import type { OwnTexts, WidgetConfig } from './config.ts';
import { languageTexts } from './language-texts.ts';
import { languages } from './languages.ts';
import { isLink } from './link-rules.ts';
import { noticeOf } from './notice.ts';
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
  const variants = experiment?.variants.map(({ name, settings: own }) => ({
    variant: `${experiment.id}:${name}`,
    layers: [texts, own?.texts ?? {}],
  })) ?? [{ variant: null, layers: [texts] }];
  const all = languagesWith(texts);
  for (const { variant, layers } of variants) {
    for (const language of all) {
      const wording = wordingIn(language, layers, languageTexts().get(packFor(language) ?? ''));
      for (const gpc of [false, true]) {
        const notice = noticeOf({ ...shown, wording, variant: variant ?? undefined }, gpc, false);
        yield { language, variant, gpc, text: JSON.stringify(notice) };
      }
    }
  }
}

/** As the widget names them. A variant adds none. */
const languagesWith = (texts: OwnTexts): Set<string> => {
  const own = Object.keys(texts).filter((name) => typeof texts[name] === 'object');
  return new Set(['en', ...['en-US', ...languages, ...own].map((tag) => languageFor([tag], texts))]);
};
