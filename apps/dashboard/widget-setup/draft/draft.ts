/**
 * What somebody chooses for their banner: settings as the widget takes them, without those that differ from none of its
 * defaults. It comes from anywhere, a link or a pasted tag, so nothing of it is taken that the widget would not take.
 */
import { checkSettings } from '#libs/widget/check-settings';
import type { Category, ConsentTypes, Experiment, WidgetConfig } from '#libs/widget/config';
import { isLink } from '#libs/widget/link-rules';
import { below, isObject } from '#libs/widget/setting-rules';
import { asCategories, defaultCategories } from './categories.ts';
import type { ColourName } from './colours.ts';
import { joinedTexts, type Texts } from './texts.ts';

export interface Link {
  label: string;
  href: string;
}

/** Named and meant like `WidgetConfig`, in one form where that takes several. */
export interface WidgetDraft {
  lang?: string;
  dir?: 'ltr' | 'rtl';
  theme?: 'light' | 'dark';
  position?: 'left' | 'right' | 'center';
  button?: 'right' | 'none';
  policyUrl?: string;
  policyVersion?: string;
  bannerVersion?: string;
  company?: string;
  cookieDomain?: string;
  maxAgeMonths?: number;
  categories?: Category[];
  texts?: Texts;
  colors?: Partial<Record<ColourName, string>>;
  links?: Link[];
  consentMode?: false | ConsentTypes;
  displays?: true;
  experiment?: Experiment;
  metadata?: Record<string, string | number | boolean>;
  layer?: string;
  /** those that are off */
  signals?: { uet?: false; clarity?: false };
  reload?: true;
}

/** As somebody changes it: `undefined` is the widget's default. */
export type WidgetChange = { [Name in keyof WidgetDraft]?: WidgetDraft[Name] | undefined };

export interface ReadDraft {
  draft: WidgetDraft;
  /** names of what was not taken */
  refused: string[];
}

export const changed = (draft: WidgetDraft, change: WidgetChange): WidgetDraft => tidy({ ...draft, ...change });

const defaults = {
  theme: 'auto',
  position: 'bottom',
  button: 'left',
  maxAgeMonths: 12,
  consentMode: true,
  displays: false,
  layer: 'dataLayer',
  reload: false,
} as const;
type Defaults = typeof defaults;
const defaultOf: ReadonlyMap<string, unknown> = new Map(Object.entries(defaults));

type WithDefaults = {
  [Name in keyof WidgetDraft]?: WidgetDraft[Name] | (Name extends keyof Defaults ? Defaults[Name] : never) | undefined;
};

/** Only what differs from the defaults. */
const tidy = (given: WithDefaults): WidgetDraft =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isDefault(name, value)));

const isDefault = (name: string, value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  (isObject(value) && Object.keys(value).length === 0) ||
  (name === 'links' && Array.isArray(value) && value.length === 0) ||
  (name === 'categories' && JSON.stringify(value) === JSON.stringify(defaultCategories)) ||
  defaultOf.get(name) === value;

export function readDraft(given: unknown): ReadDraft {
  if (!isObject(given)) return { draft: {}, refused: ['the settings'] };
  // publishing sets it; a tag may have one of its own
  const { bannerVersion, ...others } = given;
  const { settings, refused } = withoutFaults(others);
  const version = asVersion(bannerVersion);
  if (bannerVersion !== undefined && version === undefined) refused.push('bannerVersion');
  const { categories, texts } = asCategories(settings.categories);
  const draft = tidy({
    ...settings,
    bannerVersion: version,
    policyVersion: asVersion(settings.policyVersion),
    maxAgeMonths: settings.maxAgeMonths === undefined ? undefined : Number(settings.maxAgeMonths),
    categories,
    texts: joinedTexts((settings.texts ?? {}) as Texts, texts),
    consentMode: asConsentMode(settings.consentMode),
    displays: isOn(settings.displays),
    signals: asSignals(settings.signals),
    reload: isOn(settings.reload),
  });
  return { draft, refused };
}

/** An empty attribute is a default, but for these: it switches on, or asks for nothing. */
const saidByNothing: ReadonlySet<string> = new Set(['displays', 'reload', 'categories']);

/** What is left once all is taken out that the widget would leave out. */
function withoutFaults(given: Record<string, unknown>): { settings: WidgetConfig; refused: string[] } {
  let settings: unknown = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => value !== '' || saidByNothing.has(name)),
  );
  let faults = checkSettings(settings);
  const refused = faults.map(({ path, message }) => `${path.slice(1)}: ${message}`);
  // a link that has lost its address is none
  for (; faults.length > 0; faults = checkSettings(settings))
    settings = without(settings, new Set(faults.map(({ path }) => path)));
  return { settings: settings as WidgetConfig, refused };
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
/** Without halves of characters and NUL, which no page keeps. */
const asVersion = (value: unknown): string | undefined =>
  (typeof value === 'string' && value.length <= longestVersion) || typeof value === 'number'
    ? String(value).replace(/[\p{Surrogate}\0]/gu, '')
    : undefined;

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
