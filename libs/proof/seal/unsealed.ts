/** Records that have no position yet, with the fields that their entries are made from. */

import type { Sql } from '#libs/base/db/database';
import { PieceTooLarge } from '#libs/epochs/piece-size';
import { type RecordRange, recordsIn } from '#libs/epochs/slices';
import { columnOf, storedFields } from '#libs/record/fields';
import type { SealedRecord } from '../tree/entry.ts';

/** The fields of a record that its entry is made from, with numbers in place of its domain, user agent and notice. */
export type Unsealed = Omit<SealedRecord, 'domainId' | 'decidedAt' | 'preferences' | 'userAgent' | 'notice'> & {
  domainNumber: number;
  /** as Postgres writes it */
  preferences: string | null;
  userAgentNumber: number | null;
  noticeNumber: number | null;
};

/** Fields that are read as text, because parsing and formatting one takes as long as hashing an entry. */
const asText = new Set(['receivedAt', 'importedAt', 'preferences']);

/** User agents and notices are read as numbers, because a few of them account for nearly all records. */
const read = ['domainNumber', ...storedFields]
  .map((field) => `r.${columnOf(field)}${asText.has(field) ? '::text' : ''} as "${field}"`)
  .join(', ');

const columns = (sql: Sql) => sql.unsafe(read);

/** characters of records that are held at once: some 32,000 of 2 kB */
const mostText = 64 * 1_024 * 1_024;

/** In the order of their positions: by domain, then id. */
export async function readUnsealed(sql: Sql, records: RecordRange): Promise<Unsealed[]> {
  const unsealed: Unsealed[] = [];
  let text = 0;
  await sql<Unsealed[]>`select ${columns(sql)} from ${recordsIn(sql, records)} as r`.forEach((record) => {
    text += lengthOf(record);
    if (text <= mostText) unsealed.push(record);
  });
  if (text > mostText) throw new PieceTooLarge(`${text} characters of records`);
  return unsealed.sort((one, other) => one.domainNumber - other.domainNumber || (one.id < other.id ? -1 : 1));
}

/** Length of the fields that may be long. 1,024 stands for the metadata, which has at most 1 KiB. */
const lengthOf = ({ pageUrl, tcString, gppString, preferences }: Unsealed): number =>
  1_024 + (pageUrl?.length ?? 0) + (tcString?.length ?? 0) + (gppString?.length ?? 0) + (preferences?.length ?? 0);
