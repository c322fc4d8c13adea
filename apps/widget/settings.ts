/**
 * The site's settings: attributes of the script tag come first, then `window.assentConfig`. For domain, key and api, the
 * query of the tag's address comes between the two.
 */

import { orElse, warn } from '#libs/widget/attempt';
import type { Model, OwnTexts, WidgetConfig } from '#libs/widget/config';
import type { Notice, NoticeSettings } from '#libs/widget/notice';
import { readShown } from '#libs/widget/read-settings';
import { bare, includes, lowerCase, map, own, slice } from '#libs/widget/tamper-proof';
import { wordingIn } from '#libs/widget/wording';
import type { Consent, StoredConsent } from './consent.ts';
import { json } from './json.ts';
import { assigned, resolve } from './page.ts';
import { baseOf } from './send.ts';
import { findTag } from './tag.ts';

export interface Settings
  extends NoticeSettings,
    PlaceSettings,
    Omit<WidgetConfig, keyof NoticeSettings | 'lang' | 'dir' | 'texts' | 'maxAgeMonths' | 'metadata' | 'colors'> {
  domain: string;
  key: string;
  api: string;
  /** the tag's */
  nonce: string;
  maxAgeMonths: number;
  /** ids of the optional categories */
  asked: string[];
  /** the site's colours, and the radius of corners as `radius` */
  colors: Record<string, string | undefined>;
  metadata?: WidgetConfig['metadata'] | undefined;
  lang?: string | undefined;
  dir?: WidgetConfig['dir'] | undefined;
  /** the site's own texts; later entries override earlier ones, as a variant's do */
  texts: OwnTexts[];
}

/** Set by the third file, for the visitor's place. Only `model` is set before: to `opt_in`, if the site has `regions`. */
interface PlaceSettings {
  /** under which visitors decide; absent without `regions` */
  model?: Model | undefined;
  /** categories that are allowed before a choice */
  before?: Record<string, boolean>;
  /** changes the notice's texts to those for the place */
  adapt?(notice: Notice): void;
  /** stands in for a choice under `opt_out` and `none`, so that the banner stays closed */
  unasked?: Partial<Consent>;
  /** the part of an expired choice that still holds */
  lasting?(expired: StoredConsent): StoredConsent | null;
  /** shows the notice that the current choice needs, if any */
  follow?(consent: Consent | null): void;
  /** Returns whether the choice must wait for the visitor's confirmation; `make` is called once it is confirmed. */
  holds?(choice: Record<string, boolean>, make: () => void): boolean;
}

declare global {
  interface Window {
    assentConfig?: WidgetConfig;
  }
}

export function readSettings(): Settings {
  const { data, address, nonce } = findTag();
  const config = bare<WidgetConfig & Record<string, unknown>>({ ...assigned('assentConfig') });
  // some servers write null for an absent setting
  for (const name in config) if (config[name] === null) delete config[name];
  const given: WidgetConfig = bare({ ...config, ...data });
  // the attributes may be lost, as in a tag manager
  const found = (name: 'domain' | 'key' | 'api'): string =>
    data[name] || orElse(() => new URL(address).searchParams.get(name)) || config[name] || '';
  const texts: OwnTexts[] = [{ ...given.texts, ...grouped(data, 'text') }];
  const shown = readShown(given, isLink);
  const asked = map(shown.categories, ({ id, required }) => (required ? undefined : id));
  return bare({
    ...shown,
    domain: found('domain'),
    key: found('key'),
    api: baseOf(new URL(found('api') || '.', address).href),
    nonce,
    bannerVersion: `${given.bannerVersion ?? __VERSION__}`,
    maxAgeMonths: +(given.maxAgeMonths ?? 0) || 12,
    asked,
    colors: { radius: given.radius, ...given.colors, ...grouped(data, 'color') },
    metadata: given.metadata && flat(given.metadata),
    texts,
    wording: wordingIn('en', texts),
    variant: undefined,
    model: given.regions && 'opt_in',
  });
}

/** An attribute without a value turns the setting on. */
export const isOn = (setting?: string | boolean): boolean => `${setting ?? false}` !== 'false';

/**
 * The values of all attributes in a group, named without the group: for `color`, `data-color-button-text` gives
 * `buttonText`.
 */
function grouped(data: Record<string, string | undefined>, group: string): Record<string, string> {
  const found = own<string>();
  for (const name in own(data)) {
    const initial = name[group.length] ?? '';
    const value = data[name];
    if (value && slice(name, 0, group.length) === group && initial >= 'A' && initial <= 'Z')
      found[lowerCase(initial) + slice(name, group.length + 1)] = value;
  }
  return found;
}

/** Metadata that the service would refuse is left out, so that the decision is recorded without it. */
function flat(metadata: NonNullable<WidgetConfig['metadata']>): WidgetConfig['metadata'] {
  const taken = own<string | number | boolean>();
  for (const name in own(metadata)) {
    const value = metadata[name];
    if (value !== undefined && includes(['string', 'boolean', 'number'], typeof value)) taken[name] = value;
  }
  return json(taken)[4e3] ? undefined : taken;
}

/** Links with any other scheme, such as `javascript:`, could run code. */
function isLink(href: string): boolean {
  const isFine = includes(['https:', 'http:', 'mailto:', 'tel:'], resolve(href)?.protocol);
  if (!isFine) warn(`left out the link ${href}`);
  return isFine;
}
