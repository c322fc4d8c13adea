/**
 * What the widget shows, as one document: both views are made from it. The same settings give the same bytes, since
 * every key has its fixed place. Texts come in reading order, and before what is not shown.
 */

import type { Service } from '#libs/widget/config';
import { type Consent, isGiven } from './consent.ts';
import { has, joined, map, own } from './plain.ts';
import type { Settings } from './settings.ts';
import { fill } from './wording.ts';

interface NoticeCategory {
  label: string;
  description: string;
  always: string | undefined;
  services: Service[] | undefined;
  id: string;
}

export interface Notice {
  title: string;
  intro: string;
  /** about Global Privacy Control, while it is on and nothing was allowed in spite of it */
  note: string | undefined;
  links: { label: string; href: string }[];
  /** who asks for what; absent where nothing is optional */
  asks: string | undefined;
  buttons: string[];
  settings: {
    title: string;
    /** `always`: what stands in place of the switch */
    categories: NoticeCategory[];
    buttons: string[];
  };
  language: string;
  version: string;
  policyVersion: string | undefined;
  variant?: string;
}

export function noticeOf(settings: Settings, gpc: boolean, consent: Consent | null): Notice {
  const { policyUrl, links, variant, wording } = settings;
  const { texts, language } = wording;
  const hasGiven = isGiven(consent);
  const optional = labelsOf(settings, settings.asked);
  return {
    title: texts.title,
    intro: texts.intro,
    note: gpc && !hasGiven ? texts.gpc : undefined,
    links: joined(policyUrl ? [{ label: texts.policy, href: policyUrl }] : [], links),
    asks:
      optional &&
      `${fill(settings.company ? texts.asksBy : texts.asks, { company: settings.company ?? '' })} ${optional}`,
    buttons: [texts.accept, texts.reject, texts.customise],
    settings: {
      title: texts.settings,
      categories: map(settings.categories, ({ id, required, label, description, services }) => ({
        label: label ?? texts[id] ?? id,
        description: description ?? texts[`${id}Purpose`] ?? '',
        always: required ? texts.always : undefined,
        services: services?.[0] && services,
        id,
      })),
      buttons: [texts.accept, hasGiven ? texts.withdraw : texts.reject, texts.save],
    },
    language,
    version: settings.bannerVersion,
    policyVersion: settings.policyVersion || undefined,
    ...(variant && { variant }),
  };
}

/** Names of categories side by side, undefined where there are none. What is between them is no word of any language. */
export function labelsOf({ categories, wording }: Settings, ids: string[]): string | undefined {
  let labels: string | undefined;
  map(categories, ({ id, label = wording.texts[id] ?? id }) => {
    if (has(ids, id)) labels = labels ? `${labels} · ${label}` : label;
  });
  return labels;
}

/** All that is in the document, in its order. */
export function linesOf(part: unknown): unknown[] {
  if (typeof part !== 'object' || !part) return [part];
  let lines: unknown[] = [];
  const fields = own(part as Record<string, unknown>);
  for (const name in fields) lines = joined(lines, linesOf(fields[name]));
  return lines;
}
