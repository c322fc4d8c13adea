/** Describes the differences between two banners, and the place of an invalid setting. */
import type { Service } from '#libs/widget/config';
import { isObject } from '#libs/widget/setting-rules';
import { first as firstTexts, others as furtherTexts } from '../text-names.ts';
import { defaultCategories } from './categories.ts';
import { colourLabels, colourNames } from './colours.ts';
import type { Appearance, WidgetDraft } from './draft.ts';
import { ruleLine } from './regions.ts';
import { cookieLines } from './services.ts';
import { languageName, languageTag, type Texts } from './texts.ts';

export interface Change {
  name: string;
  /** null: the widget's default, or no value */
  before: string | null;
  after: string | null;
}

export function changesBetween(before: WidgetDraft, after: WidgetDraft): Change[] {
  const [one, other] = [linesOf(before), linesOf(after)];
  const changes = [...new Set([...other.keys(), ...one.keys()])]
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => ({ name, before: one.get(name) ?? null, after: other.get(name) ?? null }));
  if (changes.length > 0 || isSameBanner(before, after)) return changes;
  return [{ name: 'The order of links, services or variants', before: 'as it was', after: 'another' }];
}

/** Ignores the order of settings. */
export const isSameBanner = (one: WidgetDraft, other: WidgetDraft): boolean => inOrder(one) === inOrder(other);

const inOrder = (settings: WidgetDraft): string =>
  JSON.stringify(settings, (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

/** Names of the settings in the form. */
const names: Record<string, string> = {
  company: 'Who asks',
  lang: 'The banner’s language',
  dir: 'Direction of the texts',
  theme: 'Theme',
  position: 'Position of the banner',
  button: 'Floating privacy button',
  radius: 'Rounded corners',
  policyUrl: 'Address of your privacy policy',
  policyVersion: 'Version of your policy',
  maxAgeMonths: 'Months until visitors are asked again',
  cookieDomain: 'One choice for all subdomains of',
  layer: 'Tag Manager’s data layer',
  displays: 'Counting how often the banner is shown',
  reload: 'Reloading the page when consent is withdrawn',
  consentMode: 'Google’s Consent Mode',
  uet: 'Telling Microsoft Advertising (UET)',
  clarity: 'Telling Microsoft Clarity',
  categories: 'Categories',
  services: 'service',
  cookies: 'cookie',
  links: 'Link',
  label: 'text',
  href: 'address',
  experiment: 'A/B test',
  variants: 'variant',
  regions: 'Rule for places',
  in: 'where',
  on: 'on until the visitor objects',
};

const textNames: Record<string, string> = { ...firstTexts, ...furtherTexts };
const wordsOf = (value: unknown): string =>
  value === true ? 'on' : value === false ? 'off' : typeof value === 'object' ? [value].flat().join(', ') : `${value}`;

/** A banner's settings by name. */
function linesOf({ categories = defaultCategories, links, metadata, signals, experiment, ...draft }: WidgetDraft) {
  const { consentMode, texts, colors, darkColors, regions = [], ...plain } = draft;
  const lines = new Map<string, string>();
  const addAll = (entries: object = {}, nameOf = (name: string) => names[name] ?? name) => {
    for (const [name, value] of Object.entries(entries)) lines.set(nameOf(name), wordsOf(value));
  };
  const addAppearance = ({ texts: own, colors: chosen, darkColors: dark, ...look }: Appearance, of = '') => {
    addTexts(own, (name) => of + name);
    addAll(chosen, (name) => `${of}${colourOf(name)}`);
    addAll(dark, (name) => `${of}${colourOf(name)}, dark banner`);
    addAll(look, (name) => of + (names[name] ?? name));
  };
  const addTexts = (own: Texts = {}, nameOf: (name: string) => string) => {
    for (const [name, value] of Object.entries(own))
      if (isObject(value)) addAll(value, (text) => nameOf(`${textOf(text)} (${languageName(name)})`));
      else lines.set(nameOf(textOf(name)), value);
  };
  addAppearance({ ...(texts && { texts }), ...(colors && { colors }), ...(darkColors && { darkColors }) });
  lines.set('Categories', categories.map(({ id, required }) => (required ? `${id} (always on)` : id)).join(', '));
  for (const { id, services = [] } of categories)
    for (const service of services) lines.set(`Service ${service.name} of ${id}`, detailsOf(service));
  for (const { label, href } of links ?? []) lines.set(`Link “${label}”`, href);
  addAll(plain);
  for (const [at, rule] of regions.entries()) lines.set(`Rule ${at + 1} for places`, ruleLine(rule));
  if (isObject(consentMode)) addAll(consentMode, (name) => `Google’s Consent Mode for ${name}`);
  else if (consentMode === false) lines.set('Google’s Consent Mode', 'off');
  addAll(signals);
  addAll(metadata, (name) => `Recorded with each decision: ${name}`);
  if (experiment) lines.set('A/B test', experiment.id);
  for (const { name, share = 1, settings = {} } of experiment?.variants ?? []) {
    lines.set(`Variant ${name}`, `share ${share}`);
    addAppearance(settings, `Variant ${name}: `);
  }
  return lines;
}

const detailsOf = ({ provider, country, purpose, policyUrl, cookies }: Service): string =>
  [provider, country, purpose, policyUrl, ...cookieLines(cookies).split('\n')].filter(Boolean).join('; ') ||
  'without details';

const textOf = (name: string): string => textNames[name] ?? `Text ${name}`;
const colourOf = (name: string): string =>
  `Colour: ${colourNames.some((each) => each === name) ? colourLabels[name as keyof typeof colourLabels] : name}`;

const groups = ['texts', 'colors', 'darkColors'];

/** The name of an invalid setting. `pointer`: JSON pointer into the draft. */
export function placeOf(pointer: string, draft: WidgetDraft): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
  const said: string[] = [];
  let value: unknown = draft;
  let group = '';
  for (const name of path) {
    value =
      isObject(value) || Array.isArray(value) ? Object.entries(value).find(([each]) => each === name)?.[1] : undefined;
    if (/^\d+$/.test(name) && said.length > 0) said.push(`${said.pop()} ${titleOf(value) || Number(name) + 1}`);
    else if (group === 'texts') said.push(languageTag.test(name) ? languageName(name) : textOf(name));
    else if (group === 'colors') said.push(colourOf(name));
    else if (group === 'darkColors') said.push(`${colourOf(name)}, dark banner`);
    else if (![...groups, 'settings'].includes(name)) said.push(names[name] ?? name);
    group = group === 'texts' || !groups.includes(name) ? group : name;
  }
  return said.join(', ') || path.join(', ');
}

/** A readable name. */
const titleOf = (item: unknown): string =>
  isObject(item) ? String(item.id ?? item.name ?? item.label ?? '') : typeof item === 'string' ? item : '';
