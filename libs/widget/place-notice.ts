/** Adapts a notice to the rule for the visitor's place. Publishing produces the same bytes as browsers do. */
import type { Model } from './config.ts';
import type { Notice } from './notice.ts';
import { includes, join, map, slice } from './tamper-proof.ts';
import { placePhrases } from './texts.ts';
import type { PlaceTexts, Texts } from './wording.ts';

/** The part of a place's rule that a visitor sees. */
export interface PlaceTerms {
  model: Model;
  /** categories that run until the visitor objects */
  on: string[];
}

export const placeTexts = (texts: Texts): PlaceTexts => ({ ...placePhrases, ...texts });

/** Mutates the notice. `hasObjected`: whether the visitor has refused anything. */
export function applyPlaceTerms(notice: Notice, given: Texts, { model, on }: PlaceTerms, hasObjected: boolean): void {
  if (model === 'opt_in') {
    askForRest(notice, on);
    return;
  }
  const texts = placeTexts(given);
  notice.title = texts.choices;
  notice.intro = texts.told;
  notice.note = hasObjected ? texts.honored : undefined;
  notice.asks = '';
  notice.buttons = [texts.choices, texts.close];
  notice.settings.title = texts.choices;
  map(notice.settings.categories, (each) => {
    if (!each.always) each.on = true;
  });
  notice.again = [texts.allowAgain, texts.allow, texts.cancel];
  notice.model = model;
}

/** The notice asks only for categories that do not run yet. */
function askForRest(notice: Notice, on: string[]): void {
  const labels = (without: string[]) =>
    join(
      map(notice.settings.categories, ({ always, id, label }) => (always || includes(without, id) ? undefined : label)),
      ' · ',
    );
  map(notice.settings.categories, (each) => {
    if (includes(on, each.id)) each.on = true;
  });
  const rest = labels(on);
  notice.asks = rest && slice(notice.asks, 0, notice.asks.length - labels([]).length) + rest;
}
