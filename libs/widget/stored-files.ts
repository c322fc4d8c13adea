/** Every widget build that was ever served or printed, so that later releases can still serve it. */

import type { Sql } from '#libs/base/db/database';
import type { WidgetFile } from './files.ts';

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
