/** The visitor's own receipt: the record's id, which they quote to ask about it, what they decided and what they saw. */
import type { Consent } from '../consent.ts';
import type { Notice } from '../notice.ts';
import type { Texts } from '../wording.ts';
import { element } from './element.ts';

export function receipt(
  { settings }: Notice,
  texts: Texts,
  { id, decision, decidedAt, preferences }: Consent,
  seen: string,
): HTMLElement {
  const names = { accept_all: texts.accept, reject_all: texts.reject, custom: texts.save, withdraw: texts.withdraw };
  // required categories are not among the preferences
  const choices = settings.categories.map(
    ({ id: name, label }) => `${(preferences[name] ?? true) ? '✓' : '✗'} ${label}`,
  );
  const text = element('p', { class: 'fine' }, 'ID ', element('code', {}, id));
  text.append(['', decidedAt, names[decision], ...choices, '', seen].join('\n'));
  const copy = async () => {
    await navigator.clipboard.writeText(text.textContent ?? '');
    button.textContent = `${texts.copy} ✓`;
  };
  const button = element('button', { click: copy }, texts.copy);
  // only secure pages have a clipboard; elsewhere the visitor can still select the text
  const buttons = navigator.clipboard ? [button] : [];
  return element('details', {}, element('summary', { class: 'fine' }, texts.lastDecision), text, ...buttons);
}
