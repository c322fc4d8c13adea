/** A banner's settings as a tag: attributes where they are possible, else `window.assentConfig` before it. */
import { isObject } from '#libs/widget/setting-rules';
import { widgetTag } from '../../data/widget-tag.ts';
import type { WidgetDraft } from './draft.ts';

export function tagOf(draft: WidgetDraft, domainId: string, apiKey: string): string {
  const { categories, texts = {}, colors = {}, links, consentMode, metadata, signals, experiment, ...plain } = draft;
  const isPlain = (categories ?? []).every(
    ({ required, id, services }) => (!required || id === 'necessary') && !services,
  );
  const areSimple = Object.entries(texts).every(([name, text]) => typeof text === 'string' && simple.test(name));
  const attributes = [
    ...Object.entries(plain).map(([name, value]) => [name, String(value)] as const),
    ...(categories && isPlain ? [['categories', categories.map(({ id }) => id).join(' ')] as const] : []),
    ...Object.entries(colors).map(([name, value]) => [`color-${name}`, value] as const),
    ...(areSimple ? Object.entries(texts).map(([name, value]) => [`text-${name}`, String(value)] as const) : []),
    ...(consentMode === false ? [['consentMode', 'false'] as const] : []),
  ];
  const config = {
    ...(categories &&
      !isPlain && { categories: categories.map((each) => (each.required || each.services ? each : each.id)) }),
    ...(!areSimple && { texts }),
    ...(links && { links }),
    ...(isObject(consentMode) && { consentMode }),
    ...(metadata && { metadata }),
    ...(signals && { signals }),
    ...(experiment && { experiment }),
  };
  const tag = widgetTag(
    domainId,
    apiKey,
    attributes.map(([name, value]) => `data-${kebab(name)}="${escaped(value)}"`),
  );
  if (Object.keys(config).length === 0) return tag;
  return `<script>\n  window.assentConfig = ${inScript(config)};\n</script>\n${tag}`;
}

/** What the widget finds again under the name that a browser gives its attribute. */
const simple = /^[a-z][A-Za-z]*$/;
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** For an attribute in double quotes. A browser reads a bare CR as a line feed. */
const escaped = (text: string): string => text.replace(/[&"<>\r]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Nothing in it can end the script or begin a comment in it. */
const inScript = (config: object): string =>
  JSON.stringify(config, null, 2)
    .replace(/[<\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('\n', '\n  ');
