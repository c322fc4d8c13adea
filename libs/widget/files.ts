/** The files that websites load: their names, permanent addresses and integrity. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Sql } from '#libs/base/db/database';

export const widgetFileNames = [
  'widget',
  'assent-preferences',
  'assent-extras',
  'assent-check',
  'consent-mode',
  'record-client',
  'record-cookieconsent',
  'record-klaro',
  'record-tarteaucitron',
  'record-c15t',
  'record-tcf',
  'bridge-shopify',
  'bridge-webflow',
  'record-wp-consent',
  'bridge-wp-consent',
] as const;
/** The texts in all languages but English: an object by language. Pages ask for one language at a time. */
export const textsFile = 'texts';
export type WidgetFileName = (typeof widgetFileNames)[number] | typeof textsFile;

/** A pinned widget.js loads these by their hashes. */
export const companions = ['assent-preferences', 'assent-extras', 'assent-check', textsFile] as const;

export interface WidgetFile {
  name: WidgetFileName;
  /** part of its permanent address */
  hash: string;
  content: Uint8Array;
}

export const widgetHashPattern = /^[0-9a-f]{16}$/;

export const hashOf = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

/** `build`: the folder with the widget's build. */
export function readWidgetFile(build: URL, name: WidgetFileName): WidgetFile {
  const content = readFileSync(new URL(`${name}.${name === textsFile ? 'json' : 'js'}`, build));
  return { name, hash: hashOf(content), content };
}

/** The permanent address: its content never changes. */
export const hashedPath = ({ name, hash }: WidgetFile): string => `/${name}-${hash}.js`;

/** For the `integrity` attribute. */
export const integrityOf = ({ content }: WidgetFile, algorithm: 'sha256' | 'sha384' = 'sha384'): string =>
  `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;

export async function keepWidgetFiles(sql: Sql, files: WidgetFile[]): Promise<void> {
  for (const { name, hash, content } of files) {
    await sql`
      insert into widget_files (name, hash, content) values (${name}, ${hash}, ${content})
      on conflict do nothing`;
  }
}

export type FileKey = Pick<WidgetFile, 'name' | 'hash'>;

export const findWidgetFiles = (sql: Sql, keys: FileKey[]) => sql<WidgetFile[]>`
  select name, hash, content from widget_files
  where (name, hash) in (
    select * from unnest(${keys.map(({ name }) => name)}::text[], ${keys.map(({ hash }) => hash)}::text[]))`;
