/** The entries of a log for whoever follows it: records as they are now, erasures, notices, in the log's own order. */
import { monthOf } from '#libs/contract/calendar';
import type { FeedEntry } from '#libs/contract/responses';
import { timeOf } from '#libs/contract/uuid';
import { parseEntry } from '#libs/merkle/parse-entry';
import { listDroppedMonths } from '../records/months.ts';
import { joinLog } from '../records/names.ts';
import type { Sql } from '../sql.ts';
import type { LogName } from './runs.ts';
import { readSealed, type SealedEntry } from './sealed.ts';

/** Those from position `from` on, `below` not included. */
export async function readFeed(sql: Sql, name: LogName, range: { from: number; below: number }): Promise<FeedEntry[]> {
  const [sealed, dropped] = await Promise.all([readSealed(sql, name, range), listDroppedMonths(sql)]);
  const entries = sealed.map((each) => toEntry(each, name.log, dropped));
  const erased = entries.flatMap((entry) => (entry.type === 'erasure' ? [entry.recordId] : []));
  if (erased.length === 0) return entries;
  const places = await readPositions(sql, name, erased);
  return entries.map((entry) =>
    entry.type === 'erasure' ? { ...entry, erases: places.get(entry.recordId) ?? null } : entry,
  );
}

function toEntry({ position, text, record }: SealedEntry, log: number, droppedMonths: string[]): FeedEntry {
  if (text === null) {
    if (!record || droppedMonths.includes(monthOf(timeOf(record.id)))) return { position, type: 'expired' };
    const { importedAt: _, ...shown } = record;
    return { position, type: 'record', record: { ...shown, log, position } };
  }
  const entry = parseEntry(text);
  if (entry.type === 'erasure') return { position, type: 'erasure', recordId: entry.id, erases: null };
  if (entry.type === 'notice') return { position, type: 'notice', notice: entry.notice };
  throw new Error(`the text at ${position} is a record's`);
}

/** Where the records are that were erased by entries of that range, in order; of this log alone. */
export async function readErasedPositions(
  sql: Sql,
  name: LogName,
  { from, below }: { from: number; below: number },
): Promise<number[]> {
  const rows = await sql<{ text: string }[]>`
    select text from log_texts
    where domain_number = ${name.domainNumber} and log = ${name.log} and position >= ${from} and position < ${below}
      and notice_number is null`;
  const ids = rows.map(({ text }) => parseEntry(text)).flatMap((entry) => (entry.type === 'erasure' ? [entry.id] : []));
  if (ids.length === 0) return [];
  return [...(await readPositions(sql, name, ids)).values()].toSorted((one, other) => one - other);
}

/** Where records are in this log; those of another one, and those that have expired, are left out. */
async function readPositions(sql: Sql, { domainNumber, log }: LogName, ids: string[]): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; position: number }[]>`
    select r.id, place.position
    from records r ${joinLog(sql, log)}
    where r.domain_number = ${domainNumber} and r.id = any(${ids}) and place.position is not null`;
  return new Map(rows.map(({ id, position }) => [id, position]));
}
