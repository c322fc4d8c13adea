/** Asks a visitor who has objected to confirm before something runs again (11 CCR § 7028). */

import { fill } from '#libs/widget/fill';
import { placeTexts } from '#libs/widget/place-notice';
import { join, map, own } from '#libs/widget/tamper-proof';
import type { Settings } from '../settings.ts';
import { actions } from '../view/banner.ts';
import { element } from '../view/element.ts';
import type { View } from '../view/view.ts';

/** `ids`: the refused categories that the visitor now wants to allow. */
export function confirmAfterObjection(view: View, settings: Settings, ids: string[], allow: () => void): void {
  view.show('preferences', ({ settings: { categories } }) => {
    const texts = placeTexts(settings.wording.texts);
    const labels = own<string>();
    map(categories, ({ id, label }) => {
      labels[id] = label;
    });
    const question = fill(texts.allowAgain, {
      categories: join(
        map(ids, (id) => labels[id]),
        ' · ',
      ),
    });
    const content = element(
      'div',
      {},
      element('h2', { id: 'title' }, texts.choices),
      element('p', { id: 'intro' }, question),
      actions([texts.allow, texts.cancel], [allow, view.close]),
    );
    content.style.padding = '1.5em';
    return [content];
  });
}
