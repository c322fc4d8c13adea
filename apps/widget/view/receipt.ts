/** The visitor's last decision in words, with the record's id, by which they can ask about it, and what they saw. */
import { orElse } from '#libs/widget/attempt';
import { fill } from '#libs/widget/fill';
import type { Notice } from '#libs/widget/notice';
import { concat, includes, join, map, own, words } from '#libs/widget/tamper-proof';
import type { AllTexts } from '#libs/widget/wording';
import type { Consent } from '../consent.ts';
import { element } from './element.ts';

export function receipt(
  { settings: { categories }, language }: Notice,
  texts: AllTexts,
  { id, decision, decidedAt, preferences }: Consent,
  seen: string,
): HTMLElement {
  const labels = (isAllowed: boolean) =>
    map(categories, ({ always, id: category, label }) =>
      !always && (own(preferences)[category] === true) === isAllowed ? label : undefined,
    );
  const allowed = labels(true);
  const others = labels(false);
  const date = inWords(
    language,
    (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(new Date(decidedAt)),
    decidedAt,
  );
  const sentence = decision === 'withdraw' ? texts.youWithdrew : allowed[0] ? texts.youAllowed : texts.youRejected;
  const second = allowed[0] && others[0] ? `\n${fill(texts.notAllowed, { categories: listIn(language, others) })}` : '';
  const copy = async () => {
    await navigator.clipboard.writeText(id);
    button.textContent = `${texts.copy} ✓`;
  };
  const button = element('button', { click: copy }, texts.copy);
  const shown = join(linesOf(seen), '\n');
  return element(
    'section',
    { class: 'receipt' },
    element('strong', {}, texts.lastDecision),
    element('p', { class: 'fine' }, fill(sentence, { date, categories: listIn(language, allowed) }) + second),
    element(
      'p',
      { class: 'fine id' },
      element('span', {}, 'ID ', element('code', {}, id)),
      // only secure pages have a clipboard; on others the visitor can select the id
      navigator.clipboard ? button : [],
    ),
    shown
      ? element(
          'details',
          {},
          element('summary', { class: 'fine' }, texts.whatYouSaw),
          element('p', { class: 'fine' }, shown),
        )
      : [],
  );
}

/** Values that people do not understand without a label. */
const unsaid = words('id href policyUrl country cookies language version policyVersion variant model again');

function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return part ? [part] : [];
  const all = own(part as Record<string, unknown>);
  let found: string[] = [];
  for (const name in all) if (!includes(unsaid, name)) found = concat(found, textsIn(all[name]));
  return found;
}

/** The texts of a notice in their order. Earlier releases stored lines instead of JSON (remove after 2027). */
export const linesOf = (seen: string): string[] =>
  orElse(() => textsIn(JSON.parse(seen))) ?? orElse(() => seen.split(/\n+/), [seen]);

/** Runs `work` in the visitor's language, or in English if the site has given texts under a tag that is no language. */
const inWords = (language: string, work: (locale: string) => string, otherwise: string): string =>
  orElse(() => work(language)) ?? orElse(() => work('en'), otherwise);

/** "Statistics and Marketing". */
export const listIn = (language: string, names: string[]): string =>
  inWords(language, (locale) => new Intl.ListFormat(locale).format(names), join(names, ', '));
