/**
 * Recomputes entries from the stored rows. Each is checked against its leaf: if a row was changed, the response is an error
 * instead of a proof that does not verify.
 */

import type { Sql } from '#libs/base/db/database';
import type { Log } from '#libs/base/ops/process-log';
import { sha256 } from '#libs/base/sha256';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import { Problem, problems } from '#libs/base/terms/problem';
import { listDroppedMonths } from '#libs/record/month-partitions';
import { textId } from './log-texts.ts';
import type { PublishedLog } from './published.ts';
import { readSealed, type SealedEntry } from './sealed-entries.ts';
import { equal, utf8 } from './tree/bytes.ts';
import { sealedEntryOf } from './tree/entry.ts';
import { leafHash } from './tree/hash.ts';

/** What a reported difference is logged with. */
export interface Reported {
  log: Log;
  domainId: string;
  requestId: string;
}

/** An entry with its parts. `text`: set if the entry is not a record's. */
type Sealed = Pick<SealedEntry, 'position' | 'leaf' | 'secret' | 'erased' | 'record' | 'text'>;

/** The text whose hash is the leaf. Throws if the row is missing, or differs from what was sealed. */
export function entryTextOf({ record, text, secret, erased, leaf, position }: Sealed, log: number, reported: Reported) {
  const sealed = text ?? (record && sealedEntryOf(sha256, record, { leaf, secret, erased }));
  if (sealed === undefined || !equal(leafHash(sha256, utf8(sealed)), leaf))
    throw reportDifference(log, position, reported);
  return sealed;
}

/** The entries from position `from` to `below` (exclusive). Throws a 410 if retention dropped one of the records. */
export async function readEntryTexts(
  sql: Sql,
  published: PublishedLog,
  range: { from: number; below: number },
  reported: Reported,
): Promise<string[]> {
  const [entries, dropped] = await Promise.all([readSealed(sql, published, range), listDroppedMonths(sql)]);
  if (entries.some(({ id }) => isExpired(id, dropped))) {
    throw new Problem('expired', 'a record in this range is past its retention');
  }
  if (entries.length !== range.below - range.from) throw reportDifference(published.log, range.from, reported);
  return entries.map((each) => entryTextOf(each, published.log, reported));
}

const nil = '0'.repeat(32);

const isExpired = (id: string, droppedMonths: string[]): boolean =>
  id === nil || (id !== textId && droppedMonths.includes(monthOf(timeOf(`${id.slice(0, 8)}-${id.slice(8)}`))));

export function reportDifference(number: number, position: number, { log, domainId, requestId }: Reported): Problem {
  log.error(
    { event: 'entry_differs', domainId, log: number, position, requestId },
    'an entry of a log is not what was sealed; see: assent log check',
  );
  return new Problem('internal_error', problems.internal_error.title);
}
