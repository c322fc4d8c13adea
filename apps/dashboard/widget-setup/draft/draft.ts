/**
 * The draft of a banner: settings of the widget that differ from its defaults. Programs save drafts too, in any form that
 * the widget accepts, so each setting is normalized.
 */
import { checkSettings } from '#libs/widget/check-settings';
import type { Category, ConsentTypes, Region, WidgetConfig } from '#libs/widget/config';
import { isLink } from '#libs/widget/link-rules';
import { below, isObject } from '#libs/widget/setting-rules';
import { asCategories, defaultCategories } from './categories.ts';
import type { ColourName } from './colours.ts';
import { joinedTexts, type Texts } from './texts.ts';

export interface Link {
  label: string;
  href: string;
}

type Colours = Partial<Record<ColourName, string>>;

/** The appearance and texts of a banner. Each variant of an A/B test may have its own. */
export interface Appearance {
  theme?: 'auto' | 'light' | 'dark';
  position?: 'bottom' | 'left' | 'right' | 'center';
  button?: 'left' | 'right' | 'none';
  texts?: Texts;
  colors?: Colours;
  /** colours of the dark banner */
  darkColors?: Colours;
  /** radius of corners in pixels: `8px` */
  radius?: string;
}

export interface Variant {
  name: string;
  share?: number;
  settings?: Appearance;
}

/** Like `WidgetConfig`, with a single form for each setting. */
export interface WidgetDraft extends Appearance {
  lang?: string;
  dir?: 'ltr' | 'rtl';
  policyUrl?: string;
  policyVersion?: string;
  company?: string;
  cookieDomain?: string;
  maxAgeMonths?: number;
  categories?: Category[];
  links?: Link[];
  consentMode?: boolean | ConsentTypes;
  displays?: boolean;
  experiment?: { id: string; variants: Variant[] };
  metadata?: Record<string, string | number | boolean>;
  layer?: string;
  /** switches that are off */
  signals?: { uet?: false; clarity?: false };
  reload?: boolean;
  regions?: Region[];
}

/** A change of the draft: `undefined` restores the widget's default. */
export type WidgetChange = { [Name in keyof WidgetDraft]?: WidgetDraft[Name] | undefined };

export type AppearanceChange = { [Name in keyof Appearance]?: Appearance[Name] | undefined };

export const changed = (draft: WidgetDraft, change: WidgetChange): WidgetDraft => tidy({ ...draft, ...change });

/** Adapts `draft` to the domain of `theirs`, which keeps its own company and links. */
export const keepOwn = (draft: WidgetDraft, theirs: WidgetDraft): WidgetDraft =>
  changed(draft, {
    company: theirs.company,
    policyUrl: theirs.policyUrl,
    policyVersion: theirs.policyVersion,
    links: theirs.links,
    cookieDomain: theirs.cookieDomain,
  });

const defaults = {
  theme: 'auto',
  position: 'bottom',
  button: 'left',
  radius: '14px',
  maxAgeMonths: 12,
  consentMode: true,
  displays: false,
  layer: 'dataLayer',
  reload: false,
} as const;
const defaultOf: ReadonlyMap<string, unknown> = new Map(Object.entries(defaults));

/** Removes settings that equal the defaults, or `below`. */
const tidy = <Given extends object>(given: { [Name in keyof Given]?: Given[Name] | undefined }, below: object = {}) =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isSame(name, value, below))) as Given;

const isSame = (name: string, value: unknown, below: object): boolean =>
  value === undefined ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0) ||
  ((name === 'links' || name === 'regions') && Array.isArray(value) && value.length === 0) ||
  (name === 'categories' && JSON.stringify(value) === JSON.stringify(defaultCategories)) ||
  (new Map(Object.entries(below)).get(name) ?? defaultOf.get(name)) === value;

/** `below`: the banner of the variant. */
export const changedAppearance = (look: Appearance, change: AppearanceChange, below: Appearance): Appearance =>
  tidy({ ...look, ...change }, below);

/** A variant as visitors see it. */
export const appearanceOver = (below: Appearance, { colors, darkColors, ...own }: Appearance): Appearance => ({
  ...below,
  ...own,
  colors: { ...below.colors, ...colors },
  darkColors: { ...below.darkColors, ...darkColors },
});

/** Reads a draft from any settings, with what the widget accepts of them. */
export function readDraft(given: unknown): WidgetDraft {
  const settings = withoutFaults(given);
  const { categories, texts } = asCategories(settings.categories);
  return tidy<WidgetDraft>({
    ...settings,
    policyVersion: settings.policyVersion === undefined ? undefined : String(settings.policyVersion),
    maxAgeMonths: settings.maxAgeMonths === undefined ? undefined : Number(settings.maxAgeMonths),
    categories,
    texts: joinedTexts((settings.texts ?? {}) as Texts, texts),
    consentMode: asConsentMode(settings.consentMode),
    displays: isOn(settings.displays),
    signals: asSignals(settings.signals),
    reload: isOn(settings.reload),
    // normalized by the check
    experiment: settings.experiment as WidgetDraft['experiment'],
  });
}

/** An empty attribute means the default, except for these: it switches on, or asks for nothing. */
const saidByNothing: ReadonlySet<string> = new Set(['displays', 'reload', 'categories']);

/** Removes what the widget would ignore. */
function withoutFaults(given: unknown): WidgetConfig {
  let settings: unknown = isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || saidByNothing.has(name)))
    : {};
  // a link without an address is no link
  for (let faults = checkSettings(settings); faults.length > 0; faults = checkSettings(settings))
    settings = without(settings, new Set(faults.map(({ path }) => path)));
  return settings as WidgetConfig;
}

function without(value: unknown, paths: ReadonlySet<string>, path = ''): unknown {
  if (path === '' && paths.has('')) return {};
  const left = <Name extends string | number>(name: Name, each: unknown): [Name, unknown][] =>
    paths.has(below(path, name)) ? [] : [[name, without(each, paths, below(path, name))]];
  if (Array.isArray(value)) return value.flatMap((each, index) => left(index, each).map(([, kept]) => kept));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]) => left(name, each)));
}

/** The longest value in a record. */
export const longestVersion = 64;

/** The address of a page. Other schemes, above all `javascript:`, are rejected. */
export const asAddress = (value: string): string | undefined => (value === '' || isLink(value) ? value : undefined);

function asConsentMode(given: WidgetConfig['consentMode']): WidgetDraft['consentMode'] {
  if (typeof given !== 'object') return `${given ?? true}` === 'false' ? false : undefined;
  return Object.fromEntries(Object.entries(given).map(([category, types]) => [category, [types].flat()]));
}

/** An attribute without a value switches the setting on. */
const isOn = (given: string | boolean | undefined): true | undefined =>
  `${given ?? false}` === 'false' ? undefined : true;

/** A setting that is on by default. */
const asSignals = ({ uet, clarity }: WidgetConfig['signals'] = {}): WidgetDraft['signals'] => ({
  ...(uet === false && { uet }),
  ...(clarity === false && { clarity }),
});
