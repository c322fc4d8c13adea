/** Reads what somebody pastes: a tag as it is in a page, with `window.assentConfig` before it, or a link to this page. */
import { isObject } from '#libs/widget/setting-rules';
import { readDraft, type WidgetDraft } from './draft.ts';
import { fromFragment, hasDraft } from './link.ts';
import { readLiteral } from './literal.ts';

export interface Pasted {
  draft: WidgetDraft;
  /** null where the tag has none, or only a place for one */
  apiKey: string | null;
  /** another one than this */
  foreignDomain: string | null;
  isPinned: boolean;
  refused: string[];
}

/** Null where there is no tag and no link. */
export function readPasted(pasted: string, domainId: string): Pasted | null {
  if (hasDraft(pasted)) {
    const read = fromFragment(pasted.trim());
    return read && { ...read, apiKey: null, foreignDomain: null, isPinned: false };
  }
  const scripts = [...new DOMParser().parseFromString(pasted, 'text/html').querySelectorAll('script')];
  const tag = scripts.find(
    ({ dataset, attributes }) => dataset.domain || /widget/.test(attributes.getNamedItem('src')?.value ?? ''),
  );
  const setting = scripts.find(({ text }) => assignment.test(text));
  if (!tag && !setting) return null;
  const inConfig = setting ? configIn(setting.text) : {};
  const { domain, key, api: _, ...attributes } = settingsIn(tag?.dataset ?? {});
  const merged: Record<string, unknown> = isObject(inConfig)
    ? {
        ...inConfig,
        ...attributes,
        ...both('texts', inConfig, attributes),
        ...both('colors', inConfig, attributes),
      }
    : attributes;
  const { domain: _domain, key: _key, api: _api, ...settings } = merged;
  const { draft, refused } = readDraft(settings);
  const isForeign = typeof domain === 'string' && domain !== domainId;
  return {
    draft,
    apiKey: !isForeign && typeof key === 'string' && isKey(key) ? key : null,
    foreignDomain: isForeign ? domain : null,
    isPinned: tag?.hasAttribute('integrity') ?? false,
    refused: isObject(inConfig) ? refused : ['window.assentConfig', ...refused],
  };
}

export const isKey = (text: string): boolean => /^ak_[A-Za-z0-9_-]{32}$/.test(text);

const assignment = /\bassentConfig\s*=/;

/** Undefined where it is no plain value: nothing of it is run. */
function configIn(script: string): unknown {
  const [start] = assignment.exec(script) ?? [''];
  try {
    return readLiteral(script.slice(script.indexOf(start) + start.length));
  } catch {
    return undefined;
  }
}

/** As the widget reads its attributes: `data-text-…` and `data-color-…` are groups. */
function settingsIn(dataset: DOMStringMap): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  const groups: Record<string, Record<string, string>> = { text: {}, color: {} };
  for (const [name, value = ''] of Object.entries(dataset)) {
    const [, group = '', initial, rest] = /^(text|color)([A-Z])(.*)/.exec(name) ?? [];
    const members = groups[group];
    if (members && initial) members[initial.toLowerCase() + rest] = value;
    else settings[name] = value;
  }
  const filled = { texts: groups.text, colors: groups.color };
  return {
    ...settings,
    ...Object.fromEntries(Object.entries(filled).filter(([, each]) => Object.keys(each ?? {}).length > 0)),
  };
}

const both = (name: string, config: Record<string, unknown>, attributes: Record<string, unknown>): object => {
  const [one, other] = [config[name], attributes[name]];
  return isObject(one) && isObject(other) ? { [name]: { ...one, ...other } } : {};
};
