/**
 * What somebody chooses for their banner: settings as the widget takes them, without those that differ from none of its
 * defaults. Programs save drafts too, in any form that the widget takes, so each setting is brought into one form.
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

/** How a banner looks and reads: also what each variant of an A/B test may have of its own. */
export interface Look {
  theme?: 'auto' | 'light' | 'dark';
  position?: 'bottom' | 'left' | 'right' | 'center';
  button?: 'left' | 'right' | 'none';
  texts?: Texts;
  colors?: Colours;
  /** of the dark banner, instead of those */
  darkColors?: Colours;
  /** of corners, in pixels: `8px` */
  radius?: string;
}

export interface Variant {
  name: string;
  share?: number;
  settings?: Look;
}

/** Named and meant like `WidgetConfig`, in one form where that takes several. */
export interface WidgetDraft extends Look {
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
  /** those that are off */
  signals?: { uet?: false; clarity?: false };
  reload?: boolean;
  regions?: Region[];
}

/** As somebody changes it: `undefined` is the widget's default. */
export type WidgetChange = { [Name in keyof WidgetDraft]?: WidgetDraft[Name] | undefined };

export type LookChange = { [Name in keyof Look]?: Look[Name] | undefined };

export const changed = (draft: WidgetDraft, change: WidgetChange): WidgetDraft => tidy({ ...draft, ...change });

/** `draft` for the domain of `theirs`: who asks there, and where that is explained, stays theirs. */
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

/** Only what differs from what holds without it: the defaults, or `below`. */
const tidy = <Given extends object>(given: { [Name in keyof Given]?: Given[Name] | undefined }, below: object = {}) =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isSame(name, value, below))) as Given;

const isSame = (name: string, value: unknown, below: object): boolean =>
  value === undefined ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0) ||
  ((name === 'links' || name === 'regions') && Array.isArray(value) && value.length === 0) ||
  (name === 'categories' && JSON.stringify(value) === JSON.stringify(defaultCategories)) ||
  (new Map(Object.entries(below)).get(name) ?? defaultOf.get(name)) === value;

/** `below`: the banner that it is a variant of. */
export const changedLook = (look: Look, change: LookChange, below: Look): Look => tidy({ ...look, ...change }, below);

/** As visitors see a variant. */
export const lookOver = (below: Look, { colors, darkColors, ...own }: Look): Look => ({
  ...below,
  ...own,
  colors: { ...below.colors, ...colors },
  darkColors: { ...below.darkColors, ...darkColors },
});

/** What the widget takes of any settings. */
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
    // as the check has left it
    experiment: settings.experiment as WidgetDraft['experiment'],
  });
}

/** An empty attribute is a default, but for these: it switches on, or asks for nothing. */
const saidByNothing: ReadonlySet<string> = new Set(['displays', 'reload', 'categories']);

/** What is left once all is taken out that the widget would leave out. */
function withoutFaults(given: unknown): WidgetConfig {
  let settings: unknown = isObject(given)
    ? Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || saidByNothing.has(name)))
    : {};
  // a link that has lost its address is none
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

/** As long as a record's may be. */
export const longestVersion = 64;

/** Of a page. No other scheme, and above all no script. */
export const asAddress = (value: string): string | undefined => (value === '' || isLink(value) ? value : undefined);

function asConsentMode(given: WidgetConfig['consentMode']): WidgetDraft['consentMode'] {
  if (typeof given !== 'object') return `${given ?? true}` === 'false' ? false : undefined;
  return Object.fromEntries(Object.entries(given).map(([category, types]) => [category, [types].flat()]));
}

/** An attribute without a value switches it on. */
const isOn = (given: string | boolean | undefined): true | undefined =>
  `${given ?? false}` === 'false' ? undefined : true;

/** On is the default. */
const asSignals = ({ uet, clarity }: WidgetConfig['signals'] = {}): WidgetDraft['signals'] => ({
  ...(uet === false && { uet }),
  ...(clarity === false && { clarity }),
});
