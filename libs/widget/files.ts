/** The files that websites load: their names, their permanent addresses and what an `integrity` attribute says of them. */
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
  /** part of its permanent address */
  hash: string;
  content: Uint8Array;
}

export const widgetHashPattern = /^[0-9a-f]{16}$/;

/** `build`: the folder with the widget's build, which the calling app knows. */
export function readWidgetFile(build: URL, name: WidgetFileName): WidgetFile {
  const content = readFileSync(new URL(`${name}.js`, build));
  return { name, hash: createHash('sha256').update(content).digest('hex').slice(0, 16), content };
}

/** The permanent address: its content never changes. */
export const hashedPath = ({ name, hash }: WidgetFile): string => `/${name}-${hash}.js`;

/** For the `integrity` attribute. */
export const integrityOf = ({ content }: WidgetFile): string =>
  `sha384-${createHash('sha384').update(content).digest('base64')}`;
