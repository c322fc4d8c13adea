/** The second view: a switch for each category. */
import type { Choice, Consent } from '../consent.ts';
import type { Notice } from '../notice.ts';
import { map, own } from '../plain.ts';
import type { Texts } from '../wording.ts';
import { actions, intro } from './banner.ts';
import { type Children, element, icon } from './element.ts';

interface PreferencesActions {
  decide(choice: Choice): void;
  close(): void;
}

export function preferences(
  notice: Notice,
  texts: Texts,
  consent: Consent | null,
  seen: string,
  { decide, close }: PreferencesActions,
): Children {
  const { title, categories, buttons } = notice.settings;
  const switches = own<HTMLInputElement>({});

  const row = ({ id, label, description, always }: Notice['settings']['categories'][number]) => {
    const control = element('input', {
      type: 'checkbox',
      role: 'switch',
      id: `category-${id}`,
      'aria-describedby': `purpose-${id}`,
      checked: own(consent?.preferences)[id],
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
    );
  };

  const chosen = () => {
    const choice = own<boolean>({});
    for (const id in switches) choice[id] = switches[id]?.checked === true;
    return choice;
  };
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
      intro(notice),
      element('ul', {}, map(categories, row)),
      consent ? receipt(notice, texts, consent, seen) : [],
    ),
    actions(buttons, [() => decide(true), () => decide(false), () => decide(chosen())]),
  ];
}

/** The visitor's own receipt: the record's id, which they quote to ask about it, what they decided and what they saw. */
function receipt(
  { settings }: Notice,
  texts: Texts,
  { id, decision, decidedAt, preferences }: Consent,
  seen: string,
): HTMLElement {
  const names = { accept_all: texts.accept, reject_all: texts.reject, custom: texts.save, withdraw: texts.withdraw };
  const text = element('p', { class: 'fine' }, 'ID ', element('code', {}, id));
  let lines = `\n${decidedAt}\n${names[decision]}`;
  // required categories are not among the preferences
  const choices = own(preferences);
  map(settings.categories, ({ id: name, label }) => {
    lines += `\n${(choices[name] ?? true) ? '✓' : '✗'} ${label}`;
  });
  text.append(`${lines}\n\n${seen}`);
  const copy = async () => {
    await navigator.clipboard.writeText(text.textContent ?? '');
    button.textContent = `${texts.copy} ✓`;
  };
  const button = element('button', { click: copy }, texts.copy);
  // only secure pages have a clipboard; elsewhere the visitor can still select the text
  const buttons = navigator.clipboard ? [button] : [];
  return element('details', {}, element('summary', { class: 'fine' }, texts.lastDecision), text, buttons);
}
