/** What the visitor decided last, to read and to copy: in words, with the record's id, by which they can ask about it. */
import type { Consent } from '../consent.ts';
import type { Notice } from '../notice.ts';
import { fill } from '../wording.ts';
import { element } from './element.ts';
import type { AllTexts } from './preferences.ts';

export function receipt(
  { settings: { categories }, language }: Notice,
  texts: AllTexts,
  { id, decision, decidedAt, preferences }: Consent,
  seen: string,
): HTMLElement {
  const labels = (isAllowed: boolean) =>
    categories
      .filter((each) => !each.always && (preferences[each.id] === true) === isAllowed)
      .map(({ label }) => label);
  const [allowed, others] = [labels(true), labels(false)];
  const date = inWords(language, (locale) =>
    new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(new Date(decidedAt)),
  );
  const list = (names: string[]) => inWords(language, (locale) => new Intl.ListFormat(locale).format(names));
  const sentence =
    decision === 'withdraw' ? texts.youWithdrew : allowed.length === 0 ? texts.youRejected : texts.youAllowed;
  const lines = [fill(sentence, { date, categories: list(allowed) })];
  if (allowed.length > 0 && others.length > 0) lines.push(fill(texts.notAllowed, { categories: list(others) }));

  const text = element('p', { class: 'fine' }, `${lines.join('\n')}\nID `, element('code', {}, id));
  const shown = linesOf(seen);
  if (shown[0]) text.append(`\n\n${shown.join('\n')}`);
  const copy = async () => {
    await navigator.clipboard.writeText(text.textContent ?? '');
    button.textContent = `${texts.copy} ✓`;
  };
  const button = element('button', { click: copy }, texts.copy);
  // only secure pages have a clipboard; elsewhere the visitor can still select the text
  const buttons = navigator.clipboard ? [button] : [];
  return element(
    'details',
    { class: 'receipt' },
    element('summary', { class: 'fine' }, texts.lastDecision),
    text,
    buttons,
  );
}

/** What tells people nothing without a word about what it is. */
const unsaid = /^(id|href|policyUrl|country|cookies|language|version|policyVersion|variant)$/;

const textsIn = (part: unknown): string[] => {
  if (typeof part === 'string') return part ? [part] : [];
  return Object.entries(Object(part)).flatMap(([name, each]) => (unsaid.test(name) ? [] : textsIn(each)));
};

/** What a notice says, in its order. Earlier releases kept its lines. */
export function linesOf(seen: string): string[] {
  try {
    return textsIn(JSON.parse(seen));
  } catch {
    return seen.split(/\n+/);
  }
}

/** A site may give texts under a tag that is no language. */
function inWords(language: string, work: (locale: string) => string): string {
  try {
    return work(language);
  } catch {
    return work('en');
  }
}
