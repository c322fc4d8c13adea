/**
 * What the widget shows, as one document: both views are made from it. The same settings give the same bytes, since
 * every key has its fixed place. Texts come in reading order, and before what is not shown.
 */

import { either } from './attempt.ts';
import type { Category, Model, Service } from './config.ts';
import { concat, includes, map } from './tamper-proof.ts';
import type { Wording } from './wording.ts';

/** Settings as the widget has read them, as far as a visitor sees them. */
export interface NoticeSettings {
  policyUrl?: string | undefined;
  links: { label: string; href: string }[];
  /** of the experiment */
  variant?: string | undefined;
  /** in the language that is shown; changes with it */
  wording: Wording;
  company?: string | undefined;
  categories: Category[];
  bannerVersion: string;
  policyVersion: string;
}

interface NoticeCategory {
  label: string;
  description: string;
  always: string | undefined;
  services: Service[] | undefined;
  id: string;
  /** runs until the visitor objects */
  on?: boolean;
}

export interface Notice {
  title: string;
  intro: string;
  /** about Global Privacy Control, while it is on and nothing was allowed in spite of it */
  note: string | undefined;
  links: { label: string; href: string }[];
  /** who asks for what; empty where nothing is optional */
  asks: string;
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
  /** where nobody is asked first: the second step after an objection, its text and buttons */
  again?: string[];
  model?: Model;
}

/** `hasGiven`: whether the visitor has allowed any category. */
export function noticeOf(settings: NoticeSettings, gpc: boolean, hasGiven: boolean): Notice {
  const { policyUrl, links, variant, wording, company } = settings;
  const { texts, language } = wording;
  let optional = '';
  const categories = map(settings.categories, ({ id, required, label: own, description, services }) => {
    const label = own ?? texts[id] ?? id;
    // what is between them is no word of any language
    if (!required) optional += optional ? ` · ${label}` : label;
    return {
      label,
      description: description ?? texts[`${id}Purpose`] ?? '',
      always: required ? texts.always : undefined,
      services: services?.[0] && services,
      id,
    };
  });
  const asks = company ? either(() => texts.asksBy.replace('{company}', () => company), company) : texts.asks;
  return {
    title: texts.title,
    intro: texts.intro,
    note: gpc && !hasGiven ? texts.gpc : undefined,
    links: concat(policyUrl ? [{ label: texts.policy, href: policyUrl }] : [], links),
    // a full-width colon has its space inside
    asks: optional && asks + (includes(asks ?? '', '：') ? '' : ' ') + optional,
    buttons: [texts.accept, texts.reject, texts.customise],
    settings: {
      title: texts.settings,
      categories,
      buttons: [texts.accept, hasGiven ? texts.withdraw : texts.reject, texts.save],
    },
    language,
    version: settings.bannerVersion,
    policyVersion: settings.policyVersion || undefined,
    ...(variant && { variant }),
  };
}
