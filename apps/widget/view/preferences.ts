/** The second view: a switch for each category. */
import type { Notice } from '#libs/widget/notice';
import { map, own } from '#libs/widget/tamper-proof';
import { furtherPhrases } from '#libs/widget/texts';
import type { AllTexts, Texts } from '#libs/widget/wording';
import type { Choice, Consent } from '../consent.ts';
import { actions, intro } from './banner.ts';
import { type Children, element, icon } from './element.ts';
import { receipt } from './receipt.ts';
import { services } from './services.ts';

interface PreferencesActions {
  decide(choice: Choice): void;
  close(): void;
}

export function preferences(
  notice: Notice,
  given: Texts,
  consent: Partial<Consent> | null | undefined,
  seen: string,
  { decide, close }: PreferencesActions,
): Children {
  const { title, categories, buttons } = notice.settings;
  const texts: AllTexts = { ...furtherPhrases, ...given };
  const switches = own<HTMLInputElement>();

  const row = ({ id, label, description, always, services: list, on }: Notice['settings']['categories'][number]) => {
    const control = element('input', {
      type: 'checkbox',
      role: 'switch',
      id: `category-${id}`,
      'aria-describedby': `purpose-${id}`,
      checked: own(consent?.preferences)[id] ?? on,
    });
    if (!always) switches[id] = control;
    return element(
      'li',
      {},
      element(
        'div',
        {},
        element(always ? 'strong' : 'label', always ? {} : { for: control.id }, label),
        element('p', { id: `purpose-${id}` }, description),
      ),
      always ? element('span', { class: 'fine' }, always) : control,
      list ? services(list, label, notice.language, texts) : [],
    );
  };

  const chosen = () => {
    const choice = own<boolean>();
    for (const id in switches) choice[id] = switches[id]?.checked === true;
    return choice;
  };
  const said = intro(notice);
  // the note says that the objection is honoured, which screen readers should announce
  if (notice.model) said[1]?.setAttribute('role', 'status');
  return [
    element(
      'div',
      { class: 'head' },
      element('h2', { id: 'title' }, title),
      element('button', { class: 'plain', 'aria-label': texts.close, click: close }, icon('M6 6l12 12M18 6L6 18')),
    ),
    element(
      'div',
      { class: 'scroll' },
      said,
      element('ul', {}, map(categories, row)),
      consent?.id ? receipt(notice, texts, consent as Consent, seen) : [],
    ),
    actions(buttons, [() => decide(true), () => decide(false), () => decide(chosen())]),
  ];
}
