/** The second view: a switch for each category. */
import { type Choice, type Consent, isGiven } from '../consent.ts';
import type { Category, Settings } from '../settings.ts';
import { element, icon } from './element.ts';
import { intro } from './intro.ts';

export interface PreferencesActions {
  decide(choice: Choice): void;
  close(): void;
}

export function preferences(
  settings: Settings,
  gpc: boolean,
  consent: Consent | null,
  { decide, close }: PreferencesActions,
): HTMLElement[] {
  const { texts, language } = settings.wording;
  const switches = new Map<string, HTMLInputElement>();

  const row = ({ id, required, label, description }: Category) => {
    const control = element('input', {
      type: 'checkbox',
      role: 'switch',
      id: `category-${id}`,
      'aria-describedby': `purpose-${id}`,
      checked: consent?.preferences[id],
    });
    if (!required) switches.set(id, control);
    return element(
      'li',
      {},
      element(
        'div',
        {},
        element(required ? 'strong' : 'label', required ? {} : { for: control.id }, label ?? texts[id] ?? id),
        element('p', { id: `purpose-${id}` }, description ?? texts[`${id}Purpose`] ?? ''),
      ),
      required ? element('span', { class: 'fine' }, texts.always) : control,
    );
  };

  const rows = settings.categories.map(row);
  const chosen = () => Object.fromEntries(Array.from(switches, ([id, { checked }]) => [id, checked]));
  return [
    element(
      'header',
      {},
      element('h2', { id: 'title' }, texts.settings),
      element('button', { class: 'plain', 'aria-label': texts.close, click: close }, icon('M6 6l12 12M18 6L6 18')),
    ),
    element(
      'div',
      { class: 'scroll' },
      ...intro(settings, gpc),
      element('ul', {}, ...rows),
      ...(consent ? [proof(texts.consentId, consent, language)] : []),
    ),
    element(
      'div',
      { class: 'actions' },
      element('button', { click: () => decide(true) }, texts.accept),
      element('button', { click: () => decide(false) }, isGiven(consent) ? texts.withdraw : texts.reject),
      element('button', { click: () => decide(chosen()) }, texts.save),
    ),
  ];
}

/** The record's id, which a visitor quotes to ask about the record. */
function proof(label: string, { id, decidedAt }: Consent, language: string): HTMLElement {
  const day = new Date(decidedAt).toLocaleDateString(language, { dateStyle: 'medium' });
  return element('p', { class: 'fine' }, `${label} · `, element('code', {}, id), ` · ${day}`);
}
