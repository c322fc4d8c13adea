/**
 * What the widget shows, as one document from which both views are made. The same settings give the same bytes, since the
 * order of its keys is fixed. Within it, the texts come first, in reading order, and then the fields that are not shown.
 */

import { orElse } from './attempt.ts';
import type { Category, Model, Service } from './config.ts';
import { concat, includes, map } from './tamper-proof.ts';
import type { Wording } from './wording.ts';

/** The settings that a visitor sees, as the widget has read them. */
export interface NoticeSettings {
  policyUrl?: string | undefined;
  links: { label: string; href: string }[];
  /** the experiment's */
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
  /** in place of the switch */
  always: string | undefined;
  services: Service[] | undefined;
  id: string;
  /** runs until the visitor objects */
  on?: boolean;
}

export interface Notice {
  title: string;
  intro: string;
  /** about Global Privacy Control, while it is on and the visitor has allowed nothing */
  note: string | undefined;
  links: { label: string; href: string }[];
  /** who asks for what; empty if nothing is optional */
  asks: string;
  buttons: string[];
  settings: {
    title: string;
    categories: NoticeCategory[];
    buttons: [accept: string, refuse: string, save: string];
  };
  language: string;
  version: string;
  policyVersion: string | undefined;
  variant?: string;
  /** question and buttons for allowing something again after an objection; only under `opt_out` and `none` */
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
    // a separator that is not a word needs no translation
    if (!required) optional += optional ? ` · ${label}` : label;
    return {
      label,
      description: description ?? texts[`${id}Purpose`] ?? '',
      always: required ? texts.always : undefined,
      services: services?.[0] && services,
      id,
    };
  });
  const asks = company ? orElse(() => texts.asksBy.replace('{company}', () => company), company) : texts.asks;
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
