/** The entries of a log for a follower, in the log's order: records as they are now, erasures, notices. */

import type { Sql } from '#libs/base/db/database';
import { monthOf, timeOf } from '#libs/base/terms/calendar';
import { joinLog } from '#libs/proof/positions';
import type { LogName } from '#libs/proof/runs';
import { readSealed, type SealedEntry } from '#libs/proof/sealed-entries';
import { parseEntry } from '#libs/proof/tree/parse-entry';
import { listDroppedMonths } from '#libs/record/month-partitions';
import type { FeedEntry } from './contract.ts';

/** The entries from position `from` to before `below`. */
export async function readFeed(sql: Sql, name: LogName, range: { from: number; below: number }): Promise<FeedEntry[]> {
  const [sealed, dropped] = await Promise.all([readSealed(sql, name, range), listDroppedMonths(sql)]);
  const entries = sealed.map((each) => toEntry(each, name.log, dropped));
  const erased = entries.flatMap((entry) => (entry.type === 'erasure' ? [entry.recordId] : []));
  if (erased.length === 0) return entries;
  const positions = await readPositions(sql, name, erased);
  return entries.map((entry) => (entry.type === 'erasure' ? withErased(entry, name, positions) : entry));
}

type Erasure = Extract<FeedEntry, { type: 'erasure' }>;

function withErased(entry: Erasure, { log }: LogName, positions: Map<string, ErasedRecord>): Erasure {
  const erased = positions.get(entry.recordId) ?? null;
  return {
    ...entry,
    erases: erased?.log === log ? erased.position : null,
    erased: erased && { log: erased.log, position: erased.position },
  };
}

function toEntry({ position, text, record }: SealedEntry, log: number, droppedMonths: string[]): FeedEntry {
  if (text === null) {
    if (!record || droppedMonths.includes(monthOf(timeOf(record.id)))) return { position, type: 'expired' };
    const { importedAt: _, ...shown } = record;
    return { position, type: 'record', record: { ...shown, log, position } };
  }
  const entry = parseEntry(text);
  if (entry.type === 'erasure') return { position, type: 'erasure', recordId: entry.id, erases: null, erased: null };
  if (entry.type === 'notice') return { position, type: 'notice', notice: entry.notice };
  throw new Error(`the text at ${position} is a record's`);
}

/** The place of a record that an entry erases: in the entry's own log, or in an earlier one. */
interface ErasedRecord {
  log: number;
  position: number;
}

/**
 * The records that entries of this range erase, in order, each with the entry's position and the time of its erasure.
 */
export async function readErased(
  sql: Sql,
  name: LogName,
  { from, below }: { from: number; below: number },
): Promise<(ErasedRecord & { entry: number; erasedAt: Date | null })[]> {
  const rows = await sql<{ position: number; text: string }[]>`
    select position, text from log_texts
    where domain_number = ${name.domainNumber} and log = ${name.log} and position >= ${from} and position < ${below}
      and notice_number is null
    order by position`;
  const erasures = rows.flatMap(({ position, text }) => {
    const entry = parseEntry(text);
    return entry.type === 'erasure' ? [{ entry: position, id: entry.id }] : [];
  });
  if (erasures.length === 0) return [];
  const positions = await readPositions(
    sql,
    name,
    erasures.map(({ id }) => id),
  );
  return erasures.flatMap(({ entry, id }) => {
    const erased = positions.get(id);
    return erased ? [{ entry, ...erased }] : [];
  });
}

/** The places of records in their domain's logs, without expired records. */
async function readPositions(
  sql: Sql,
  { domainNumber }: LogName,
  ids: string[],
): Promise<Map<string, ErasedRecord & { erasedAt: Date | null }>> {
  const rows = await sql<(ErasedRecord & { id: string; erasedAt: Date | null })[]>`
    select r.id, place.log, place.position, r.erased_at as "erasedAt"
    from records r ${joinLog(sql)}
    where r.domain_number = ${domainNumber} and r.id = any(${ids}) and place.position is not null`;
  return new Map(rows.map(({ id, ...place }) => [id, place]));
}
