/**
 * The site's settings: attributes of the script tag, then the query of its address, then `window.assentConfig`, which
 * has the longer ones.
 */

import { either, warn } from '#libs/widget/attempt';
import type { OwnTexts, WidgetConfig } from '#libs/widget/config';
import type { NoticeSettings } from '#libs/widget/notice';
import { bare, has, lower, map, own, part } from '#libs/widget/plain';
import { readShown } from '#libs/widget/read-settings';
import { wordingIn } from '#libs/widget/wording';
import { json } from './json.ts';
import { assigned, resolve } from './page.ts';
import type { Place } from './place/terms.ts';
import { baseOf } from './send.ts';
import { findTag } from './tag.ts';

export interface Settings
  extends NoticeSettings,
    Place,
    Omit<WidgetConfig, keyof NoticeSettings | 'lang' | 'dir' | 'texts' | 'maxAgeMonths' | 'metadata' | 'colors'> {
  domain: string;
  key: string;
  api: string;
  /** of the tag */
  nonce: string;
  maxAgeMonths: number;
  /** ids of the optional categories */
  asked: string[];
  /** and the radius */
  colors: Record<string, string | undefined>;
  metadata?: WidgetConfig['metadata'] | undefined;
  lang?: string | undefined;
  dir?: WidgetConfig['dir'] | undefined;
  /** the site's own, each before those that precede it */
  texts: OwnTexts[];
}

declare global {
  interface Window {
    assentConfig?: WidgetConfig;
  }
}

export function readSettings(): Settings {
  const { data, address, nonce } = findTag();
  const config = bare<WidgetConfig & Record<string, unknown>>({ ...assigned('assentConfig') });
  // null, as some servers write what is absent, is absence
  for (const name in config) if (config[name] === null) delete config[name];
  const given: WidgetConfig = bare({ ...config, ...data });
  // pages whose tag loses its attributes may have these there
  const found = (name: 'domain' | 'key' | 'api'): string =>
    data[name] || either(() => new URL(address).searchParams.get(name)) || config[name] || '';
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

/** An attribute without a value switches it on. */
export const isOn = (setting?: string | boolean): boolean => `${setting ?? false}` !== 'false';

/** `buttonText` of `data-color-button-text`, for the group `color`. */
function grouped(data: Record<string, string | undefined>, group: string): Record<string, string> {
  const found = own<string>();
  for (const name in own(data)) {
    const initial = name[group.length] ?? '';
    const value = data[name];
    if (value && part(name, 0, group.length) === group && initial >= 'A' && initial <= 'Z')
      found[lower(initial) + part(name, group.length + 1)] = value;
  }
  return found;
}

/** The service takes a small flat map, and no record that is too large: what cannot be stored must not cost the decision. */
function flat(metadata: NonNullable<WidgetConfig['metadata']>): WidgetConfig['metadata'] {
  const taken = own<string | number | boolean>();
  for (const name in own(metadata)) {
    const value = metadata[name];
    if (value !== undefined && has(['string', 'boolean', 'number'], typeof value)) taken[name] = value;
  }
  return json(taken)[4e3] ? undefined : taken;
}

/** Anything else, such as `javascript:`, would do more than lead somewhere. */
function isLink(href: string): boolean {
  const isFine = has(['https:', 'http:', 'mailto:', 'tel:'], resolve(href)?.protocol);
  if (!isFine) warn(`left out the link ${href}`);
  return isFine;
}
