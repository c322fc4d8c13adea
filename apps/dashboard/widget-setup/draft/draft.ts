/**
 * What somebody chooses for their banner: settings as the widget takes them, without those that differ from none of its
 * defaults. It comes from anywhere, a link or a pasted tag, so nothing of it is taken that the widget would not take.
 */
import type { Category, ConsentTypes, WidgetConfig } from '#libs/widget/config';
import { asCategories, defaultCategories } from './categories.ts';
import { type ColourName, colourNames, colourTrouble } from './colours.ts';
import { asTexts, languageTag, type Texts } from './texts.ts';
import { entriesOf, isObject, oneOf, type Reader, short, text, wholeNumber } from './values.ts';

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
  const refused: string[] = [];
  if (!isObject(given)) return { draft: {}, refused: ['the settings'] };
  const values = new Map(Object.entries(given));
  const take = <Value>(name: keyof WidgetConfig, reader: Reader<Value>): Value | undefined => {
    const value = values.get(name);
    values.delete(name);
    if (value === undefined) return undefined;
    const parts: string[] = [];
    const read = reader(value, (part) => parts.push(`${name}: ${part}`));
    refused.push(...(read === undefined && parts.length === 0 ? [name] : parts));
    return read;
  };
  const { categories, texts } = take('categories', asCategories) ?? { categories: undefined, texts: {} };
  const draft = tidy({
    lang: take('lang', asLanguage),
    dir: take('dir', oneOf('ltr', 'rtl')),
    theme: take('theme', oneOf('auto', 'light', 'dark')),
    position: take('position', oneOf('bottom', 'left', 'right', 'center')),
    button: take('button', oneOf('left', 'right', 'none')),
    policyUrl: take('policyUrl', asAddress),
    policyVersion: take('policyVersion', asVersion),
    bannerVersion: take('bannerVersion', asVersion),
    company: take('company', short),
    cookieDomain: take('cookieDomain', (value) => match(value, /^[A-Za-z0-9.-]{1,253}$/)),
    maxAgeMonths: take('maxAgeMonths', wholeNumber(1, 120)),
    categories,
    texts: take('texts', asTexts(texts)) ?? texts,
    colors: take('colors', asColours),
    links: take('links', asLinks),
    consentMode: take('consentMode', asConsentMode),
    displays: take('displays', asSwitch),
    metadata: take('metadata', asMetadata),
    layer: take('layer', (value) => match(value, /^[A-Za-z_$][\w$]{0,63}$/)),
    signals: take('signals', asSignals),
    reload: take('reload', asSwitch),
  });
  return { draft, refused: [...refused, ...values.keys()] };
}

const match = (value: unknown, pattern: RegExp): string | undefined => {
  const found = short(value);
  return found !== undefined && (found === '' || pattern.test(found)) ? found : undefined;
};
const asLanguage: Reader<string> = (value) => match(value, languageTag);
/** As long as a record's may be. */
export const longestVersion = 64;
const asVersion: Reader<string> = (value) => {
  const version = short(typeof value === 'number' ? String(value) : value);
  return version !== undefined && version.length <= longestVersion ? version : undefined;
};

/** Of a page. No other scheme, and above all no script. */
export function asAddress(value: unknown): string | undefined {
  const address = short(value)?.trim();
  if (address === undefined) return undefined;
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  return !scheme || /^(https?|mailto|tel)$/i.test(scheme) ? address : undefined;
}

const asColours: Reader<Partial<Record<ColourName, string>>> = (value, refuse) => {
  const isName = (name: string): name is ColourName => colourNames.some((each) => each === name);
  return entriesOf(value, refuse, (colour, name) => {
    const found = short(colour)?.trim();
    return isName(name) && found && !colourTrouble(name, found) ? found : undefined;
  });
};

const asLinks: Reader<Link[]> = (value, refuse) => {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((each: unknown, at) => {
    const { label, href }: Partial<Record<string, unknown>> = isObject(each) ? each : {};
    const link = { label: text(label), href: asAddress(href) };
    if (link.label && link.href) return [{ label: link.label, href: link.href }];
    refuse(String(at + 1));
    return [];
  });
};

const asConsentMode: Reader<boolean | ConsentTypes> = (value, refuse) => {
  if (value === false || value === 'false') return false;
  if (value === true || value === 'true') return true;
  return entriesOf(value, refuse, (types) => {
    const all = [types].flat().map(short);
    return all.every((each) => each !== undefined) ? all : undefined;
  });
};

/** An attribute without a value switches it on. */
const asSwitch: Reader<boolean> = (value) => {
  if (value === true || value === '' || value === 'true') return true;
  return value === false || value === 'false' ? false : undefined;
};

/** On is the default. */
const asSignals: Reader<WidgetDraft['signals']> = (value, refuse) => {
  const states = entriesOf(value, refuse, (each, name) =>
    (name === 'uet' || name === 'clarity') && typeof each === 'boolean' ? each : undefined,
  );
  if (!states) return undefined;
  const { uet, clarity } = states;
  return { ...(uet === false && { uet }), ...(clarity === false && { clarity }) };
};

const asMetadata: Reader<Record<string, string | number | boolean>> = (value, refuse) =>
  entriesOf(value, refuse, (each) =>
    typeof each === 'boolean' || (typeof each === 'number' && Number.isFinite(each)) ? each : text(each),
  );
