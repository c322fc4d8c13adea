/**
 * An import, over HTTP or on the command line: rows become records in chunks. Records that are stored already or
 * earlier in the file are known; the others are stored.
 */

import { randomBytes } from 'node:crypto';
import type { Database } from '#libs/base/db/database';
import { createYield } from '#libs/base/event-loop';
import { isPastRetention } from '#libs/base/terms/retention';
import type { NewRecord } from '#libs/record/contract';
import { listDroppedMonths } from '#libs/record/month-partitions';
import type { Perform } from '#libs/tenants/audited-change';
import { exportedOnly, type ImportErrorCode, importedFields, importLimits, type Refusal } from './contract.ts';
import type { Row, Rows } from './rows.ts';
import { createToRecord, type RecordRules, type ToRecord } from './to-record.ts';

/** Records that are looked up and stored together: more would delay recording. */
const chunkSize = 500;

/**
 * How many ids all imports together hold in memory, at some 80 bytes each. Above this, each keeps only its last chunk's.
 */
const maxIdsInMemory = 1_000_000;

export interface ImportCounts {
  /** without the header and the line that ends an export */
  read: number;
  queued: number;
  known: number;
  rejected: number;
  /** the first of them */
  errors: { row: number; code: ImportErrorCode; detail: string }[];
  /** names of unknown fields, which are left out, the first of them; absent where there are none */
  ignored?: string[];
  /** fields that were left out for their values, such as NULL → rows that lost them; absent where there are none */
  fieldsIgnored?: Record<string, number>;
}

export const emptyCounts = (): ImportCounts => ({ read: 0, queued: 0, known: 0, rejected: 0, errors: [] });

/** The file has more rows than allowed. */
export class TooManyRows extends Error {}

export interface ImportParts {
  rows: Rows;
  toRecord: ToRecord;
  /** Returns the `id` of each row that is stored already, be it under its `formerId`, which earlier releases gave it. */
  findKnown(rows: { id: string; formerId?: string | undefined }[]): Promise<Set<string>>;
  /** Resolves once the records are safe; absent: nothing is stored. */
  store?(records: NewRecord[]): Promise<void>;
  /** Reading waits for the promise. */
  onRefused?(row: Row, refusal: Refusal): Promise<unknown> | undefined;
  /** After each chunk. */
  progress?(): void;
  maxRows?: number;
  /** by all imports of the process */
  held: IdsInMemory;
  mostIds?: number;
}

export interface IdsInMemory {
  count: number;
}

/** `counts`: updated row by row, so they are right even if the import fails. */
export async function importRows(parts: ImportParts, counts: ImportCounts): Promise<void> {
  /** ids of this file: a row that is repeated is known the second time */
  const seen = new Set<string>();
  try {
    await importSeen(parts, counts, seen);
  } finally {
    parts.held.count -= seen.size;
  }
}

async function importSeen(parts: ImportParts, counts: ImportCounts, seen: Set<string>): Promise<void> {
  const { rows, toRecord, findKnown, store, onRefused, progress, maxRows = Number.POSITIVE_INFINITY } = parts;
  const { held, mostIds = maxIdsInMemory } = parts;
  let chunk: { record: NewRecord; formerId?: string | undefined }[] = [];
  const yieldNow = createYield();

  const flush = async () => {
    const rows = chunk;
    chunk = [];
    if (rows.length === 0) return;
    const known = await findKnown(rows.map(({ record: { id }, formerId }) => ({ id, formerId })));
    const fresh = rows.flatMap(({ record }) => (known.has(record.id) ? [] : [record]));
    counts.known += rows.length - fresh.length;
    if (store && fresh.length > 0) await store(fresh);
    counts.queued += fresh.length;
    progress?.();
    // earlier rows can be forgotten, as the database knows them (not in a dry run): this happens only to files longer than
    // the API accepts, or if many imports run at once
    if (seen.size >= importLimits.rows || held.count > mostIds)
      keepOnly(rows.map(({ record: { id } }) => compactId(id)));
  };

  const keepOnly = (ids: string[]) => {
    held.count -= seen.size;
    seen.clear();
    for (const id of ids) seen.add(id);
    held.count += seen.size;
  };

  const take = (row: Row): Promise<unknown> | undefined => {
    counts.read += 1;
    if (row.given) noteIgnored(row.given, counts);
    const made = toRecord(row);
    if (made.refusal) {
      counts.rejected += 1;
      if (counts.errors.length < importLimits.errors) counts.errors.push({ row: row.row, ...made.refusal });
      return onRefused?.(row, made.refusal);
    }
    for (const { field } of made.leftOut) noteLost(field, counts);
    const id = compactId(made.record.id);
    if (seen.has(id)) {
      counts.known += 1;
      return undefined;
    }
    seen.add(id);
    held.count += 1;
    chunk.push(made);
    return undefined;
  };

  for await (const some of rows) {
    for (const row of some) {
      if (counts.read === maxRows) {
        await flush();
        throw new TooManyRows(`the file has more than ${maxRows} rows`);
      }
      const wait = take(row);
      if (wait) await wait;
      if (counts.read % 100 === 0) await yieldNow();
      if (chunk.length === chunkSize) await flush();
    }
  }
  await flush();
}

/** Lists unknown fields, so that a misspelt name is noticed. */
function noteIgnored(given: Record<string, unknown>, counts: ImportCounts): void {
  for (const name of Object.keys(given)) {
    if (given[name] === undefined || importedFields.has(name) || exportedOnly.has(name)) continue;
    const { ignored = [] } = counts;
    const shown = name.slice(0, 64);
    if (ignored.length < importLimits.ignored && !ignored.includes(shown)) counts.ignored = [...ignored, shown];
  }
}

/** Counts by name for the first 100 names, and the rest as `…`: the file chooses the names of entries. */
function noteLost(field: string, counts: ImportCounts): void {
  counts.fieldsIgnored ??= {};
  const lost = counts.fieldsIgnored;
  const name = field in lost || Object.keys(lost).length < importLimits.ignored ? field : '…';
  lost[name] = (lost[name] ?? 0) + 1;
}

/** Packs an id into 16 one-byte characters instead of 36, to save memory. */
const compactId = (id: string): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');

/** Notes what an import did, also if it ended early. */
export const noteImport = (
  perform: Perform,
  domainId: string,
  { errors: _, ignored: __, fieldsIgnored: ___, ...numbers }: ImportCounts,
  { importId, isComplete }: { importId: string; isComplete: boolean },
): Promise<void> =>
  perform(async (_, note) =>
    note({ act: 'records.import', subject: domainId, domainId, details: { importId, ...numbers, isComplete } }),
  );

/** Begins an import: its id, and how its rows become records. */
export async function beginImport(
  db: Database,
  { retentionMonths, ...rules }: Omit<RecordRules, 'importId' | 'isPastRetention'> & { retentionMonths: number },
): Promise<{ importId: string; toRecord: ToRecord }> {
  const importId = `imp_${randomBytes(10).toString('hex')}`;
  const lastDropped = (await db.read(listDroppedMonths)).at(-1) ?? '';
  const isExpired = (month: string) => month <= lastDropped || isPastRetention(month, retentionMonths, rules.now);
  return { importId, toRecord: createToRecord({ ...rules, importId, isPastRetention: isExpired }) };
}
