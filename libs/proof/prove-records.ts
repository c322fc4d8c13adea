/** Proofs of many records of one log. Shared tiles are read once. */

import type { Sql } from '#libs/base/db/database';
import { sha256 } from '#libs/base/sha256';
import { findNoticeTexts } from '#libs/notices/documents';
import type { FoundRecord } from './positions.ts';
import { proveInclusion } from './prove/inclusion.ts';
import type { Proven } from './prove.ts';
import type { PublishedLog } from './published.ts';
import { findTimestamp, type Timestamp } from './timestamps/stamped-checkpoints.ts';
import { utf8 } from './tree/bytes.ts';
import { parseCheckpoint } from './tree/checkpoint.ts';
import { sealedEntryOf } from './tree/entry.ts';
import { leafHash } from './tree/hash.ts';
import { parseNote } from './tree/note.ts';

interface ProvenRecord {
  id: string;
  position: number;
  /** undefined if the record differs from what was sealed */
  proven: Proven | undefined;
}

interface Against {
  checkpoint: string;
  timestamp: Timestamp | null;
  records: FoundRecord[];
}

/** `records`: of this log; unsealed ones are left out. `isBundle`: as in `prove`. */
export async function proveRecords(
  sql: Sql,
  published: PublishedLog,
  records: FoundRecord[],
  { isBundle }: { isBundle: boolean },
): Promise<ProvenRecord[]> {
  const newest = { checkpoint: published.checkpoint, timestamp: null, records };
  const groups = isBundle ? await byTimestamp(sql, published, records) : [newest];
  const texts = isBundle ? await noticesOf(sql, records) : undefined;
  const proven: ProvenRecord[] = [];
  for (const group of groups) proven.push(...(await proveAgainst(sql, published, group, texts)));
  return proven;
}

/** Groups records by the first time-stamped checkpoint that covers them. */
async function byTimestamp(sql: Sql, published: PublishedLog, records: FoundRecord[]): Promise<Against[]> {
  const groups: (Against & { size: number })[] = [];
  const places = records.map((found) => ({ found, position: found.record.position ?? 0 }));
  for (const { found, position } of places.toSorted((one, other) => one.position - other.position)) {
    let group = groups.at(-1);
    if (!group || position >= group.size) {
      const timestamp = await findTimestamp(sql, published, position);
      const checkpoint = timestamp?.checkpoint ?? published.checkpoint;
      group = { checkpoint, timestamp, records: [], size: parseCheckpoint(parseNote(checkpoint).text).size };
      groups.push(group);
    }
    group.records.push(found);
  }
  return groups;
}

async function noticesOf(sql: Sql, records: FoundRecord[]): Promise<Map<string, string>> {
  const wanted = new Map(records.flatMap(({ record: { notice, domainId } }) => (notice ? [[notice, domainId]] : [])));
  if (wanted.size === 0) return new Map();
  const found = await findNoticeTexts(
    sql,
    Array.from(wanted, ([notice, domainId]) => ({ notice, domainId })),
  );
  return new Map(found.map(({ notice, text }) => [notice, text]));
}

async function proveAgainst(
  sql: Sql,
  published: PublishedLog,
  { checkpoint, timestamp, records }: Against,
  notices: Map<string, string> | undefined,
): Promise<ProvenRecord[]> {
  const entries = records.flatMap(({ record, sealed }) => {
    const { position } = record;
    if (position === null || !sealed) return [];
    const entry = sealedEntryOf(sha256, { ...record, importedAt: sealed.importedAt }, sealed);
    return [{ record, position, sealed, entry, leaf: leafHash(sha256, utf8(entry)) }];
  });
  const proofs = await proveInclusion(sql, published, checkpoint, entries);
  return entries.map(({ record, position, sealed: { secret, erased }, entry }, at) => {
    const { id } = record;
    const hashes = proofs[at];
    if (!hashes) return { id, position, proven: undefined };
    const notice = (record.notice && notices?.get(record.notice)) ?? null;
    const proven = { published, checkpoint, timestamp, record, position, secret, erased, entry, hashes, notice };
    return { id, position, proven };
  });
}
