/** The files that websites load, as the build made them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const widgetFileNames = [
  'widget',
  'consent-mode',
  'record-client',
  'record-cookieconsent',
  'record-klaro',
] as const;
export type WidgetFileName = (typeof widgetFileNames)[number];

export interface WidgetFile {
  name: WidgetFileName;
  /** part of its address */
  hash: string;
  content: Uint8Array;
}

export const widgetHashPattern = /^[0-9a-f]{16}$/;

/** In a build they lie beside the compiled apps. */
export function readWidgetFile(name: WidgetFileName): WidgetFile {
  const content = readFileSync(new URL(`../apps/widget/${name}.js`, import.meta.url));
  return { name, hash: createHash('sha256').update(content).digest('hex').slice(0, 16), content };
}

/** An address whose content never changes. */
export const hashedPath = ({ name, hash }: WidgetFile): string => `/${name}-${hash}.js`;

/** For the `integrity` attribute. */
export const integrityOf = ({ content }: WidgetFile): string =>
  `sha384-${createHash('sha384').update(content).digest('base64')}`;
