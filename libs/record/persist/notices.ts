/**
 * Notices by number: each hash that a record of a domain names is one row, which records name. A process remembers those
 * that it has met, so that a record costs a look into its memory; new ones of a batch are one call of `name_notices`, which is
 * committed before the records are stored, and marks its rows as named: they are never deleted, so no remembered number
 * is one that is gone, and a batch that fails leaves no more than a row that nothing names.
 */

import type { Database } from '#libs/base/db/database';
import type { NewRecord } from '../contract.ts';

/** Numbers by hash, by domain. */
type Known = Map<string, Map<string, number>>;

interface Memory {
  generation: number;
  known: Known;
  size: number;
}

/**
 * In the order of the records; undefined where one names no notice, or its domain does not exist. Anyone may make up hashes:
 * with more than `remembered` a process begins anew, which costs a statement.
 */
export async function noticeNumbersOf(
  db: Database,
  records: NewRecord[],
  remembered = 40_000,
): Promise<(number | undefined)[]> {
  const memory = memoryOf(db, remembered);
  const numberOf = ({ domainId, notice }: NewRecord) =>
    notice === undefined ? undefined : memory.known.get(domainId)?.get(notice);
  const found = records.map(numberOf);
  const unknown = records.filter(({ notice }, at) => notice !== undefined && found[at] === undefined);
  if (unknown.length === 0) return found;
  await name(db, memory, unknown);
  return records.map(numberOf);
}

const memories = new WeakMap<Database, Memory>();

/** After a lost connection the database may be another one, restored or promoted, with other numbers. */
function memoryOf(db: Database, remembered: number): Memory {
  const kept = memories.get(db);
  if (kept?.generation === db.generation() && kept.size <= remembered) return kept;
  const memory: Memory = { generation: db.generation(), known: new Map(), size: 0 };
  memories.set(db, memory);
  return memory;
}

/** Finds the rows of these records, marks them as named, and makes those that are not there. */
async function name(db: Database, memory: Memory, records: NewRecord[]): Promise<void> {
  const wanted = new Map(records.map(({ domainId, notice }) => [`${domainId} ${notice}`, { domainId, notice }]));
  const list = JSON.stringify([...wanted.values()]);
  const rows = await db.write(
    (sql) => sql<{ domainId: string; notice: string; number: number }[]>`
      select domain_id as "domainId", notice, number from name_notices(${list}::text::json)`,
  );
  for (const { domainId, notice, number } of rows) {
    const ofDomain = memory.known.get(domainId) ?? new Map<string, number>();
    memory.known.set(domainId, ofDomain);
    if (!ofDomain.has(notice)) memory.size += 1;
    ofDomain.set(notice, number);
  }
}
